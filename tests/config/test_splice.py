from __future__ import annotations

import difflib
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.config.diagnostics.positions import positions
from agentoml.config.splice import CannotSplice, with_key
from toml_documents import documents, same

AGENT = """#:schema agentoml.schema.json
# The agent of team A.
schema = 1

[agent]
name = "acme"          # as everybody knows it
limits.turn = { tokens = 5 }  # few

# Models come next.
[models.one]
provider = "p"
  params = { a = 1 }

[modes.code]

[modes.plan]
name = "Plan"   # thinks

# The end.
"""


def changed(source: str, after: str) -> list[str]:
    """The lines that are gone or new, as a diff shows them."""
    diff = difflib.ndiff(source.splitlines(), after.splitlines())
    return [line for line in diff if line[0] in "+-"]


@pytest.mark.parametrize(
    ("key", "value", "new", "gone"),
    [
        ("agent.name", "new", ['name = "new"          # as everybody knows it'], 1),
        ("agent.title", "Acme", ['title = "Acme"'], 0),
        ("agent.params.x.y", 1, ["params.x.y = 1"], 0),
        ("agent.limits.turn.tokens", 7, ["limits.turn = { tokens = 7 }  # few"], 1),
        ("agent.limits.turn.tool_calls", 7, ["limits.turn = { tokens = 5, tool_calls = 7 }  # few"], 1),
        ("agent.limits.session.tokens", 9, ["limits.session.tokens = 9"], 0),
        ("models.one.params", {}, ["  params = {}"], 1),
        ("models.one.limit.context", 9, ["  limit.context = 9"], 0),
        ("models.two.provider", "p", ["", "[models.two]", 'provider = "p"'], 0),
        ("modes.code.name", "Code", ['name = "Code"'], 0),
        ("options.model.default", ["a", "b"], ["", "[options.model]", 'default = ["a", "b"]'], 0),
        ("extends", ["x"], ['extends = ["x"]'], 0),
        ("schema", 1, [], 0),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_lines_that_must_are_touched(key: str, value: Any, new: list[str], gone: int, newline: str) -> None:
    source = AGENT.replace("\n", newline)
    after = with_key(source, tuple(key.split(".")), value)
    lines = changed(source, after)
    assert sorted(line[2:] for line in lines if line.startswith("+")) == sorted(new)
    assert len(lines) == len(new) + gone
    assert after.count("\n") == after.count(newline)


def test_a_new_table_stands_behind_those_beside_it() -> None:
    after = with_key(AGENT, ("models", "two", "provider"), "p")
    assert '  params = { a = 1 }\n\n[models.two]\nprovider = "p"\n\n[modes.code]' in after


def test_an_empty_text_and_one_without_a_last_line_end_can_be_set() -> None:
    assert with_key("", ("agent", "name"), "x") == '[agent]\nname = "x"\n'
    assert with_key("schema = 1", ("agent", "name"), "x") == 'schema = 1\n\n[agent]\nname = "x"'


@pytest.mark.parametrize(
    ("source", "key", "why"),
    [
        ("[agent", "agent.name", "is not TOML"),
        ("agent = 1", "agent.name", "`agent` is no table"),
        ("[agent]\nname = 'x'", "agent", "`agent` is a table"),
    ],
)
def test_what_can_t_be_set_is_refused(source: str, key: str, why: str) -> None:
    with pytest.raises(CannotSplice, match=why):
        with_key(source, tuple(key.split(".")), 1)


def merged(table: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    inner = {} if len(path) == 1 else merged(table.get(path[0], {}), path[1:], value)
    return {**table, path[0]: inner if len(path) > 1 else value}


@settings(max_examples=50)
@given(documents(), st.data())
def test_any_text_says_the_same_but_for_this_key_and_keeps_its_comments(source: str, data: st.DataObject) -> None:
    known = [path for path in positions(source).places if all(isinstance(part, str) for part in path)]
    before = data.draw(st.sampled_from([(), *known]))
    path = data.draw(st.sampled_from([(*before, "new"), (*before, "new", "a b"), before or ("new",)]))
    value = data.draw(st.sampled_from([True, 1, "x # y", ["a"], {"a": 1}]))
    try:
        after = with_key(source, path, value)
    except CannotSplice:
        return
    assert same_tables(tomllib.loads(after), merged(tomllib.loads(source), path, value))
    old = positions(source).places.get(path)
    span = source[old.value.start : old.value.end] if old is not None and old.value is not None else ""
    gone = [line for line in changed(source, after) if line.startswith("-")]
    assert len(gone) <= span.count("\n") + 1


def same_tables(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_tables(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_tables, one, other))
    return same(one, other)
