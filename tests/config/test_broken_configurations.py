"""Broken configurations and all that is said of them: tests/data/problems/NAME.toml, NAME.txt and NAME.json.

Written anew from what is said now, to be read before it is committed, by
AGENTOML_WRITE_EXPECTED=1 pytest tests/config/test_broken_configurations.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentoml.cli.check import check
from agentoml.config.problems import CODES, Problem, render_text, to_json

FOLDER = Path(__file__).parents[1] / "data" / "problems"
BROKEN = sorted(file.stem for file in FOLDER.glob("*.toml"))
WRITE = bool(os.environ.get("AGENTOML_WRITE_EXPECTED"))


def problems_of(file: str) -> tuple[Problem, ...]:
    """Return what is wrong with a configuration at any stage: read, parsed, merged, structured, linked, compiled."""
    problems = check(file).problems
    assert problems
    return problems


@pytest.fixture(autouse=True)
def in_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


def test_there_are_enough_of_them() -> None:
    assert len(BROKEN) >= 60


@pytest.mark.parametrize("name", BROKEN)
def test_everything_wrong_is_said_at_its_place(name: str) -> None:
    problems = problems_of(f"{name}.toml")
    text = render_text(problems) + "\n"
    data = json.dumps([to_json(problem) for problem in problems], indent=2, ensure_ascii=False) + "\n"
    if WRITE:
        Path(f"{name}.txt").write_text(text, encoding="utf-8")
        Path(f"{name}.json").write_text(data, encoding="utf-8")

    assert text == Path(f"{name}.txt").read_text(encoding="utf-8")
    assert json.loads(data) == json.loads(Path(f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", BROKEN)
def test_every_problem_has_a_known_code_and_a_place_and_no_secret(name: str) -> None:
    for problem in problems_of(f"{name}.toml"):
        assert problem.code in CODES
        assert problem.file
        assert problem.line or problem.code == "AGT003"
        assert not problem.message.endswith(".")
        said = problem.one_line() + render_text([problem]) + json.dumps(to_json(problem))
        assert "marker" not in said
        assert "pa55" not in said


def test_nothing_expected_is_left_over() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(BROKEN)
    assert {file.stem for file in FOLDER.glob("*.json")} == set(BROKEN)
