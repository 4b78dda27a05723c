"""The client of the official Python SDK drives the real process, from initialize to cancel."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import acp
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    FileSystemCapabilities,
    Implementation,
    ReadTextFileResponse,
    RequestPermissionResponse,
    WriteTextFileResponse,
)

AGENT = """
schema = 1
[agent]
name = "sdk-demo"
version = "1.2.3"
instructions = "Help."

[providers.offline]
adapter = "scripted"
[providers.offline.replies.edit]
match = "*edit*"
steps = [
  { thought = "The file first." },
  { tool = "read_file", args = { path = "hello.txt" } },
  { tool = "edit_file", args = { path = "hello.txt", old_text = "world", new_text = "ACP" } },
  { text = "Edited." },
]
[providers.offline.replies.slow]
match = "*slow*"
steps = [{ text = "Starting." }, { wait = "10m", text = "Never said." }]

[models.one]
provider = "offline"
reasoning = { values = ["low", "high"], default = "low" }
[models.two]
provider = "offline"

[modes.ask]
name = "Ask"
set = { permissions = "no-changes" }
[modes.code]
name = "Code"

[options.mode]
default = "code"
[options.model]
category = "model"
values_from = "models"
[options.thought_level]
category = "thought_level"
values_from = "model.reasoning"
[options.fast]
type = "boolean"
"""


class Editor(acp.Client):
    """An editor that shows everything, allows everything and keeps its files itself."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.started = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)
        if update.session_update == "agent_message_chunk":
            self.started.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **kwargs: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        allow = next(option for option in options if option.kind == "allow_once")
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=allow.option_id))

    async def read_text_file(self, session_id: str, path: str, **kwargs: Any) -> ReadTextFileResponse:
        return ReadTextFileResponse(content=Path(path).read_text(encoding="utf-8"))

    async def write_text_file(self, session_id: str, path: str, content: str, **kwargs: Any) -> WriteTextFileResponse:
        Path(path).write_text(content, encoding="utf-8")
        return WriteTextFileResponse()

    def kinds(self) -> list[str]:
        return [update.session_update for update in self.updates]


async def test_initialize_to_cancel(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    (tmp_path / "hello.txt").write_text("hello world\n", encoding="utf-8")
    editor = Editor()
    command = (sys.executable, "-P", "-m", "agentoml", "run", str(config))
    async with acp.spawn_agent_process(lambda _: editor, *command) as (agent, process):
        capabilities = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))
        greeting = await agent.initialize(
            protocol_version=1, client_capabilities=capabilities, client_info=Implementation(name="sdk", version="1")
        )
        assert (greeting.agent_info.name, greeting.agent_info.version) == ("sdk-demo", "1.2.3")

        session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        assert [mode.id for mode in session.modes.available_modes] == ["ask", "code"]
        assert [option.id for option in session.config_options] == ["mode", "model", "thought_level", "fast"]
        assert session.config_options[3].type == "select", "a client without booleans is never sent one"

        switched = await agent.set_config_option(config_id="model", session_id=session.session_id, value="two")
        assert [option.id for option in switched.config_options] == ["mode", "model", "fast"]
        await agent.set_session_mode(session_id=session.session_id, mode_id="ask")
        await agent.set_session_mode(session_id=session.session_id, mode_id="code")

        answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("edit it")])
        assert answer.stop_reason == "end_turn"
        assert (tmp_path / "hello.txt").read_text(encoding="utf-8") == "hello ACP\n"
        assert len(editor.asked) == 1
        assert editor.asked[0].content[0].type == "diff"
        assert {"agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"} <= set(editor.kinds())

        editor.started.clear()
        running = asyncio.create_task(agent.prompt(session_id=session.session_id, prompt=[acp.text_block("be slow")]))
        await asyncio.wait_for(editor.started.wait(), 20)
        await agent.cancel(session_id=session.session_id)
        assert (await asyncio.wait_for(running, 20)).stop_reason == "cancelled"
    assert process.returncode == 0
