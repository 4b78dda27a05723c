"""Bytes -> Snapshot: whatever a file holds, only problems come out of it, each with a place, never a traceback."""

from __future__ import annotations

import copy
import datetime
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentoml.config import layers
from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.problems import CODES, render_text, to_json
from agentoml.config.schema import Config, Model, Rule
from agentoml.snapshot.build import Built, build_reading
from agentoml.snapshot.resolve import ClientFacts, resolve
from agentoml.snapshot.selections import Selections
from vocabulary import JUNK, tables

REPOSITORY = Path(__file__).parents[2]
WRITTEN = sorted(
    file
    for pattern in ("configs/**/*.toml", "examples/**/*.toml", "tests/data/**/*.toml")
    for file in REPOSITORY.glob(pattern)
    if file.name != "case.toml" and file.stat().st_size < 8_000
)
WHOLE = [file for file in WRITTEN if "problems" not in file.parts]
EXTRAS = st.sampled_from(
    [b"", b"\xef\xbb\xbf", b"\x00", b"\xff", b"\r", b'"""', b"[", b"]]", b"=", b"{", b"#", b"\xe2\x80\xa8"]
)

Build = Callable[..., Built]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Write the bytes into a file (and those beneath it into beneath.toml), build, and look at what came out."""
    file = tmp_path_factory.mktemp("fuzz") / "agent.toml"

    def build(content: bytes, beneath: bytes = b"schema = 1") -> Built:
        file.write_bytes(content)
        file.with_name("beneath.toml").write_bytes(beneath)
        built = build_reading(with_catalogs(layers.read(file)))
        assert (built.snapshot is None) == bool(built.problems)
        for problem in built.problems:
            assert problem.code in CODES
            assert problem.file
            assert problem.line >= 0
            assert problem.column >= (1 if problem.line else 0)
            assert problem.severity == "error" or len(built.problems) > 1
        assert render_text(built.problems).isprintable() or "\n" in render_text(built.problems)
        json.dumps([to_json(problem) for problem in built.problems]).encode()
        if built.snapshot is not None:
            resolve(built.snapshot, ClientFacts(), Selections())
        return built

    return build


def toml(table: dict[str, Any]) -> bytes:
    return tomli_w.dumps(table).encode()


def literal(value: Any) -> bytes:
    """A value as TOML writes it on one line."""
    if isinstance(value, dict):
        return (
            b"{" + b", ".join(json.dumps(key).encode() + b" = " + literal(item) for key, item in value.items()) + b"}"
        )
    if isinstance(value, list):
        return b"[" + b", ".join(map(literal, value)) + b"]"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().encode()
    return re.sub(r"^NaN$", "nan", json.dumps(value)).encode()


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A file of this repository with a few of its lines taken out, doubled, moved, or given another value."""
    lines = draw(st.sampled_from(WRITTEN)).read_bytes().split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        at, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        key, equals, value = lines[at].partition(b"=")
        match draw(st.integers(0, 6)):
            case 0:
                lines[at] = b""
            case 1:
                lines.insert(other, lines[at])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3 | 4 if equals:
                lines[at] = key + equals + b" " + literal(draw(JUNK))
            case 5 if equals:
                lines[at] = key + equals + (lines[other].partition(b"=")[2] or value)
            case _:
                cut = draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:cut] + draw(EXTRAS) + lines[at][cut:]
    return b"\n".join(lines)


def nodes(table: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every place in nested tables and lists: what holds it, and the whole path to it."""
    for key, item in table.items() if isinstance(table, dict) else enumerate(table):
        yield table, (*path, key)
        if isinstance(item, dict | list):
            yield from nodes(item, (*path, key))


def alone(table: dict[str, Any]) -> dict[str, Any]:
    """A whole file that stands for itself."""
    return {"schema": 1, **{key: item for key, item in table.items() if key not in ("schema", "extends", "policy")}}


@st.composite
def rearranged(draw: st.DrawFn) -> bytes:
    """A file of this repository some of whose values stand where others stood: names name other things."""
    table = alone(tomllib.loads(draw(st.sampled_from(WHOLE)).read_text("utf-8")))
    for _ in range(draw(st.integers(1, 3))):
        places = list(nodes(table))
        holder, path = draw(st.sampled_from(places))
        value = holder[path[-1]]
        alike = [
            other[there[-1]]
            for other, there in places
            if type(other[there[-1]]) is type(value)
            and (not isinstance(value, dict) or (there[0], len(there)) == (path[0], len(path)))
        ]
        holder[path[-1]] = copy.deepcopy(draw(st.sampled_from(alike)))
    return toml(table)


EXAMPLES = int(os.environ.get("AGENTOML_EXAMPLES", "40"))

anything = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


@anything
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(build: Build, content: bytes) -> None:
    build(content)


@anything
@given(mutated())
def test_files_in_which_something_went_wrong(build: Build, content: bytes) -> None:
    build(content)


@anything
@given(rearranged())
def test_files_whose_names_name_other_things(build: Build, content: bytes) -> None:
    build(content)


@anything
@given(tables(Config, depth=6, wrong=False).map(alone).map(toml))
def test_tables_of_the_vocabulary(build: Build, content: bytes) -> None:
    build(content)


@anything
@given(tables(Config, depth=6).map(toml))
def test_tables_of_the_vocabulary_and_others(build: Build, content: bytes) -> None:
    build(content)


@anything
@given(rearranged() | mutated(), tables(Config, depth=6).map(alone))
def test_files_that_stand_on_others(build: Build, beneath: bytes, above: dict[str, Any]) -> None:
    build(toml({**above, "extends": ["beneath.toml"]}), beneath)


CATALOGS = b"""schema = 1
providers.one.adapter = "scripted"
catalogs.listed = { file = "beneath.toml", include = ["*a*", "!remove"] }
options.model = { values_from = "models", group_by = "provider", order = "newest" }
options.effort.values_from = "model.reasoning"
"""


@anything
@given(tables(Model, depth=4) | tables(Model, depth=4, wrong=False), st.binary(max_size=20))
def test_catalogs(build: Build, model: dict[str, Any], more: bytes) -> None:
    models = {"a": {"provider": "one"}, "ab": {**model, "provider": "one"}, "remove": model}
    build(CATALOGS, toml({"models": models}))
    build(CATALOGS, toml({"models": models}) + more)


CALLS = st.one_of(
    st.tuples(
        st.just("shell"), st.fixed_dictionaries({"command": st.text("ab*?./~ '\"$()`{};&|<>=!\\\n#-", max_size=30)})
    ),
    st.tuples(
        st.sampled_from(["read_file", "edit_file", "a"]),
        st.fixed_dictionaries({"path": st.text("ab*./~\\\0", max_size=9)}),
    ),
    st.tuples(
        st.just("fetch_url"),
        st.fixed_dictionaries({"url": st.text("htp:/[]@.a1%#?", max_size=20).map("http://".__add__)}),
    ),
    st.tuples(st.just("shell"), st.dictionaries(st.sampled_from(["command", "path", "x"]), JUNK, max_size=2)),
)


@anything
@given(st.dictionaries(st.sampled_from("ab"), tables(Rule, depth=2, wrong=False), max_size=2), CALLS)
def test_calls_that_are_judged_while_loading(
    build: Build, rules: dict[str, Any], call: tuple[str, dict[str, Any]]
) -> None:
    tool, args = call
    given_rules = {name: {"tool": "*", "action": "deny", **rule} for name, rule in rules.items()}
    judged = {"rules": given_rules, "examples": {"it": {"tool": tool, "args": args, "expect": "silent"}}}
    test = {"gate": True, "given": {"tool": tool, "args": args}, "expect": {"verdict": "ask"}}
    tools = {"a": {"command": ["a", "{path}"], "locations": ["{path}"]}}
    table = {"schema": 1, "agent": {"permissions": {"add": ["p"]}}, "tools": tools, "tests": {"it": test}}
    build(toml({**table, "permissions": {"p": judged}}))
    build(toml({**table, "permissions": {"p": {"rules": given_rules}}}))
