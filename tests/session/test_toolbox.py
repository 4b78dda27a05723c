"""The tools of a session at one moment."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from agentoml.session.sessions import Sessions
from agentoml.session.toolbox import toolbox
from agentoml.snapshot.build import build
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from session.quiet_client import QuietClient
from watched import agent

TINY = Path(__file__).parents[1] / "tools" / "tiny_mcp_server.py"


def snapshot(tmp_path: Path, more: str = "") -> Snapshot:
    config = tmp_path / "agent.toml"
    config.write_text(agent("one", more=more), encoding="utf-8")
    built = build(config).snapshot
    assert built is not None
    return built


async def test_the_tools_of_a_server_that_a_reload_adds_are_for_the_next_turn(tmp_path: Path) -> None:
    sessions, before = Sessions(), snapshot(tmp_path)
    session = sessions.new(QuietClient(), before, ClientFacts(), {"cwd": str(tmp_path)})
    session.opening()
    session.turn = asyncio.create_task(asyncio.Event().wait())  # type: ignore[arg-type]
    after = snapshot(tmp_path, f"[mcp.tiny]\ncommand = {[sys.executable, str(TINY)]!r}\n")
    sessions.take(after, ClientFacts())
    await session.servers.settled()
    try:
        assert "mcp:tiny/echo" in toolbox(session, after, {})
        assert toolbox(session, before, {}) == {}
    finally:
        await sessions.close()
