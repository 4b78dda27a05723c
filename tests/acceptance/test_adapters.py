"""Every real adapter in turns of the real process, against a server that speaks its protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import ModuleType

import pytest

from agent_process import agent_process, text
from servers import anthropic, openai, openai_responses
from servers.http_server import HttpServer
from servers.said import Call, Said, Tokens

AGENT = """
schema = 1
[agent]
prompt = ["image"]
[providers.loopback]
adapter = "{adapter}"
base_url = "{url}/v1"
api_key = {{ env = "LOOPBACK_KEY" }}
[models.m]
provider = "loopback"
limit = {{ context = 1000 }}
capabilities = ["tools", "images"]
"""

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("adapter", "spoken"),
    [
        ("openai", openai),
        ("openai-responses", openai_responses),
        ("anthropic", anthropic),
        pytest.param("litellm/openai", openai, marks=[pytest.mark.litellm, pytest.mark.timeout(120)]),
    ],
)
async def test_turns_from_the_first_thought_to_a_cancel(tmp_path: Path, adapter: str, spoken: ModuleType) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"file {name}", encoding="utf-8")
    calls = (Call("call_a", "read_file", {"path": "a"}), Call("call_b", "read_file", {"path": "b"}))
    answers = (
        Said(thoughts=("Both ", "files."), words=("I look.",), calls=calls, tokens=Tokens(100, 30, 60, 7)),
        Said(words=(" Done.",), tokens=Tokens(150, 5)),
        Said(words=("Half",), stop="max_tokens"),
        Said(words=("No.",), stop="refusal"),
        Said(words=("Once", asyncio.Event())),
    )
    async with HttpServer(*map(spoken.reply, answers)) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(adapter=adapter, url=server.url), encoding="utf-8")
        async with agent_process(config, environment={"LOOPBACK_KEY": "sk-marker-31d0"}) as agent:
            session = await agent.new_session(tmp_path)
            looked = await asyncio.wait_for(
                agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[text("look"), IMAGE]), 90
            )
            assert looked == {"stopReason": "end_turn"}
            assert (agent.said("agent_thought_chunk"), agent.said()) == ("Both files.", "I look. Done.")
            assert [update["used"] for update in agent.updates("usage_update")] == [130, 155]

            assert await agent.prompt(session, "long") == {"stopReason": "max_tokens"}
            assert await agent.prompt(session, "bad") == {"stopReason": "refusal"}

            running = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[text("a story")])
            await agent.until(lambda: agent.said().endswith("Once"))
            agent.notify("session/cancel", sessionId=session["sessionId"])
            assert await asyncio.wait_for(running, 20) == {"stopReason": "cancelled"}
            await asyncio.wait_for(server.exchanges[4].hung_up.wait(), 20)
    first, second = (request.json for request in server.requests[:2])
    assert spoken.images(first) == [("image/png", "aGk=")]
    assert spoken.tool_results(second) == {"call_a": "file a", "call_b": "file b"}
    assert spoken.thoughts_sent_back(second) == ["Both files."]
    assert "sk-marker" not in f"{agent.frames}{agent.errors}"
