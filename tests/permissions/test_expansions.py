"""What a shell makes of words that name files, and what rules on paths see of it (E46)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import pytest

from agentoml.config.schema import PermissionSet, Rule
from agentoml.permissions.calls import Call, World
from agentoml.permissions.sets import compile_sets
from agentoml.permissions.verdict import InForce, verdict

FOLDERS = {
    "/home/u/proj": ["secret.txt", ".secret", "notes.txt", "sub", "[x].key"],
    "/home/u/proj/sub": ["secret.key", "more.txt"],
    "/home/u": [".secret", "proj"],
}
FILES = {f"{folder}/{name}" for folder, names in FOLDERS.items() for name in names}


def entries(directory: str) -> Iterable[str]:
    return FOLDERS.get(directory.rstrip("/"), ())


def world(**changed: object) -> World:
    asked = {"exists": FILES.__contains__, "realpath": lambda path: path, "entries": entries, **changed}
    return World("/home/u/proj", (), "/home/u", **asked)  # type: ignore[arg-type]


SETS = compile_sets({
    "all": PermissionSet(default="allow"),
    "no-secrets": PermissionSet(rules={"no": Rule(path=("**/*secret*", "**/*.key"), action="deny")}),
})  # fmt: skip


def judged(line: str, where: World | None = None) -> str:
    call = Call("shell", "execute", {"command": line})
    return verdict(call, InForce(("all", "no-secrets"), auto_answers=("all",)), SETS, where or world()).verdict


@pytest.mark.parametrize(
    "word",
    [
        *("secret.txt", "sec*", "s?cret.txt", "[s]ecret.txt", "se[[:lower:]]ret.txt", "se[!a]ret.txt", "se[^a]ret.txt"),
        *(
            ".s*",
            '"."s*',
            "{.,}secret",
            "se{c,d}ret.txt",
            "se{c..d}ret.txt",
            "{a,se{b,c}ret}.txt",
            "sub/*",
            "*/secret.key",
        ),
        *(
            "~/.secret",
            "~/.s*",
            "$HOME/.s*",
            "$PWD/secret.txt",
            "$'secret.txt'",
            "$'se\\x63ret.txt'",
            "'[x].key'",
            "[x].key",
        ),
        *("se\\cret.txt", "s*/../secret.txt", "--file=secret.txt", "a:secret.txt", "x=~/.secret", "~+/secret.txt"),
    ],
)
def test_a_word_is_judged_by_the_files_that_it_becomes(word: str) -> None:
    assert judged(f"cat {word}") == "deny"


@pytest.mark.parametrize("word", ["*", "n*", "[n]otes.txt", "notes.{txt,md}", "'sec*'x", "sub/m*", "s{a,b}", "'.s*'"])
def test_a_word_that_becomes_other_files_is_not_denied(word: str) -> None:
    without = {**FOLDERS, "/home/u/proj": [".secret", "notes.txt", "sub"]}
    assert judged(f"ls {word}", world(entries=lambda path: without.get(path, ()))) == "allow"


@pytest.mark.parametrize(
    "line",
    [
        *("cd sub && cat secret.*", "cd sub; cat < secret.key", "cd && cat .secret", "pushd sub; cat *.key"),
        *('cd "$X" && cat secret.key', "CDPATH=.. cd proj/sub; cat secret.key", "HOME=/x; cat ~/secret.key"),
    ],
)
def test_a_line_that_goes_elsewhere_takes_its_words_along(line: str) -> None:
    assert judged(line) == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "shopt -s dotglob; cat *",
        "GLOBIGNORE=x; cat n*",
        "bash -O globstar -c 'cat **/n*'",
        "cat s{1..1000000}",
        "cat > n*",
    ],
)
def test_what_a_glob_finds_and_can_not_be_known_is_at_best_a_question(line: str) -> None:
    assert judged(line) in ("ask", "deny")


def test_a_directory_without_an_end_is_not_read_to_its_end() -> None:
    endless = world(entries=lambda path: (f"n{number}" for number in count()))
    assert judged("cat n*", endless) == "ask"
    assert judged("cat */*/x", endless) == "ask"


def test_where_no_rule_is_about_paths_it_does_not_matter_what_a_glob_finds() -> None:
    endless = world(entries=lambda path: (f"n{number}" for number in count()))
    call = Call("shell", "execute", {"command": "cat n*"})
    assert verdict(call, InForce(("all",)), SETS, endless).verdict == "allow"


def test_letter_case_counts_where_the_file_system_says_so() -> None:
    assert judged("cat SECRET.TXT") == "allow"
    assert judged("cat SECRET.TXT", world(case_sensitive=False, exists=lambda path: True)) == "deny"
    assert judged("cat SEC*", world(case_sensitive=False)) == "deny"
