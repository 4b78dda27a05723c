"""Servers that nobody here wrote. They run where they are installed:

pip install mcp-server-git mcp-server-time; npm install -g @modelcontextprotocol/server-everything
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from agentoml.config.notation import Duration
from agentoml.config.schema import McpServer
from agentoml.tools.mcp import McpServers
from agentoml.tools.mcp_server import Surroundings
from agentoml.tools.tool import ToolContext, ToolResult

pytestmark = pytest.mark.mcp_servers


async def answer(context: ToolContext, server: McpServer, tool: str, **args: object) -> ToolResult:
    """Start the server, call one of its tools and end it."""
    assert server.command is not None
    if shutil.which(server.command[0], path=context.environment["PATH"]) is None:
        pytest.skip(f"{server.command[0]} is not installed")
    servers = McpServers(Surroundings(context.cwd, context.roots, context.environment), lambda status: None)
    try:
        servers.want({"real": server})
        await servers.settled()
        assert servers.statuses()[0].problem == ""
        return await servers.tools()[f"mcp:real/{tool}"].run(args, context)
    finally:
        await servers.close()


def commit(directory: Path, message: str) -> None:
    git = ("git", "-C", str(directory), "-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", message)):
        subprocess.run((*git, *words), check=True)


async def test_mcp_server_git_tells_the_log(context: ToolContext, tmp_path: Path) -> None:
    commit(tmp_path, "The first one")

    result = await answer(context, McpServer(command=("mcp-server-git",)), "git_log", repo_path=str(tmp_path))

    assert "The first one" in result.text


async def test_mcp_server_time_converts(context: ToolContext) -> None:
    args = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}

    result = await answer(context, McpServer(command=("mcp-server-time",)), "convert_time", **args)

    assert json.loads(result.text)["target"]["datetime"][11:16] == "21:00"


@pytest.mark.parametrize(
    ("tool", "args", "said"), [("echo", {"message": "hi"}, "Echo: hi"), ("get-sum", {"a": 1, "b": 2}, "is 3")]
)
async def test_server_everything_answers(context: ToolContext, tool: str, args: dict[str, object], said: str) -> None:
    server = McpServer(command=("mcp-server-everything", "stdio"), startup_timeout=Duration(30))

    assert said in (await answer(context, server, tool, **args)).text


async def test_server_everything_gives_an_image(context: ToolContext) -> None:
    result = await answer(context, McpServer(command=("mcp-server-everything", "stdio")), "get-tiny-image")

    assert result.images[0].mime_type == "image/png"
