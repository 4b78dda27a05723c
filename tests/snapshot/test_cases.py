"""Every case, played on the compiled configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases_runner import SHARED_CASES, ResolvedDriver, cases, play, read_case, refusal

ALL = cases()
LOOKS = ("shown", "lists", "profile", "request", "instructions", "tools")


def name(folder: Path) -> str:
    return ("shared-" if folder.parent == SHARED_CASES else "") + folder.name


@pytest.mark.parametrize("folder", ALL, ids=name)
async def test_a_case_comes_out_as_it_says(folder: Path) -> None:
    case = read_case(folder)
    if case.load_error:
        problems = refusal(case)
        told = " ".join(f"{problem.one_line()} {problem.key}" for problem in problems).lower()
        assert problems, "the configuration should be refused"
        assert [word for word in case.load_error if word.lower() not in told] == []
        return
    assert await play(case, ResolvedDriver.of(case), looks=LOOKS) == []
