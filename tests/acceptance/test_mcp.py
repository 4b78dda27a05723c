"""MCP servers in real turns: declared in TOML, switched by an option, brought by the client, dead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from agent_process import EVERYTHING, agent_process, choose
from servers import http_server, openai

SERVER = Path(__file__).parents[1] / "tools" / "tiny_mcp_server.py"
NOTICES = {**EVERYTHING, "session": {"configOptions": {"boolean": {}}, "notices": {}}}

AGENT = """
schema = 1
[providers.loopback]
adapter = "openai"
base_url = "{url}/v1"
[models.m]
provider = "loopback"
[options.echo]
type = "boolean"
name = "Echo"
on = {{ set = {{ mcp.echo = true }} }}
[mcp.echo]
enabled = false
command = ["{python}", "{server}"]
tools = ["echo", "crash"]
[tool_kinds]
"mcp:echo/*" = "read"
"""


def write(tmp_path: Path, url: str) -> Path:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT.format(url=url, python=sys.executable, server=SERVER), encoding="utf-8")
    return config


def told(request: http_server.Request) -> set[str]:
    """The names of the tools that the model was told of."""
    return {tool["function"]["name"] for tool in request.json["tools"]}


async def test_a_server_is_off_until_an_option_says_otherwise_and_then_answers_in_a_turn(tmp_path: Path) -> None:
    calls = openai.calls(("1", "mcp__echo__echo", {"text": "over there"}))
    async with http_server.HttpServer(openai.says("No."), calls, openai.says("Done.")) as server:
        async with agent_process(write(tmp_path, server.url)) as agent:
            session = await agent.new_session(tmp_path)
            await agent.prompt(session, "any servers?")
            assert "mcp__echo__echo" not in told(server.requests[0])
            await agent.set(session, "echo", True)
            await agent.prompt(session, "echo")
    found = {name for name in told(server.requests[1]) if name.startswith("mcp__")}
    assert found == {"mcp__echo__echo", "mcp__echo__crash"}, "those that the declaration takes"
    assert "over there" in server.requests[2].json["messages"][-1]["content"]
    assert agent.updates("tool_call")[0]["kind"] == "read", "the declared kind, so nobody is asked"


async def test_a_server_of_the_client_answers_and_is_asked_about(tmp_path: Path) -> None:
    calls = openai.calls(("1", "mcp__mine__echo", {"text": "mine"}))
    async with http_server.HttpServer(calls, openai.says("Done.")) as server:
        answers = {"session/request_permission": choose("allow_once")}
        async with agent_process(write(tmp_path, server.url), answers=answers) as agent:
            mine = {"name": "mine", "command": sys.executable, "args": [str(SERVER)], "env": []}
            session = await agent.request("session/new", cwd=str(tmp_path), mcpServers=[mine])
            await agent.prompt(session, "echo")
    asked = [frame for frame in agent.frames if frame.get("method") == "session/request_permission"]
    assert len(asked) == 1
    assert "mine" in server.requests[1].json["messages"][-1]["content"]


async def test_a_server_of_the_client_that_takes_a_declared_name_gets_none_of_its_kinds(tmp_path: Path) -> None:
    calls = openai.calls(("1", "mcp__echo__echo", {"text": "x"}))
    async with http_server.HttpServer(calls, openai.says("Done.")) as server:
        answers = {"session/request_permission": choose("reject_once")}
        async with agent_process(write(tmp_path, server.url), answers=answers) as agent:
            shadow = {"name": "echo", "command": sys.executable, "args": [str(SERVER)], "env": []}
            session = await agent.request("session/new", cwd=str(tmp_path), mcpServers=[shadow])
            await agent.set(session, "echo", True)
            await agent.prompt(session, "echo")
    asked = [frame for frame in agent.frames if frame.get("method") == "session/request_permission"]
    assert len(asked) == 1, "read is allowed by the declared kind, which does not count here"


async def test_a_server_that_dies_takes_its_tools_with_it_and_is_back_with_the_next_prompt(tmp_path: Path) -> None:
    crash = openai.calls(("1", "mcp__echo__crash", {}))
    echo = openai.calls(("2", "mcp__echo__echo", {"text": "as before"}))
    async with http_server.HttpServer(crash, openai.says("Oh."), echo, openai.says("Fine.")) as server:
        async with agent_process(write(tmp_path, server.url), initialize=False) as agent:
            await agent.initialize(NOTICES)
            session = await agent.new_session(tmp_path)
            await agent.set(session, "echo", True)
            assert await agent.prompt(session, "crash") == {"stopReason": "end_turn"}
            notices: list[Any] = await agent.until(lambda: agent.updates("notice"))
            assert await agent.prompt(session, "and now?") == {"stopReason": "end_turn"}
    assert "echo" in notices[0]["title"] and "with the next prompt" in notices[0]["description"]
    assert "ended during the call: crashed with" in server.requests[1].json["messages"][-1]["content"]
    assert not [name for name in told(server.requests[1]) if name.startswith("mcp__")], "gone with the server"
    assert "as before" in server.requests[3].json["messages"][-1]["content"]


async def test_a_server_that_can_not_start_is_told_once_and_the_session_works(tmp_path: Path) -> None:
    async with http_server.HttpServer(openai.says("Hello."), openai.says("Still here.")) as server:
        config = write(tmp_path, server.url)
        config.write_text(config.read_text(encoding="utf-8").replace(sys.executable, "/no/such/program"), "utf-8")
        async with agent_process(config, initialize=False) as agent:
            await agent.initialize(NOTICES)
            session = await agent.new_session(tmp_path)
            await agent.set(session, "echo", True)
            for words in ("hello", "and now?"):
                assert await agent.prompt(session, words) == {"stopReason": "end_turn"}
    (notice,) = agent.updates("notice")
    assert notice["description"] == "/no/such/program can't be started: No such file or directory"
