from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from agentoml.config.problems import (
    CODES,
    Problem,
    Related,
    closest,
    did_you_mean,
    dotted,
    quoted,
    render_text,
    to_json,
)

PACKAGE = Path(__file__).parents[2] / "framework" / "agentoml"

PROBLEM = Problem(
    "AGT102",
    "expected true or false, found a string",
    ("models", "a", "fast"),
    hint="remove the quotes: false",
    file="team.toml",
    line=5,
    column=8,
    end_column=15,
    source_line='fast = "false"',
)


def test_a_problem_is_shown_with_its_line_and_a_caret() -> None:
    shown = render_text([PROBLEM])

    assert shown == (
        "error[AGT102]: expected true or false, found a string\n"
        " --> team.toml:5:8 (models.a.fast)\n"
        "  |\n"
        '5 | fast = "false"\n'
        "  |        ^^^^^^^\n"
        "  = help: remove the quotes: false"
    )


def test_a_related_place_is_a_note() -> None:
    shown = render_text([PROBLEM._replace(related=(Related("first defined here", (), "base.toml", 3, 1),))])
    assert shown.endswith("= note: first defined here: base.toml:3:1")


def test_the_caret_stands_beneath_what_is_wrong_also_behind_tabs_and_wide_letters() -> None:
    problem = PROBLEM._replace(source_line='\t"日本" = x', column=9, end_column=10)
    line, caret = render_text([problem]).splitlines()[3:5]

    assert line == '5 | \t"日本" = x'
    assert caret == "  | \t" + " " * 9 + "^"


@pytest.mark.parametrize(("column", "end"), [(1, 10**6), (5000, 5003), (10**6 - 2, 10**6)])
def test_of_a_long_line_what_is_near_is_shown(column: int, end: int) -> None:
    source = "".join(chr(ord("a") + number % 26) for number in range(10**6))
    problem = PROBLEM._replace(source_line=source, column=column, end_column=end)
    line, caret = (shown.partition(" | ")[2] for shown in render_text([problem]).splitlines()[3:5])
    assert len(line) < 210 and len(caret) < 210
    begin, width = caret.index("^"), caret.count("^")
    assert source[column - 1 :].startswith(line[begin : begin + width])


def test_several_problems_are_set_apart() -> None:
    assert render_text([PROBLEM, PROBLEM]).count("\n\n") == 1


def test_on_one_line_the_place_comes_first() -> None:
    assert PROBLEM.one_line() == (
        "team.toml:5:8: error[AGT102]: expected true or false, found a string (remove the quotes: false)"
    )
    assert Problem("AGT201", "no such model", ("agent", "model")).one_line() == (
        "configuration: error[AGT201]: no such model [agent.model]"
    )


def test_as_json_every_field_is_there() -> None:
    assert to_json(PROBLEM) == {
        "code": "AGT102",
        "severity": "error",
        "file": "team.toml",
        "line": 5,
        "column": 8,
        "key": "models.a.fast",
        "message": "expected true or false, found a string",
        "hint": "remove the quotes: false",
    }


def test_nothing_shown_moves_the_cursor() -> None:
    problem = PROBLEM._replace(source_line="a\x1b[2J\r\x00", message="no \x1b[31m key")

    assert not re.search(r"[\x00\x1b\r]", render_text([problem]) + problem.one_line())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("models", "acme/big", "limit"), 'models."acme/big".limit'),
        (("providers", "p", "steps", 0, "text"), "providers.p.steps[0].text"),
        (("", "é", 'a"b', "\n"), '""."é"."a\\"b"."\\n"'),
        (("\x1b",), '"\\u001b"'),
    ],
)
def test_a_key_path_is_written_as_in_toml(path: tuple[str | int, ...], text: str) -> None:
    assert dotted(path) == text


def test_a_long_text_is_cut_and_a_key_path_is_not() -> None:
    assert quoted("x" * 100) == '"' + "x" * 57 + '..."'
    assert dotted(("a b" * 50,)) == '"' + "a b" * 50 + '"'


@pytest.mark.parametrize(
    ("name", "candidates", "nearest"),
    [
        ("modles", ["modes", "models"], "models"),
        ("model", ["modes", "models"], "models"),
        ("nmae", ["title", "name"], "name"),
        ("apiKey", ["api_key"], "api_key"),
        ("no-changes", ["no_changes", "standard"], "no_changes"),
        ("exec", ["edit", "execute"], "execute"),
        ("txt", ["stop", "text", "tool"], "text"),
        ("temperature", ["name", "title"], None),
        ("none", ["wrong"], None),
        ("x", ["y"], None),
        ("", ["name"], None),
    ],
)
def test_the_nearest_name_is_suggested_and_nothing_far(name: str, candidates: list[str], nearest: str | None) -> None:
    assert closest(name, candidates) == nearest
    assert did_you_mean(name, candidates) == (f"did you mean `{nearest}`?" if nearest else "")


def test_ten_thousand_candidates_take_no_time() -> None:
    candidates = [f"provider-{number % 7}/model-{number}-large" for number in range(10_000)]
    started = time.process_time()

    assert closest("provider-3/modle-4711-large", candidates) in candidates
    assert time.process_time() - started < 2.0  # measured: 0.1


def test_every_code_that_is_used_is_explained_and_no_other() -> None:
    used = {
        code
        for file in PACKAGE.rglob("*.py")
        if file.name != "problems.py"
        for code in re.findall(r'"(AGT\d+)"', file.read_text(encoding="utf-8"))
    }

    assert used <= set(CODES)
    assert all(sentence.endswith(".") for sentence in CODES.values())
    assert list(CODES) == sorted(CODES)
