"""Processes that are forked end as those do that are started: what tests see of their end is the truth."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_process import agent_process
from fork_server import ForkServer, fork_server


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with fork_server() as started:
        yield started


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--version",), 0, ""),
        (("run", "one", "two"), 2, "`two` is not understood"),
        (("check", "--what"), 2, "unrecognized arguments"),
    ],
)
async def test_the_exit_code_is_that_of_the_command(
    server: ForkServer, arguments: tuple[str, ...], code: int, said: str
) -> None:
    process = await server.start(arguments, {})
    errors = (await process.stderr.read()).decode()
    assert (await process.wait(), process.returncode) == (code, code)
    assert said in errors


async def test_a_signal_is_told_from_an_exit_code(server: ForkServer) -> None:
    process = await server.start(("run",), {})
    process.kill()
    assert await process.wait() == -signal.SIGKILL


async def test_an_agent_that_fails_fails_its_test(server: ForkServer, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        async with agent_process(tmp_path / "agent.toml", start=server.start) as agent:
            agent.process.kill()
