"""Servers that are reached by URL: the `mcp` library's own server on loopback."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Literal

import pytest

from agentoml.config.schema import McpServer
from agentoml.config.vocabulary.notation import Secret
from agentoml.errors import ToolError
from agentoml.tools.mcp import McpServers
from agentoml.tools.mcp_server import Surroundings
from agentoml.tools.tool import ToolContext
from tools.notices import Notices


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_server_by_url_is_called_with_its_headers_and_goes_away_alone(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch, transport: Literal["http", "sse"]
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hush")
    monkeypatch.setenv("no_proxy", "*")
    notices = Notices()
    servers = McpServers(Surroundings(context.cwd, context.roots, context.environment), notices)
    script = str(Path(__file__).with_name("web_mcp_server.py"))
    web = await asyncio.create_subprocess_exec(sys.executable, script, transport, stdout=asyncio.subprocess.PIPE)
    try:
        assert web.stdout is not None
        url = (await web.stdout.readline()).decode().strip()
        servers.want({"web": McpServer(url=url, transport=transport, headers={"x-token": Secret(env="MY_TOKEN")})})
        await servers.settled()
        assert servers.statuses()[0].problem == ""
        tool = servers.tools()["mcp:web/header"]
        assert (await tool.run({"name": "x-token"}, context)).text == "hush"

        web.kill()
        await web.wait()
        with pytest.raises(ToolError, match="the MCP server web ended during the call"):
            await tool.run({"name": "x-token"}, context)
        assert (await notices.until(lambda status: status.state == "failed")).problem
        assert servers.tools() == {}
    finally:
        if web.returncode is None:
            web.kill()
            await web.wait()
        await servers.close()
