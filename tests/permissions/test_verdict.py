"""What the sets in force say of a call (E40, E41) and how automatic answers settle it (E51)."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from agentoml.config.schema import PermissionSet, Rule
from agentoml.permissions.sets import ReadySet, compile_set, selects_tool
from agentoml.permissions.verdict import Call, InForce, World, verdict

WORLD = World("/home/u/proj", ("/home/u/proj",), "/home/u", exists=lambda path: False, realpath=lambda path: path)


def ready(name: str, **keys: Any) -> ReadySet:
    rules = {rule: Rule(**written) for rule, written in keys.pop("rules", {}).items()}
    return compile_set(name, PermissionSet(rules=rules, **keys))


SETS = {
    each.name: each
    for each in (
        ready("standard", default="ask", kinds={"read": "allow", "search": "allow", "think": "allow"}),
        ready("no-changes", kinds={"edit": "deny", "delete": "deny", "move": "deny", "execute": "ask"}),
        ready("everything", default="allow"),
        ready("nothing", default="deny"),
        ready("care", rules={"push": {"tool": ("mcp:git/push",), "action": "always_ask"}}),
        ready("open", rules={"edits": {"kind": ("edit",), "action": "allow"}}),
        ready("allow-edit", kinds={"edit": "allow"}),
    )
}
READ = Call("read_file", "read", {"path": "a"}, ("a",))
EDIT = Call("edit_file", "edit", {"path": "a"}, ("a",))
PUSH = Call("mcp:git/push", "other", {})


def judged(call: Call, **in_force: Any) -> str:
    return verdict(call, InForce(**{"base": ("standard",), **in_force}), SETS, WORLD).verdict


def test_nobody_speaks_so_the_user_is_asked() -> None:
    assert judged(READ, base=()) == "ask"
    assert judged(PUSH, base=("no-changes",)) == "ask"


def test_the_bases_kinds_and_defaults_speak_only_where_nothing_else_did() -> None:
    assert judged(EDIT) == "ask"
    assert judged(EDIT, patches=(("allow-edit",),)) == "allow"
    assert judged(READ, patches=(("allow-edit",),)) == "allow"


def test_the_bases_rules_always_speak() -> None:
    assert judged(PUSH, base=("standard", "care"), patches=(("everything",),)) == "always_ask"


def test_a_list_of_sets_is_judged_as_one_and_lists_of_different_patches_apart() -> None:
    assert judged(EDIT, patches=(("no-changes", "open"),)) == "allow"
    assert judged(EDIT, patches=(("no-changes",), ("open",))) == "deny"


def test_automatic_answers_settle_an_ask_and_nothing_else() -> None:
    assert judged(EDIT, auto_answers=("everything",)) == "allow"
    assert judged(EDIT, auto_answers=("nothing",)) == "deny"
    assert judged(READ, auto_answers=("nothing",)) == "allow"
    assert judged(EDIT, patches=(("no-changes",),), auto_answers=("everything",)) == "deny"
    assert judged(PUSH, base=("standard", "care"), auto_answers=("everything",)) == "always_ask"


def test_an_answer_that_is_itself_a_question_leaves_it_a_question() -> None:
    assert judged(EDIT, auto_answers=("standard",)) == "ask"


def test_a_remembered_rule_stands_among_the_automatic_answers() -> None:
    remembered = (Rule(tool=("edit_file",), action="allow"),)

    assert judged(EDIT, remembered=remembered) == "allow"
    assert judged(EDIT, remembered=remembered, auto_answers=("nothing",)) == "allow"
    assert judged(EDIT, remembered=remembered, patches=(("no-changes",),)) == "deny"


def test_a_set_that_is_not_there_denies() -> None:
    assert judged(READ, patches=(("lost",),)) == "deny"
    assert judged(EDIT, auto_answers=("lost",)) == "deny"


def test_a_judgement_says_which_rule_counts_and_who_answered() -> None:
    judgement = verdict(PUSH, InForce(("standard", "care"), auto_answers=("everything",)), SETS, WORLD)
    assert "care.rules.push" in judgement.reason

    answered = verdict(EDIT, InForce(("standard",), auto_answers=("everything",)), SETS, WORLD)
    assert answered.answered_by == "everything.default"


@pytest.mark.parametrize(
    ("selectors", "tool", "kind", "selected"),
    [
        (("edit_file",), "edit_file", "edit", True),
        (("*",), "mcp:docs/search/all", "other", True),
        (("mcp:docs/*",), "mcp:docs/search", "read", True),
        (("mcp:docs/*",), "mcp:docs2/search", "read", False),
        (("kind:read",), "mcp:docs/search", "read", True),
        (("kind:read",), "kind:read", "edit", False),
        (("!shell",), "edit_file", "edit", True),
        (("!shell",), "shell", "execute", False),
        (("*", "!kind:edit"), "edit_file", "edit", False),
        ((), "edit_file", "edit", False),
    ],
)
def test_selectors_of_tools(selectors: tuple[str, ...], tool: str, kind: str, selected: bool) -> None:
    assert selects_tool(selectors, tool, kind) is selected


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "2852039166", "0xa9fea9fe", "169.254.43518", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe"],
)
def test_a_host_that_is_denied_is_so_in_all_its_spellings(host: str) -> None:
    metadata = {
        "open": SETS["everything"],
        "net": ready("net", rules={"no": {"host": ("169.254.*",), "action": "deny"}}),
    }
    call = Call("fetch_url", "fetch", {"url": f"http://[{host}]/"}, host=host)

    assert verdict(call, InForce(("open", "net")), metadata, WORLD).verdict == "deny"
    assert verdict(evolve(call, host="169.com"), InForce(("open", "net")), metadata, WORLD).verdict == "allow"
