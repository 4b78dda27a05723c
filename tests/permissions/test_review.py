"""Rules that are hardly meant so, as `check` sees them (DESIGN section 3, item 3)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from agentoml.config.schema import PermissionSet, Rule
from agentoml.permissions.review import covering, holes, looser, without_effect
from agentoml.permissions.sets import ReadyRule, ReadySet, compile_rule, compile_set

STANDARD = compile_set("standard", PermissionSet(default="ask", kinds={"read": "allow", "search": "allow"}))


KINDS = {"read_file": "read", "write_file": "edit", "edit_file": "edit", "shell": "execute", "fetch_url": "fetch"}


class Tools:
    def names(self) -> Collection[str]:
        return tuple(KINDS)

    def kind(self, tool: str) -> str:
        return KINDS.get(tool, "other")

    def locations(self, tool: str) -> Collection[str]:
        return ("path",) if tool.endswith("_file") else ()


def rule(name: str = "rule", **keys: Any) -> ReadyRule:
    return compile_rule("set", name, Rule(**{"action": "deny", **keys}))


def in_a_list(*rules: ReadyRule) -> list[ReadySet]:
    return [ReadySet("set", rules=rules)]


@pytest.mark.parametrize(
    ("narrow", "wide", "covered"),
    [
        ({"command": ("git push *",)}, {}, True),
        ({"command": ("git push",)}, {"command": ("git *",)}, True),
        ({"command": ("git push",)}, {"command": ("git push",)}, True),
        ({"command": ("git push",)}, {"command": ("git * push",)}, False),
        ({"command": ("git *",)}, {"command": ("git push *",)}, False),
        ({"command": ("gitk *",)}, {"command": ("git *",)}, False),
        ({"command": ("git push",)}, {"command": ("git *", "!git push")}, False),
        ({"tool": ("shell",)}, {"tool": ("s*",)}, True),
        ({}, {"tool": ("shell",)}, False),
        ({"tool": ("shell",), "path": ("a",)}, {"tool": ("shell",)}, True),
        ({"path": ("a",)}, {"path": ("**",)}, True),
        ({"path": ("a", "b")}, {"path": ("a",)}, False),
        ({"args": {"a": ("x",)}}, {"args": {"a": ("*",)}}, True),
        ({}, {"args": {"a": ("*",)}}, False),
        ({}, {"path": ("**",)}, False),
        ({}, {"tool": ("*",)}, True),
        ({"tool": ("kind:edit",)}, {"tool": ("k*",)}, False),
        ({"args": {"a": ("x",), "b": ("y",)}}, {"args": {"b": ("y",)}}, True),
        ({"kind": ("edit",)}, {"kind": ("edit", "delete")}, True),
    ],
)
def test_a_rule_is_covered_by_a_stricter_one_that_matches_all_that_it_does(
    narrow: dict[str, Any], wide: dict[str, Any], covered: bool
) -> None:
    allowed, denied = rule("narrow", action="allow", **narrow), rule("wide", **wide)
    assert (covering(allowed, in_a_list(allowed, denied)) is denied) is covered
    assert covering(denied, in_a_list(allowed, denied)) is None


@pytest.mark.parametrize(
    ("keys", "about"),
    [
        ({"tool": ("edit_file",), "command": ("git *",)}, ["command"]),
        ({"tool": ("kind:edit",), "command": ("git *",)}, ["command"]),
        ({"tool": ("s*",), "command": ("git *",)}, []),
        ({"command": ("git *",)}, []),
        ({"tool": ("shell",), "host": ("a",)}, ["host"]),
        ({"tool": ("read_file",), "kind": ("edit",)}, ["kind"]),
        ({"tool": ("mcp:a/b",), "path": ("a",), "action": "allow"}, ["path"]),
        ({"tool": ("mcp:a/*",), "path": ("a",), "action": "allow"}, []),
    ],
)
def test_a_rule_whose_keys_can_not_hold_together(keys: dict[str, Any], about: list[str]) -> None:
    assert [finding.key for finding in without_effect(rule(**keys), Tools())] == about


@pytest.mark.parametrize(
    ("keys", "about"),
    [
        ({"command": ("git push",)}, ["command"]),
        ({"command": ("git push", "git push *")}, []),
        ({"command": ("git push", "git *")}, []),
        ({"command": ("*", "!git push")}, []),
        ({"command": ("rm -rf *",)}, ["command"]),
        ({"command": ("rm * -rf *",)}, []),
        ({"tool": ("shell",), "args": {"command": ("rm*",)}}, ["args.command"]),
        ({"tool": ("kind:edit",), "args": {"path": ("a",)}}, ["args.path"]),
        ({"tool": ("fetch_url",), "args": {"url": ("a",)}}, ["args.url"]),
        ({"tool": ("mcp:a/b",), "args": {"repo": ("a",)}}, []),
        ({"tool": ("edit_file",), "path": ("a",)}, ["tool"]),
        ({"tool": ("*_file",), "path": ("a",)}, []),
        ({"tool": ("mcp:a/b",), "path": ("a",)}, ["path"]),
        ({"tool": ("shell",), "path": ("a",)}, []),
        ({"path": ("a",)}, []),
    ],
)
def test_a_rule_that_leaves_open_what_it_seems_to_close(keys: dict[str, Any], about: list[str]) -> None:
    assert [finding.key for finding in holes(rule(**keys), Tools())] == about
    assert list(holes(rule(**{**keys, "action": "allow"}), Tools())) == []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"default": "allow"}, "set.default says allow"),
        ({"default": "ask"}, None),
        ({"kinds": {"edit": "allow"}}, "set.kinds.edit says allow"),
        ({"kinds": {"read": "allow"}}, None),
        ({"kinds": {"edit": "deny", "execute": "ask"}}, None),
        ({"rules": {"a": Rule(command=("make *",), action="allow")}}, "set.rules.a says allow"),
        ({"rules": {"a": Rule(kind=("read",), action="allow")}}, None),
        ({"rules": {"a": Rule(command=("make *",), action="deny")}}, None),
    ],
)
def test_what_is_looser_than_the_kinds_and_defaults_of_the_base(keys: dict[str, Any], said: str | None) -> None:
    assert looser([compile_set("set", PermissionSet(**keys))], [STANDARD]) == said
