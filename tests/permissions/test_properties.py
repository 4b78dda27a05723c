"""What holds of verdicts whatever sets are in force (E40, E41, E45)."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.config.schema import PermissionSet, Rule
from agentoml.config.vocabulary.notation import Action
from agentoml.permissions.calls import Call, World
from agentoml.permissions.sets import ReadySet, compile_sets
from agentoml.permissions.verdict import InForce, strictness, verdict

WORLD = World("/home/u/proj", (), "/home/u", exists=lambda path: path.endswith("x"), realpath=lambda path: path)
Sets = Mapping[str, ReadySet]
NAMES = ("a", "b", "c", "d")
ACTIONS: st.SearchStrategy[Action] = st.sampled_from(("allow", "ask", "always_ask", "deny"))

RULES = st.builds(
    Rule,
    tool=st.sampled_from((None, ("shell",), ("kind:edit",), ("*_file",), ("!shell",), ("mcp:*",))),
    kind=st.sampled_from((None, None, ("edit",), ("execute",), ("!read",))),
    path=st.sampled_from((None, None, ("**/x",), ("**", "!x"), ("!**/x",), ("/etc/**",))),
    command=st.sampled_from((None, None, ("git *",), ("*",), ("*", "!rm *"), ("rm x",))),
    args=st.sampled_from(({}, {}, {"path": ("*x",)})),
    host=st.sampled_from((None, None, ("evil.example",))),
    action=ACTIONS,
)
SETS = st.fixed_dictionaries({
    name: st.builds(
        PermissionSet,
        default=st.none() | ACTIONS,
        kinds=st.dictionaries(st.sampled_from(("read", "edit", "execute")), ACTIONS, max_size=2),
        rules=st.dictionaries(st.sampled_from(("r", "s")), RULES, max_size=2),
    )
    for name in NAMES
}).map(compile_sets)  # fmt: skip
LISTS = st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple)
IN_FORCE = st.builds(InForce, LISTS, st.lists(LISTS, max_size=2).map(tuple), LISTS)
LINES = (
    "git status",
    "rm x",
    "git push; rm x",
    "$X a",
    "cat x > y",
    "env -u A rm x",
    "(",
    "a=1 git log",
    "git -C x log",
)
CALLS = st.sampled_from((
    *(Call("shell", "execute", {"command": line}) for line in LINES),
    Call("read_file", "read", {"path": "x"}, ("x",)),
    Call("edit_file", "edit", {"path": "/etc/x"}, ("/etc/x",)),
    Call("fetch_url", "fetch", {"url": "http://evil.example"}, host="evil.example"),
    Call("mcp:a/b", "other", {"path": "x"}),
    Call("mcp:a/b", "read", {}, shadows=True),
))  # fmt: skip


@settings(max_examples=150)
@given(SETS, IN_FORCE, CALLS, LISTS)
def test_answers_settle_questions_and_nothing_else(
    sets: Sets, in_force: InForce, call: Call, other: tuple[str, ...]
) -> None:
    without = verdict(call, InForce(in_force.base, in_force.patches), sets, WORLD).verdict
    answered = verdict(call, InForce(in_force.base, in_force.patches, other), sets, WORLD).verdict
    if without != "ask":
        assert answered == without
    else:
        assert answered != "always_ask"


@settings(max_examples=150)
@given(SETS, IN_FORCE, CALLS)
def test_what_the_rules_of_the_base_restrict_nothing_lifts(sets: Sets, in_force: InForce, call: Call) -> None:
    denial = {"deny": PermissionSet(rules={"r": Rule(action="deny")})}
    with_rule = {**sets, **compile_sets(denial)}
    stricter = InForce((*in_force.base, "deny"), in_force.patches, in_force.auto_answers)
    assert verdict(call, stricter, with_rule, WORLD).verdict == "deny"


@settings(max_examples=150)
@given(SETS, IN_FORCE, CALLS, RULES)
def test_one_more_denial_never_allows_more(sets: Sets, in_force: InForce, call: Call, rule: Rule) -> None:
    denied = Rule(tool=rule.tool, path=rule.path, command=rule.command, action="deny")
    denial = {"more": PermissionSet(rules={"r": denied})}
    everything = {**sets, **compile_sets(denial)}
    before = verdict(call, in_force, everything, WORLD).verdict
    for more in (
        InForce((*in_force.base, "more"), in_force.patches, in_force.auto_answers),
        InForce(in_force.base, (*in_force.patches, ("more",)), in_force.auto_answers),
        InForce(in_force.base, in_force.patches, (*in_force.auto_answers, "more")),
    ):
        assert strictness(verdict(call, more, everything, WORLD).verdict) >= strictness(before)


@settings(max_examples=150)
@given(SETS, IN_FORCE, CALLS)
def test_the_order_of_sets_and_patches_does_not_matter(sets: Sets, in_force: InForce, call: Call) -> None:
    turned = InForce(in_force.base[::-1], in_force.patches[::-1], in_force.auto_answers[::-1])
    assert verdict(call, in_force, sets, WORLD).verdict == verdict(call, turned, sets, WORLD).verdict
