"""Every case, played by a client of the real process: what ACP can show of it, and what reaches the model."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest
from attrs import evolve

from agent_process import RequestFailed, agent_process
from cases_process import moved, running
from cases_runner import EVERYTHING, SHARED_CASES, Case, cases, play, read_case
from fork_server import ForkServer

ALL = [(folder, read_case(folder)) for folder in cases()]
REFUSED = [(folder, case) for folder, case in ALL if case.load_error]
PLAYED = [(folder, case) for folder, case in ALL if not case.load_error]


def name(folder: Path | Case) -> str:
    if isinstance(folder, Case):
        return ""
    return ("shared-" if folder.parent == SHARED_CASES else "") + folder.name


def seen(case: Case) -> Case:
    """A case without what a client can't wait for: half an hour, say."""
    return evolve(case, steps=tuple(takewhile(lambda step: "wait" not in step, case.steps)))


@pytest.mark.parametrize(("folder", "case"), PLAYED, ids=name)
async def test_a_case_comes_out_in_a_real_agent_as_it_says(
    folder: Path, case: Case, tmp_path: Path, processes: ForkServer
) -> None:
    # a look at what is in force is a turn: one that needs credentials, and that ends what lasts for a turn
    ends_by_looking = 'lasts = "turn"' in case.agent.read_text(encoding="utf-8")
    looks = EVERYTHING if case.credentials is True and not ends_by_looking else ("shown", "lists")
    async with running(seen(case), tmp_path, processes.start) as driver:
        assert await play(driver.case, driver, looks=looks) == []


@pytest.mark.parametrize(("folder", "case"), REFUSED, ids=name)
async def test_a_configuration_that_must_be_refused_opens_no_session(
    folder: Path, case: Case, tmp_path: Path, processes: ForkServer
) -> None:
    async with agent_process(moved(case, tmp_path).agent, start=processes.start) as agent:
        with pytest.raises(RequestFailed) as refused:
            await agent.new_session(tmp_path)
        assert refused.value.code == -32603
        assert all("agent.toml:" in problem for problem in refused.value.data["problems"])
