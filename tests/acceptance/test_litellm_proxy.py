"""Turns through a real LiteLLM proxy on loopback. `make litellm-proxy` installs it and runs these.

AGENTOML_LITELLM_PROXY names its program; without it they are skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from socket import socket

import pytest

from agent_process import agent_process
from servers import http_server, openai, openai_responses
from servers.said import Call, Said

MOCKED_WRONGLY = {("openai-responses", "mock"), ("anthropic", "mock")}
"""Where the proxy does not stream what it makes up: these protocols it only translates."""

PROGRAM = os.environ.get("AGENTOML_LITELLM_PROXY", "")
KEY = "sk-loopback"

pytestmark = [
    pytest.mark.litellm_proxy,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not PROGRAM, reason="opt-in: make litellm-proxy"),
]

AGENT = """
schema = 1
[providers.proxy]
adapter = "{adapter}"
base_url = "{url}{path}"
api_key = {{ env = "PROXY_KEY" }}
[models.mock]
provider = "proxy"
[models.upstream]
provider = "proxy"
[options.model]
values_from = "models"
"""


@asynccontextmanager
async def proxy(folder: Path, upstream: str) -> AsyncIterator[str]:
    """Run a proxy of two models: one that it makes up itself, one that it asks `upstream` for. Gives its URL."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    there = {"model": "openai/there", "api_key": "unused", "api_base": f"{upstream}/v1"}
    mock = {"model": "openai/mock", "api_key": "unused", "mock_response": "Made up."}
    models = [{"model_name": "mock", "litellm_params": mock}, {"model_name": "upstream", "litellm_params": there}]
    config = {"model_list": models, "general_settings": {"master_key": KEY}}
    (folder / "proxy.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "--config", str(folder / "proxy.yaml"), "--host", "127.0.0.1", "--port", str(port)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )
    assert process.stdout is not None
    said: list[str] = []
    reading = None
    try:
        while "Uvicorn running" not in (said[-1] if said else ""):
            line = await process.stdout.readline()
            assert line, f"the proxy ended: {said[-20:]}"
            said.append(line.decode())
        reading = asyncio.create_task(process.stdout.read())  # its pipe must not fill up
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.kill()  # politely it would wait for its own connections
        await process.wait()
        if reading is not None:
            await reading


ADAPTERS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "", "litellm/litellm_proxy": ""}
"""Each adapter, and where under the proxy it asks."""


def upstream(request: http_server.Request) -> http_server.Answer:
    """Ask for a file, then say what it says. The proxy also asks for a list of models by itself."""
    if request.method == "GET":
        return http_server.json_answer({"data": []})
    spoken = openai_responses if request.target.endswith("/responses") else openai
    results = spoken.tool_results(request.json)
    asked = Said(calls=(Call("one", "read_file", {"path": "a.txt"}),))
    return spoken.reply(Said(words=("It says ", *results.values())) if results else asked)


async def test_turns_with_a_tool_call_go_through_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first", encoding="utf-8")
    async with http_server.HttpServer(*[upstream] * 20) as server, proxy(tmp_path, server.url) as url:
        for number, (adapter, path) in enumerate(ADAPTERS.items()):
            config = tmp_path / f"{number}.toml"
            config.write_text(AGENT.format(adapter=adapter, url=url, path=path), encoding="utf-8")
            async with agent_process(config, environment={"PROXY_KEY": KEY}) as agent:
                session = await agent.new_session(tmp_path)
                for model, words in (("upstream", "It says first"), ("mock", "Made up.")):
                    if (adapter, model) in MOCKED_WRONGLY:
                        continue
                    await agent.set(session, "model", model)
                    agent.frames.clear()
                    assert await agent.prompt(session, "what does it say?") == {"stopReason": "end_turn"}, adapter
                    assert agent.said() == words, adapter
