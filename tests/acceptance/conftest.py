"""Agents that start quickly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fork_server import ForkServer, fork_server


@pytest.fixture(scope="session")
def processes() -> Iterator[ForkServer]:
    """Starts real agents for tests that need many: `agent_process(config, start=processes.start)`."""
    with fork_server() as server:
        yield server
