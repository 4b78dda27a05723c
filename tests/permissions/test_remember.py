"""What a user's "always" remembers (E51), and that it answers calls like the one it was said of and no others."""

from __future__ import annotations

import pytest

from agentoml.config.schema import PermissionSet
from agentoml.permissions.calls import Call, World
from agentoml.permissions.remember import describe, remember
from agentoml.permissions.sets import compile_sets
from agentoml.permissions.verdict import InForce, verdict

WORLD = World("/home/u/proj", (), "/home/u", exists=lambda path: False, realpath=lambda path: path)
SETS = compile_sets({"asks": PermissionSet(default="ask")})


def shell(line: str) -> Call:
    return Call("shell", "execute", {"command": line})


def after(said_of: Call, call: Call) -> str:
    in_force = InForce(("asks",), remembered=remember(said_of))
    return verdict(call, in_force, SETS, WORLD).verdict


@pytest.mark.parametrize(
    ("line", "patterns"),
    [
        ("git status", ["git status"]),
        ("git log --oneline -5", ["git log *"]),
        ("npm run build:all", ["npm run build:all"]),
        ("pytest tests/a.py", ["pytest *"]),
        ("make test && git status", ["make test", "git status"]),
        ("CI=1 make test", ["CI=1 make test"]),
        ("$X status", []),
        ("git status > out.txt", ["git status"]),
        ("git status > $X", []),
        ("'a b' c", []),
        ("(", []),
    ],
)
def test_of_a_command_its_words_up_to_the_first_that_is_not_plain(line: str, patterns: list[str]) -> None:
    assert [pattern for rule in remember(shell(line)) for pattern in rule.command or ()] == patterns


@pytest.mark.parametrize(
    ("said_of", "line", "verdict_"),
    [
        ("git status", "git status", "allow"),
        ("git status", "git status -s", "ask"),
        ("git log --oneline", "git log -5 HEAD", "allow"),
        ("git log --oneline", "git log --output=x", "ask"),
        ("git log --oneline", "git push", "ask"),
        ("git log --oneline", "git log && rm x", "ask"),
        ("git log --oneline", "git log $(rm x)", "ask"),
        ("make test && git status", "git status; make test", "allow"),
        ("git status > out.txt", "git status > out.txt", "allow"),
        ("git status > out.txt", "git status > other.txt", "ask"),
        ("CI=1 make test", "make test", "ask"),
        ("CI=1 make test", "CI=1 make test", "allow"),
    ],
)
def test_it_answers_commands_like_that_one(said_of: str, line: str, verdict_: str) -> None:
    assert after(shell(said_of), shell(line)) == verdict_


def test_of_an_edit_the_path_and_of_another_tool_the_tool() -> None:
    edit = Call("edit_file", "edit", {"path": "src/a.py"}, ("src/a.py",))
    assert after(edit, edit) == "allow"
    assert after(edit, Call("edit_file", "edit", {"path": "src/b.py"}, ("src/b.py",))) == "ask"
    assert after(edit, Call("write_file", "edit", {"path": "src/a.py"}, ("src/a.py",))) == "ask"
    get = Call("mcp:github/get", "other", {"repo": "a"})
    assert after(get, Call("mcp:github/get", "other", {"repo": "b"})) == "allow"
    assert after(get, Call("mcp:github/put", "other", {})) == "ask"
    odd = Call("edit_file", "edit", {"path": "src/*.py"}, ("src/*.py",))
    assert remember(odd) == (), "a name that reads like a pattern would remember more than was asked"


def test_the_user_is_told_what_is_remembered() -> None:
    assert describe(shell("git log --oneline")) == "`git log *`"
    assert describe(Call("edit_file", "edit", {"path": "a"}, ("a",))) == "edits of a"
    assert describe(Call("mcp:github/get", "other", {})) == "mcp:github/get"
