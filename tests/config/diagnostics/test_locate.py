from __future__ import annotations

import pytest

from agentoml.config.diagnostics.locate import locate, located
from agentoml.config.merge import merge
from agentoml.config.parse import parse
from agentoml.config.problems import Path, Problem, Related
from agentoml.config.texts import Merged, Text
from agentoml.errors import ConfigError


def merged(*texts: str) -> Merged:
    return merge([parse(Text(f"{index}.toml", text.encode(), None)) for index, text in enumerate(texts)])


def place(result: Merged, *path: str | int, at_key: bool = False) -> tuple[str, int, int, int]:
    (problem,) = locate([Problem("AGT201", "?", path, at="key" if at_key else "value")], result)
    return problem.file, problem.line, problem.column, problem.end_column


def test_a_value_and_its_key_have_places_of_their_own() -> None:
    result = merged('[agent]\nmodel = "opus"\n')

    assert place(result, "agent", "model") == ("0.toml", 2, 9, 15)
    assert place(result, "agent", "model", at_key=True) == ("0.toml", 2, 1, 6)


def test_the_text_that_won_is_blamed() -> None:
    result = merged('[agent]\nmodel = "a"\n', '\n[agent]\nmodel = "b"\n', "[agent]\n")
    assert place(result, "agent", "model")[:2] == ("1.toml", 3)


def test_a_table_is_blamed_at_its_header() -> None:
    assert place(merged("[models.a]\nid = 'a'\n"), "models", "a") == ("0.toml", 1, 9, 10)


def test_what_nobody_wrote_is_blamed_on_the_table_that_lacks_it() -> None:
    assert place(merged("[models.a]\nid = 'a'\n"), "models", "a", "provider") == ("0.toml", 1, 9, 10)


def test_an_item_is_blamed_where_it_was_added() -> None:
    result = merged('[agent]\ntools = ["a"]\n', '[agent]\ntools.add = [\n  "b",\n  "c",\n]\n')
    assert place(result, "agent", "tools", 2) == ("1.toml", 4, 3, 6)


def test_a_name_written_without_brackets_is_blamed_itself() -> None:
    assert place(merged('[agent]\npermissions = "team"\n'), "agent", "permissions", 0) == ("0.toml", 2, 15, 21)


def test_what_stands_nowhere_is_blamed_on_the_named_file() -> None:
    assert place(merged("[agent]\n", "[modes.a]\n"), "models")[:3] == ("1.toml", 1, 1)


def test_a_value_of_several_lines_is_marked_on_its_first() -> None:
    (problem,) = locate([Problem("AGT201", "?", ("agent", "tools"))], merged('[agent]\ntools = [\n  "a",\n]\n'))
    assert (problem.line, problem.column, problem.end_column, problem.source_line) == (2, 9, 10, "tools = [")


def test_what_is_related_gets_its_place_too() -> None:
    result = merged("[options.a]\n", "[options.b]\nname = 'B'\n")
    (problem,) = locate(
        [Problem("AGT202", "?", ("options", "a"), related=(Related("needs", ("options", "b", "name")),))], result
    )

    assert problem.related == (Related("needs", ("options", "b", "name"), "1.toml", 2, 1),)


def test_problems_come_in_the_order_of_the_texts() -> None:
    result = merged("[agent]\nname = 1\ntitle = 2\n", "[modes.a]\n")
    paths: list[Path] = [("modes", "a"), ("agent", "title"), ("agent", "name")]

    found = locate([Problem("AGT201", "?", path) for path in paths], result)
    assert [problem.path for problem in found] == paths[::-1]


def test_a_place_that_is_known_stays() -> None:
    known = Problem("AGT201", "?", ("agent",), file="other.toml", line=7, column=1)
    assert locate([known], merged("[agent]\n")) == (known,)


def test_problems_raised_within_get_their_places() -> None:
    with pytest.raises(ConfigError) as caught, located(merged("[agent]\nname = 1\n")):
        raise ConfigError([Problem("AGT201", "?", ("agent", "name"))])

    assert caught.value.problems[0].line == 2
    assert str(caught.value) == "0.toml:2:8: error[AGT201]: ?"


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "marker"',
        'apiKey = ["marker", "marker"]',
        'token = "marker"',
        'github_token = """marker"""',
        'env = { KEY = "marker" }',
        'headers.cookie = "marker"',
        'params = { api-key = "marker" }',
        'base_url = "https://me:marker@host/"',
        'base_url = "https://me:a@marker@host/"',
        'x = { y = { client_secret = "marker" } }',
    ],
)
def test_a_line_is_shown_without_its_secrets(line: str) -> None:
    result = merged(f"[providers.p]\n{line}\n")
    (problem,) = locate([Problem("AGT101", "?", ("providers", "p", line.split()[0].split(".")[0]))], result)

    assert "marker" not in problem.source_line
    assert len(problem.source_line) == len(line)


@pytest.mark.parametrize(
    "line", ["api_key = marker", "TOKEN = marker", "x = { api_key = marker }", "env = { A = marker }"]
)
def test_a_broken_line_is_shown_without_its_secrets(line: str) -> None:
    (problem,) = merged(f"[providers.p]\n{line}\n").problems
    assert "marker" not in repr(problem)


def test_where_a_secret_is_to_be_had_is_no_secret() -> None:
    line = 'api_key = { env = "GATEWAY_KEY" }'
    (problem,) = locate([Problem("AGT101", "?", ("providers",))], merged(f"[agent]\n[providers]\n{line}\n"))
    assert problem.source_line == "[providers]"
    (problem,) = locate([Problem("AGT101", "?", ("p", "api_key"))], merged(f"[p]\n{line}\n"))
    assert problem.source_line == line
