"""The schema and the loader together: what the schema refuses the loader refuses, what the loader takes it takes."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from agentoml.config import layers, merge, parse
from agentoml.config.schema import Config
from agentoml.config.structure import structure
from agentoml.config.structuring.converter import converter
from agentoml.config.structuring.findings import Findings
from agentoml.config.vocabulary.json_schema import json_schema
from agentoml.errors import ConfigError
from vocabulary import tables

REPOSITORY = Path(__file__).parents[3]
SHIPPED = sorted((*REPOSITORY.glob("configs/*.toml"), *REPOSITORY.glob("examples/**/*.toml")))
WRITTEN = sorted(
    (*SHIPPED, *REPOSITORY.glob("tests/data/**/agent.toml"), *REPOSITORY.glob("tests/data/problems/*.toml"))
)

SCHEMA = json_schema()
VALIDATOR = Draft7Validator(SCHEMA)


def classes(kind: type = Config) -> Iterator[type]:
    """The classes of the vocabulary that have a definition of their own."""

    def inside(kind: Any) -> Iterator[type]:
        if attrs.has(kind):
            yield kind
        for part in get_args(kind):
            yield from inside(part)

    seen: dict[type, None] = {}
    waiting = [kind]
    while waiting:
        for key in get_type_hints(waiting.pop()).values():
            new = [found for found in inside(key) if found not in seen and found.__name__ in SCHEMA["definitions"]]
            seen |= dict.fromkeys(new)
            waiting += new
    yield from seen


CLASSES = tuple(classes())


def as_json(value: Any) -> Any:
    """A TOML value as validators of TOML hand it to a JSON Schema: dates and times are strings."""
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


def is_taken(file: Path) -> bool:
    """Whether the loader finds nothing wrong with a file, names aside."""
    try:
        structure(merge.merge(parse.parse_all(layers.read(file))))
    except ConfigError:
        return False
    return True


def test_it_is_a_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert {kind.__name__ for kind in CLASSES} == set(SCHEMA["definitions"])


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_it_takes_every_file_that_the_loader_takes(file: Path) -> None:
    if is_taken(file):
        assert [error.message for error in VALIDATOR.iter_errors(as_json(tomllib.loads(file.read_text("utf-8"))))] == []
    else:
        assert file not in SHIPPED or file.name == "catalog.toml"


@settings(max_examples=150)
@given(st.sampled_from(CLASSES).flatmap(lambda kind: st.tuples(st.just(kind), tables(kind))))
def test_it_takes_every_table_that_the_loader_takes(written: tuple[type, dict[str, Any]]) -> None:
    kind, table = written
    try:
        converter().structure(table, kind)
    except Findings:
        return
    of_this = Draft7Validator({"$ref": f"#/definitions/{kind.__name__}", "definitions": SCHEMA["definitions"]})
    assert [error.message for error in of_this.iter_errors(as_json(table))] == []


BENEATH = """schema = 1
[agent]
title = "Beneath"
tools = "kind:read"
instructions = "One"
params = { a = 1 }
limits.turn = { tokens = 5 }
[options.mode]
type = "select"
default = ["code"]
[modes.code]
[modes.remove]
[mcp.docs]
command = ["docs"]
env.TOKEN = { env = "TOKEN" }
[tool_kinds]
a = "read"
"""


@pytest.mark.parametrize(
    "above",
    [
        "modes.code.remove = true",
        "modes.remove.remove = true",
        "agent.title.remove = true",
        "agent.remove = true",
        "agent.tools.add = ['shell']",
        "agent.tools.remove = true",
        "agent.instructions.remove = true",
        "agent.params.remove = true",
        "agent.params.a.remove = true",
        "agent.limits.turn.tokens.remove = true",
        "options.mode.type.remove = true",
        "options.mode.default.add = ['remove']",
        "options.mode.default.remove = true",
        "mcp.docs.command.add = ['--port']",
        "mcp.docs.env.TOKEN.remove = true",
        "tool_kinds.a.remove = true",
    ],
)
def test_what_stands_above_others_may_edit_and_remove(above: str, tmp_path: Path) -> None:
    (tmp_path / "beneath.toml").write_text(BENEATH)
    file = tmp_path / "agent.toml"
    file.write_text(f'schema = 1\nextends = ["beneath.toml"]\n{above}\n')
    assert is_taken(file)
    assert [error.message for error in VALIDATOR.iter_errors(tomllib.loads(file.read_text()))] == []


def test_it_knows_words_where_others_may_stand_too() -> None:
    option, model = SCHEMA["definitions"]["Option"]["properties"], SCHEMA["definitions"]["Model"]["properties"]
    assert "thought_level" in option["category"]["anyOf"][0]["enum"]
    assert "images" in model["capabilities"]["items"]["anyOf"][0]["enum"]
    assert VALIDATOR.is_valid({"options": {"x": {"category": "_own"}}, "models": {"m": {"capabilities": ["_own"]}}})


@pytest.mark.parametrize(
    "refused",
    [
        "[agent]\nnmae = 'x'",
        "[agent]\ntitle = 3",
        "[options.x]\ntype = 'bool'",
        "[providers.p]\nretry.base = '10'",
        "[providers.p]\napi_key = 'sk-1'",
        "[models.m]\ncapabilities = 'tools'",
        "[permissions.p]\nrules.r = { tool = 3 }",
        "[modes.m]\nset.permissions = { append = ['a'] }",
        "[tests.t]\nexpect.verdict = 'allowed'",
    ],
)
def test_it_refuses_what_types_and_words_tell(refused: str) -> None:
    assert not VALIDATOR.is_valid(tomllib.loads(f"schema = 1\n{refused}\n"))
