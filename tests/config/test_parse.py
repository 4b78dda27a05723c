from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.config.parse import parse
from agentoml.config.problems import Problem
from agentoml.config.texts import Included, Text


def text(content: str | bytes, **included: str) -> Text:
    raw = content if isinstance(content, bytes) else content.encode()
    return Text("agent.toml", raw, Path("/conf/agent.toml"), included=included)


def problems(content: str | bytes) -> tuple[Problem, ...]:
    return parse(text(content)).problems


def test_a_text_becomes_its_table() -> None:
    table = parse(text('schema = 1\n[agent]\nname = "acme"\n'))

    assert table.values == {"schema": 1, "agent": {"name": "acme"}}
    assert table.problems == ()


def test_windows_line_ends_are_fine() -> None:
    table = parse(text('schema = 1\r\n[agent]\r\nname = "acme"\r\n'))

    assert table.values["agent"] == {"name": "acme"}
    assert table.problems == ()


def test_only_comments_are_a_configuration_too() -> None:
    assert problems("# nothing yet\n") == ()


@pytest.mark.parametrize("content", [b"", b" \n\t\n", b"\r\n"])
def test_an_empty_file_is_a_problem_since_it_would_drop_every_rule(content: bytes) -> None:
    (problem,) = problems(content)
    assert problem.code == "AGT003"


def test_a_byte_that_is_not_utf8_is_named_with_its_place() -> None:
    (problem,) = problems(b'[agent]\ntitle = "Caf\xe9"\n')

    assert (problem.code, problem.line, problem.column) == ("AGT002", 2, 13)
    assert "0xe9" in problem.message


def test_every_broken_statement_is_told_and_the_rest_is_read() -> None:
    table = parse(text('[agent]\nname = acme\ntitle = "Acme"\nversion = 1.2.3\n[modes.plan]\nname = "Plan"\nx = = 1\n'))

    assert [problem.line for problem in table.problems] == [2, 4, 7]
    assert table.values["agent"] == {"title": "Acme"}
    assert table.values["modes"] == {"plan": {"name": "Plan"}}


def test_the_keys_beneath_a_broken_header_do_not_land_in_another_table() -> None:
    table = parse(text("[agent]\n[models.acme/big]\nprovider = 'p'\n[modes.plan]\n"))

    assert table.values == {"agent": {}, "modes": {"plan": {}}}


def test_a_text_without_end_hides_what_it_swallows_and_nothing_before_it() -> None:
    table = parse(text('a = 1\nb = """\n[c]\nd = 2\n'))

    assert [(problem.code, problem.line) for problem in table.problems] == [("AGT012", 2)]
    assert table.values == {"a": 1}


def test_a_list_without_end_is_blamed_where_it_begins() -> None:
    table = parse(text("a = [1,\n  2\nb = 3\n[c]\nd = x\n"))

    assert [(problem.code, problem.line) for problem in table.problems] == [("AGT012", 1), ("AGT013", 5)]
    assert table.values == {"b": 3, "c": {}}


@pytest.mark.parametrize("content", ["a = " + "[" * 5000, "a." * 3000 + "a = 1", "a = " + "[" * 80 + "]" * 80])
def test_nesting_without_end_is_a_problem_not_a_crash(content: str) -> None:
    assert "AGT015" in {problem.code for problem in problems(content + "\n")}


def test_a_number_without_end_is_a_problem_not_a_crash() -> None:
    (problem,) = problems("a = " + "9" * 5000 + "\n")
    assert problem.code == "AGT010"


def test_only_so_many_broken_statements_are_told() -> None:
    assert len(problems("x = y\n" * 1000)) == 20


@pytest.mark.parametrize("schema", ["2", "0", '"1"', "1.0", "true"])
def test_each_file_says_the_schema_it_is_written_in(schema: str) -> None:
    table = parse(text(f"schema = {schema}\n"))

    assert [problem.code for problem in table.problems] == ["AGT112" if schema in "02" else "AGT102"]
    assert "schema" not in table.values


def test_what_is_extended_is_a_list_of_names() -> None:
    assert [p.column for p in problems('extends = ["a.toml", 3, ""]\n')] == [22, 25]


def test_a_text_file_stands_in_the_place_where_it_is_named() -> None:
    table = parse(text('[agent]\ninstructions = { file = "base.md" }\n', **{"base.md": "Be kind."}))
    assert table.values["agent"]["instructions"] == Included("base.md", "Be kind.")


def test_files_belong_to_the_file_that_names_them() -> None:
    content = '[catalogs.a]\nfile = "team.toml"\n[providers.p]\napi_key = { file = "~/key" }\nparams = { file = "x" }\n'
    table = parse(text(content))

    assert table.values["catalogs"]["a"]["file"] == "/conf/team.toml"
    assert table.values["providers"]["p"] == {"api_key": {"file": "~/key"}, "params": {"file": "x"}}


@pytest.mark.parametrize("key", ["file", '"file"', '"\\u0066ile"', '"\\U00000066ile"'])
def test_a_file_is_found_however_its_key_is_written(key: str) -> None:
    table = parse(text(f'catalogs.a.{key} = "team.toml"\n'))
    assert table.values["catalogs"]["a"]["file"] == "/conf/team.toml"


def test_the_same_bytes_are_read_once() -> None:
    first, second = parse(text("[agent]\n")), parse(text("[agent]\n"))
    assert first.values["agent"] is second.values["agent"]
