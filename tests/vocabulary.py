"""Tables as the vocabulary has them, for hypothesis: mostly each key by values of its own type."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs
from hypothesis import strategies as st

from agentoml.config.structuring.converter import members
from agentoml.config.vocabulary.notation import Duration, ListEdit, Patterns, Secret, TextFile

NAMES = st.sampled_from(["a", "b", "plan", "mode", "model", "one", "x/y", "remove", "add", "*", "", " a", "é"])
WORDS = NAMES | st.sampled_from(
    [
        "!a",
        "kind:read",
        "mcp:a/b",
        "shell",
        "a *",
        "~/a",
        "**/.a",
        "scripted",
        "openai",
        "10s",
        "true",
        "2026-01-01",
        "https://h/p",
    ]
)
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["", "x", "10s", 0, -1, 3, 10**30, 1.5, float("nan"), True, False, [], {}, [1], ["a"], {"a": 1}]),
    st.sampled_from(
        [{"remove": True}, {"add": ["a"]}, {"remove": ["a"], "add": []}, {"file": "nowhere"}, {"env": "X"}]
    ),
    st.sampled_from([datetime.date(2026, 1, 2), datetime.time(1, 2), datetime.datetime(2026, 1, 2)]),
)
LISTS = st.lists(WORDS, max_size=3)
EDITS = st.fixed_dictionaries({}, optional={"add": LISTS, "remove": LISTS})
FREE = st.dictionaries(NAMES, st.recursive(JUNK, lambda inner: st.lists(inner, max_size=2), max_leaves=3), max_size=2)

NOTATIONS: Mapping[Any, st.SearchStrategy[Any]] = {
    Any: JUNK,
    str: WORDS,
    bool: st.booleans(),
    int: st.integers(-1, 5),
    float: st.integers(0, 3) | st.floats(),
    datetime.date: st.dates() | st.sampled_from(["2026-01-02", "20260102", "x"]),
    Duration: st.sampled_from(["10s", "500ms", "1.5h", "0s", "10", "-1s", "1 s"]),
    Patterns: WORDS | LISTS,
    ListEdit: WORDS | LISTS | EDITS,
    TextFile: st.just({"file": "nowhere.md"}),
    Secret: st.sampled_from([{"env": "X"}, {"file": "f"}, {"command": ["a"]}, {"keyring": "a/b"}, {"env": ""}, {}]),
}


def values(kind: Any, *, depth: int = 5, wrong: bool = True) -> st.SearchStrategy[Any]:
    """What a key of this type may be given; with `wrong` one time in some ten, anything."""
    right = _right(kind, depth, wrong)
    return st.integers(0, 11).flatmap(lambda dice: JUNK if dice == 0 else right) if wrong else right


def tables(kind: type, *, depth: int = 5, wrong: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Tables of a class of the vocabulary with some of its keys."""
    types = get_type_hints(kind)
    keys = [attribute.name for attribute in attrs.fields(kind) if wrong or not attribute.metadata["later"]]
    unknown = ["nmae"] if wrong else []

    def table(chosen: list[str]) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({key: values(types.get(key, Any), depth=depth - 1, wrong=wrong) for key in chosen})

    return st.lists(st.sampled_from(keys * 5 + unknown), max_size=4, unique=True).flatmap(table)


def _right(kind: Any, depth: int, wrong: bool) -> st.SearchStrategy[Any]:
    alternatives = members(kind)
    if len(alternatives) > 1:
        return st.one_of([_right(member, depth, wrong) for member in alternatives])
    (kind,) = alternatives
    if kind in NOTATIONS:
        return NOTATIONS[kind]
    if depth <= 0:
        return st.just({})
    if attrs.has(kind):
        return st.deferred(lambda: tables(kind, depth=depth, wrong=wrong))
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    inner = st.deferred(
        lambda: values(get_args(kind)[-1 if get_origin(kind) is Mapping else 0], depth=depth - 1, wrong=wrong)
    )
    if get_origin(kind) is Mapping:
        return st.dictionaries(NAMES, inner, max_size=3)
    return st.lists(inner, max_size=3)
