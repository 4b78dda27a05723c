"""One session with a real agent process, told in short: what was said, what became of a call, what is shown.

async with conversation(config, project) as talk:
    assert await talk.verdict("write") == "asked"
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Literal

from attrs import define

from agent_process import AgentProcess, Frame, agent_process, choose, offered

Verdict = Literal["ran", "asked", "denied"]


@define
class Conversation:
    """Every question is answered in the same way; with yes, a call that was asked about ran, too."""

    agent: AgentProcess
    session: Frame
    project: Path

    async def said(self, words: str) -> str:
        """Say something and return the answer."""
        before = len(self.agent.said())
        await self.agent.prompt(self.session, words)
        return self.agent.said()[before:]

    async def verdict(self, words: str) -> Verdict:
        """Say something that makes the model call a tool, and return what became of the call."""
        start = len(self.agent.frames)
        await self.agent.prompt(self.session, words)
        frames = self.agent.frames[start:]
        if any(frame.get("method") == "session/request_permission" for frame in frames):
            return "asked"
        updates = [frame["params"]["update"] for frame in frames if frame.get("method") == "session/update"]
        assert any(update["sessionUpdate"] == "tool_call" for update in updates), "the model called no tool"
        texts = [str(update.get("content")) for update in updates if update["sessionUpdate"] == "tool_call_update"]
        return "denied" if any("Denied by the permission rules" in content for content in texts) else "ran"

    async def set(self, option: str, value: str | bool) -> dict[str, object]:
        return await self.agent.set(self.session, option, value)

    async def listed(self, option: str) -> list[str]:
        """What an option offers now."""
        return offered(self.option(option))

    def option(self, name: str) -> Frame:
        return next(option for option in self.options() if option["id"] == name)

    def options(self) -> list[Frame]:
        """The list that a client has which only replaced lists."""
        lists = [self.session["configOptions"]]
        for frame in self.agent.frames:
            update = (frame.get("params") or {}).get("update", {})
            source = update if update.get("sessionUpdate") == "config_option_update" else frame.get("result") or {}
            if "configOptions" in source and "sessionId" not in source:
                lists.append(source["configOptions"])
        return list(lists[-1])


@contextlib.asynccontextmanager
async def conversation(
    config: Path, project: Path, answer: str = "allow_once", environment: Mapping[str, str] | None = None
) -> AsyncIterator[Conversation]:
    """Open a session in `project` with the agent of `config`; `answer` is the option that answers every question."""
    answers = {"session/request_permission": choose(answer)}
    async with agent_process(config, answers=answers, environment=environment) as agent:
        yield Conversation(agent, await agent.new_session(project), project)
