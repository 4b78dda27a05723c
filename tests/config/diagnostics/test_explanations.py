"""Every code is explained, and its example shows it. docs/problems.md is written from both; anew by

AGENTOML_WRITE_EXPECTED=1 pytest tests/config/diagnostics/test_explanations.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentoml.cli.check import check
from agentoml.config.diagnostics.explanations import explanations
from agentoml.config.problems import CODES, Problem, render_text

REPOSITORY = Path(__file__).parents[3]
PAGE = REPOSITORY / "docs" / "problems.md"
BROKEN = REPOSITORY / "tests" / "data" / "problems"
WRITE = bool(os.environ.get("AGENTOML_WRITE_EXPECTED"))

EXPLAINED = explanations()
SHOWN = [code for code, explanation in EXPLAINED.items() if explanation.wrong]
NOT_SHOWN = {"AGT001", "AGT308", "AGT309", "AGT352", "AGT901"}
"""A file that is not there, a command line, a project, a policy, and a fault of ours: no broken file has them."""

INTRODUCTION = """# Problems

Every problem has a code that stays what it is, a place, and mostly a remedy. `agentoml check` shows all of them at
once, `agentoml check --format json|github|sarif` for other programs, `agentoml check --explain CODE` this page.
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def problems_of(text: str) -> tuple[Problem, ...]:
    Path("agent.toml").write_text(text, encoding="utf-8")
    return check("agent.toml").problems


def test_every_code_is_explained() -> None:
    assert [code for code, explanation in EXPLAINED.items() if not explanation.about] == []
    assert list(EXPLAINED) == list(CODES)


@pytest.mark.parametrize("code", SHOWN)
def test_the_example_has_this_problem_and_no_other(code: str) -> None:
    assert {problem.code for problem in problems_of(EXPLAINED[code].wrong)} == {code}


@pytest.mark.parametrize("code", SHOWN)
def test_what_stands_beside_it_instead_has_none(code: str) -> None:
    assert problems_of(EXPLAINED[code].right) == ()


def test_what_has_no_example_has_a_broken_configuration() -> None:
    found = {
        problem["code"] for file in BROKEN.glob("*.json") for problem in json.loads(file.read_text(encoding="utf-8"))
    }
    assert set(CODES) - set(SHOWN) - found == NOT_SHOWN


def test_the_page_of_all_problems_is_fresh() -> None:
    sections = [
        explanation.markdown(render_text(problems_of(explanation.wrong)) if explanation.wrong else "")
        for explanation in EXPLAINED.values()
    ]
    page = "\n\n".join((INTRODUCTION.strip(), *sections)) + "\n"
    if WRITE:
        PAGE.write_text(page, encoding="utf-8")
    assert page == PAGE.read_text(encoding="utf-8")
