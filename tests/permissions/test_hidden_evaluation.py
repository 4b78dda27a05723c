"""What can't be seen is at best a question where rules always ask or deny; what is plain goes its way (E44, E45)."""

from __future__ import annotations

import pytest

from agentoml.config.schema import PermissionSet, Rule
from agentoml.permissions.calls import Call, World
from agentoml.permissions.sets import compile_sets
from agentoml.permissions.verdict import InForce, verdict

WORLD = World("/home/u/proj", (), "/home/u", exists=lambda path: False, realpath=lambda path: path)
SETS = compile_sets({
    "all": PermissionSet(default="allow"),
    "no-rm": PermissionSet(rules={"no": Rule(command=("rm *", "git rm *", "docker rm *"), action="deny")}),
})  # fmt: skip


def judged(line: str) -> str:
    call = Call("shell", "execute", {"command": line})
    return verdict(call, InForce(("all", "no-rm"), auto_answers=("all",)), SETS, WORLD).verdict


@pytest.mark.parametrize(
    "line",
    [
        "read 'x[$(rm a)]' <<< 1",
        "printf -v 'x[$(rm a)]' 1",
        "test -v 'x[$(rm a)]'",
        "[[ -v 'x[$(rm a)]' ]]",
        "[[ 'x[$(rm a)]' -eq 0 ]]",
        "let 'x[$(rm a)]'",
        "unset 'x[$(rm a)]'",
        "declare 'x[$(rm a)]=1'",
        "x='a[$(rm a)]'; echo $((x))",
        "x='a[$(rm a)]' bash -c 'echo $((x))'",
        "set -- 'a[$(rm a)]'; echo $(($1))",
        "for x in 'a[$(rm a)]'; do echo $((x)); done",
        "read x < file; echo $((x))",
        "export PS4='$(rm a)'; set -x; true",
        "BASH_ENV=<(echo rm a) bash -c true",
        "GIT_PAGER='rm a' git log",
        "shopt -s expand_aliases\nalias x=rm\nx a",
        "hash -p /bin/rm x; x a",
        "complete -C rm x; compgen -C rm",
        "compgen -W '$(rm a)'",
        "mapfile -C rm -c 1 x <<< a",
        "enable -f ./evil.so evil",
        ". /dev/stdin <<< 'rm a'",
        "bash /dev/fd/0 <<< 'rm a'",
        "echo rm a | sh -s now",
        "echo rm a | xargs env",
        "echo rm a | xargs nice -n 1",
        "echo a | xargs -I@ @ now",
        "find rm -exec {} ';'",
        "find . -exec bash -c {} ';'",
        "$'r\\x6d' a",
        "a[1&]=2 rm a",
        "declare 'x[$(rm a)]=1'b*",
        "y='a[$(rm a)]'; declare -i \"x=$y\"",
        "declare -i x; x='a[$(rm a)]'",
        "git -C sub rm a",
        "git --no-pager --git-dir x rm a",
        "git -c alias.x='!rm a' x",
        "git -c core.pager='rm a' log",
        "docker --context x rm a",
        "rsync -e 'rm a' b c",
        "tar --to-command 'rm a' -xf b",
        "at now <<< 'rm a'",
        "tmux new-session 'rm a'",
        "xvfb-run -a rm a",
        "x=(a)-c rm a",
        'x=(a)"b" rm a',
        "time coproc rm a",
        "env -S r\\m a",
        "env -Snice rm a",
        "env -S 'timeout 1' rm a",
        "time -p -- coproc <> file rm a",
        "a[b[1] ]=2 rm a",
    ],
)
def test_what_bash_evaluates_behind_our_back_is_not_allowed(line: str) -> None:
    assert judged(line) in ("ask", "deny")


@pytest.mark.parametrize(
    "line",
    [
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done",
        "for n in 1 2 3; do echo $((n * 2)); done",
        'read -r line < file; echo "$line"',
        "export PATH=$PATH:/opt/bin && make",
        'export NAME="a b"; make test',
        "[ -f a ] && echo yes",
        "mapfile -t lines < file",
        "git -C sub -c user.name='A (B' commit -m rm",
        "docker --context x ps",
        "tar -czf a.tgz src",
        "rsync -a b c",
        "local -r name=$1; declare -A table",
        "[[ $a == b ]] && echo yes",
        "printf '%s\\n' a",
        "EDITOR=true git rebase",
        "alias",
        "compgen -A function",
        "echo a | xargs env X=1 cat",
        "find . -name '*.py' -exec grep -n x {} +",
    ],
)
def test_what_is_plain_is_allowed_beside_such_rules(line: str) -> None:
    assert judged(line) == "allow"
