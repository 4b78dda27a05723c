"""The tool `shell` in a terminal of the client: shown there, read, and released whatever happens."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

from agent_process import EVERYTHING, Frame, agent_process, choose
from servers import http_server, openai

AGENT = """
schema = 1
[providers.loopback]
adapter = "openai"
base_url = "{url}/v1"
api_key = {{ env = "LOOPBACK_KEY" }}
[models.m]
provider = "loopback"
"""


class Terminals:
    """The terminals of an editor: a command is run when it is waited for, `exec sleep` never ends."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.created: Frame = {}
        self.ran: subprocess.CompletedProcess[str] | None = None

    def answers(self) -> dict[str, Any]:
        names = ("create", "wait_for_exit", "output", "kill", "release")
        return {f"terminal/{name}": getattr(self, name) for name in names}

    def create(self, params: Frame) -> Frame:
        self.asked.append("create")
        self.created = params
        return {"terminalId": "term-1"}

    def wait_for_exit(self, params: Frame) -> Any:
        self.asked.append("wait_for_exit")
        argv = [self.created["command"], *self.created["args"]]
        if "exec sleep" in argv[-1]:
            return asyncio.get_running_loop().create_future()
        theirs = {variable["name"]: variable["value"] for variable in self.created["env"]}
        self.ran = subprocess.run(
            argv, cwd=self.created["cwd"], env={**os.environ, **theirs}, text=True, capture_output=True
        )
        return {"exitCode": self.ran.returncode}

    def output(self, params: Frame) -> Frame:
        self.asked.append("output")
        assert self.ran is not None
        return {"output": self.ran.stdout, "truncated": False}

    def kill(self, params: Frame) -> Frame:
        self.asked.append("kill")
        return {}

    def release(self, params: Frame) -> Frame:
        self.asked.append("release")
        return {}


async def test_a_command_runs_in_the_clients_terminal_without_our_secrets(tmp_path: Path) -> None:
    terminals = Terminals()
    calls = openai.calls(("1", "shell", {"command": "pwd; echo [$LOOPBACK_KEY]"}))
    async with http_server.HttpServer(calls, openai.says("Done.")) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        answers = {**terminals.answers(), "session/request_permission": choose("allow_once")}
        environment = {"LOOPBACK_KEY": "sk-marker-90cd"}
        async with agent_process(config, answers=answers, environment=environment, initialize=False) as agent:
            await agent.initialize({**EVERYTHING, "terminal": True})
            await agent.prompt(await agent.new_session(tmp_path), "where are we?")
    assert terminals.asked == ["create", "wait_for_exit", "output", "release"]
    assert terminals.created["cwd"] == str(tmp_path)
    shown = [update["content"] for update in agent.updates("tool_call_update") if update.get("content")]
    assert shown[0] == [{"type": "terminal", "terminalId": "term-1"}]
    assert openai.tool_results(server.requests[1].json)["1"] == f"{tmp_path}\n[]\n[exit code 0]"


async def test_a_cancelled_command_gives_its_terminal_back(tmp_path: Path) -> None:
    terminals = Terminals()
    async with http_server.HttpServer(openai.calls(("1", "shell", {"command": "exec sleep 300"}))) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        answers = {**terminals.answers(), "session/request_permission": choose("allow_once")}
        environment = {"LOOPBACK_KEY": "x"}
        async with agent_process(config, answers=answers, environment=environment, initialize=False) as agent:
            await agent.initialize({**EVERYTHING, "terminal": True})
            session = await agent.new_session(tmp_path)
            running = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[TEXT])
            await agent.until(lambda: "wait_for_exit" in terminals.asked)
            agent.notify("session/cancel", sessionId=session["sessionId"])
            assert await asyncio.wait_for(running, 20) == {"stopReason": "cancelled"}
            await agent.until(lambda: "release" in terminals.asked)


TEXT = {"type": "text", "text": "sleep"}
