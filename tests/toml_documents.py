"""TOML of every kind, for hypothesis; and what it says, path by path."""

from __future__ import annotations

import datetime
import math
import tomllib
from typing import Any

from hypothesis import strategies as st

from agentoml.config.problems import Path

BARE = st.text("abcXYZ019_-", min_size=1, max_size=4)
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)


def basic(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


KEYS = BARE | ANY_TEXT.map(basic) | st.text("ab .#[]=é", max_size=4).map(lambda text: f"'{text}'")

STRINGS = st.one_of(
    ANY_TEXT.map(basic),
    ANY_TEXT.filter(lambda text: "'" not in text).map(lambda text: f"'{text}'"),
    st.text('ab"\n #[x]=\\', max_size=8)
    .map(lambda text: text.replace("\\", "\\\\"))
    .filter(lambda text: '"""' not in text)
    .map(lambda text: f'"""{text}"""'),
    st.text("ab'\n #[x]=\\", max_size=8).filter(lambda text: "'''" not in text).map(lambda text: f"'''{text}'''"),
)
OTHERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=True).map(lambda number: repr(number).replace("e+", "e")),
    st.sampled_from(["true", "false", "0xDEAD_beef", "1_000", "+1.5", "-inf", "0o17", "0b11"]),
    st.dates().map(datetime.date.isoformat).filter(lambda text: len(text) == 10),
    st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat(" ")),
    st.times().map(lambda moment: moment.replace(microsecond=0).isoformat()),
)
GAP = st.sampled_from(["", " ", "\t ", "\n", " # a comment, [x] = {\n  ", "\r\n"])
SPACE = st.sampled_from(["", " ", "\t"])


@st.composite
def lists(draw: st.DrawFn, items: st.SearchStrategy[str]) -> str:
    written = [draw(GAP) + item + draw(GAP) for item in draw(st.lists(items, max_size=3))]
    comma = draw(st.sampled_from(["", ","])) if written else ""
    return "[" + ",".join(written) + comma + draw(GAP) + "]"


@st.composite
def inline_tables(draw: st.DrawFn, items: st.SearchStrategy[str]) -> str:
    pairs = [
        f"{draw(SPACE)}{draw(dotted_keys())}{draw(SPACE)}={draw(SPACE)}{item}"
        for item in draw(st.lists(items, max_size=3))
    ]
    return "{" + ",".join(pairs) + draw(SPACE) + "}"


@st.composite
def dotted_keys(draw: st.DrawFn) -> str:
    dot = draw(SPACE) + "." + draw(SPACE)
    return dot.join(draw(st.lists(KEYS, min_size=1, max_size=3)))


VALUES = st.recursive(STRINGS | OTHERS, lambda items: lists(items) | inline_tables(items), max_leaves=6)


@st.composite
def statements(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return f"[{draw(SPACE)}{draw(dotted_keys())}{draw(SPACE)}]"
    if kind == 1:
        return f"[[{draw(dotted_keys())}]]"
    return f"{draw(SPACE)}{draw(dotted_keys())}{draw(SPACE)}={draw(SPACE)}{draw(VALUES)}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """TOML 1.0 of every kind; a statement that does not fit the ones before is left out."""
    text = ""
    for statement in draw(st.lists(statements(), max_size=8)):
        longer = text + statement + draw(st.sampled_from(["\n", "\r\n", " # x = [1]\n", "\n\n"]))
        try:
            tomllib.loads(longer)
        except ValueError:
            continue
        text = longer
    return text


def paths(value: Any, path: Path = ()) -> dict[Path, Any]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = {path: value} if path else {}
    for key, item in entries:
        found |= paths(item, (*path, key))
    return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return type(one) is type(other) and bool(one == other)
