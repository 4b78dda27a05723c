"""MCP servers that nobody here wrote answer tool calls in a turn. `make mcp-servers` installs them.

They are skipped where they are not installed, unless AGENTOML_REQUIRE_MCP_SERVERS is set.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_process import agent_process, choose
from servers import http_server, openai

pytestmark = pytest.mark.mcp_servers

INSTALLED = Path(sys.prefix, "mcp-servers", "bin")
"""Where `make mcp-servers` puts them."""

AGENT = """
schema = 1
[providers.loopback]
adapter = "openai"
base_url = "{url}/v1"
[models.m]
provider = "loopback"
capabilities = ["tools", "images"]
[mcp.theirs]
command = {command}
startup_timeout = "30s"
"""


def installed(program: str) -> str:
    found = shutil.which(program, path=f"{INSTALLED}{os.pathsep}{os.environ['PATH']}")
    if found is None and os.environ.get("AGENTOML_REQUIRE_MCP_SERVERS"):
        pytest.fail(f"{program} is required and not installed")
    if found is None:
        pytest.skip(f"{program} is not installed: make mcp-servers")
    return found


async def request_with_results(folder: Path, command: list[str], *calls: tuple[str, dict[str, Any]]) -> Any:
    """Play a turn whose model calls tools of a server; return the request that brings it their results."""
    ids = [(f"call-{index}", f"mcp__theirs__{name}", args) for index, (name, args) in enumerate(calls)]
    config = folder / "agent.toml"
    answers = {"session/request_permission": choose("allow_once")}
    async with http_server.HttpServer(openai.calls(*ids), openai.says("So be it.")) as server:
        words = json.dumps([installed(command[0]), *command[1:]])
        config.write_text(AGENT.format(url=server.url, command=words), encoding="utf-8")
        async with agent_process(config, answers=answers) as agent:
            assert await agent.prompt(await agent.new_session(folder), "go") == {"stopReason": "end_turn"}
    assert agent.said() == "So be it."
    finals = {update["toolCallId"]: update["status"] for update in agent.updates("tool_call_update")}
    assert list(finals.values()) == ["completed"] * len(calls), agent.errors
    return server.requests[1].json


def commit(folder: Path, message: str) -> None:
    git = ("git", "-C", str(folder), "-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", message)):
        subprocess.run((*git, *words), check=True)


async def test_mcp_server_git_tells_the_log(tmp_path: Path) -> None:
    commit(tmp_path, "The first one")

    body = await request_with_results(tmp_path, ["mcp-server-git"], ("git_log", {"repo_path": str(tmp_path)}))

    assert "The first one" in openai.tool_results(body)["call-0"]


async def test_mcp_server_time_converts(tmp_path: Path) -> None:
    args = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}

    body = await request_with_results(tmp_path, ["mcp-server-time"], ("convert_time", args))

    assert json.loads(openai.tool_results(body)["call-0"])["target"]["datetime"][11:16] == "21:00"


async def test_server_everything_answers_several_calls_at_once(tmp_path: Path) -> None:
    calls = (("echo", {"message": "hi"}), ("get-sum", {"a": 1, "b": 2}), ("get-tiny-image", {}))

    body = await request_with_results(tmp_path, ["mcp-server-everything", "stdio"], *calls)

    results = openai.tool_results(body)
    assert "Echo: hi" in results["call-0"]
    assert "is 3" in results["call-1"]
    assert [kind for kind, _ in openai.images(body)] == ["image/png"]
