"""litellm and mcp, seconds of CPU to import, are imported when something needs them and never in anybody's way.

The interpreter itself tells on stderr what it imports, in the order in which the imports end.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

import pytest

from agent_process import AgentProcess, Frame, agent_process
from servers import http_server, openai

REPORT_IMPORTS = {"PYTHONPROFILEIMPORTTIME": "1", "LOOPBACK_KEY": "sk-marker-77aa"}
SERVER = Path(__file__).parents[1] / "tools" / "tiny_mcp_server.py"

AGENT = """
schema = 1
[providers.offline]
adapter = "scripted"
[providers.gateway]
adapter = "litellm/openai"
base_url = "{url}/v1"
api_key = {{ env = "LOOPBACK_KEY" }}
[models.here]
provider = "offline"
[models.there]
provider = "gateway"
[options.model]
values_from = "models"
default = "{model}"
[options.echo]
type = "boolean"
on = {{ set = {{ mcp.echo = true }} }}
[options.persona.values.short]
[options.persona.values.long]
[mcp.echo]
enabled = false
command = ["{python}", "{server}"]
"""


def write(tmp_path: Path, url: str, model: str) -> Path:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT.format(url=url, model=model, python=sys.executable, server=SERVER), encoding="utf-8")
    return config


def imported(agent: AgentProcess) -> set[str]:
    """What has been imported wholly."""
    return {line.rpartition("|")[2].strip() for line in agent.errors if line.startswith("import time:")}


def begun(agent: AgentProcess, package: str) -> bool:
    return any(name.startswith(f"{package}.") for name in imported(agent))


async def latencies_until(agent: AgentProcess, session: Frame, done: asyncio.Future[Frame]) -> list[float]:
    """Set an option over and over until `done`; how long each answer took, in ms."""
    taken = []
    while not done.done():
        before = time.perf_counter()
        await agent.set(session, "persona", ("short", "long")[len(taken) % 2])
        taken.append((time.perf_counter() - before) * 1000)
    return taken


def report(what: str, taken: list[float]) -> None:
    p99 = sorted(taken)[int(len(taken) * 0.99)]
    figures = f"p50 {median(taken):.1f}, p99 {p99:.1f}, max {max(taken):.1f}"
    print(f"\n{what}: set_config_option {len(taken)} times, ms: {figures}")


@pytest.mark.litellm
@pytest.mark.timeout(180)
async def test_litellm_and_mcp_are_imported_when_needed_and_options_still_answer_meanwhile(tmp_path: Path) -> None:
    async with http_server.HttpServer(openai.says("Over there.")) as server:
        async with agent_process(write(tmp_path, server.url, "here"), environment=REPORT_IMPORTS) as agent:
            session = await agent.new_session(tmp_path)
            await agent.prompt(session, "hello")
            await agent.set(session, "persona", "long")
            assert "agentoml.models.scripted" in imported(agent)
            assert not {"litellm", "openai", "mcp", "mcp_types", "pydantic"} & imported(agent)

            await agent.set(session, "echo", True)
            prompted = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[TEXT])
            taken = await latencies_until(agent, session, prompted)
            report("while mcp is imported", taken)
            assert len(taken) > 20, "options answer all along"
            assert "mcp" in imported(agent) and "litellm" not in imported(agent)

            await agent.set(session, "model", "there")
            prompted = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[TEXT])
            taken = await latencies_until(agent, session, prompted)
            assert (await prompted)["stopReason"] == "end_turn"
            report("while litellm is imported", taken)
            assert len(taken) > 20, "options answer all along"
            assert "litellm" in imported(agent)
            assert agent.said().endswith("Over there.")
    noise = [line for line in agent.errors if not line.startswith("import time:")]
    assert noise == [], "litellm says nothing"


@pytest.mark.litellm
async def test_litellm_is_warmed_by_a_session_whose_model_needs_it_and_keeps_nobody_from_leaving(
    tmp_path: Path,
) -> None:
    async with agent_process(write(tmp_path, "http://127.0.0.1:9", "there"), environment=REPORT_IMPORTS) as agent:
        assert not begun(agent, "litellm")
        await agent.new_session(tmp_path)
        await agent.until(lambda: begun(agent, "litellm"))
        assert agent.process.stdin is not None
        agent.process.stdin.close()
        closed = time.perf_counter()
        assert await agent.process.wait() == 0
        print(f"\nstdin closed during the import -> gone: {(time.perf_counter() - closed) * 1000:.0f} ms")
    assert "litellm" not in imported(agent), "nobody waited for it"


TEXT = {"type": "text", "text": "hello"}
