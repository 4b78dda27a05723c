"""Every verdict of every case."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases_runner import SHARED_CASES, ResolvedDriver, cases, play, read_case

WITH_VERDICTS = [folder for folder in cases() if "verdicts" in (folder / "case.toml").read_text(encoding="utf-8")]


def name(folder: Path) -> str:
    return ("shared-" if folder.parent == SHARED_CASES else "") + folder.name


@pytest.mark.parametrize("folder", WITH_VERDICTS, ids=name)
async def test_every_verdict_of_a_case_comes_out_as_it_says(folder: Path) -> None:
    case = read_case(folder)
    assert await play(case, ResolvedDriver.of(case), looks=("verdicts",)) == []
