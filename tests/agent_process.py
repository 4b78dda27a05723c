"""A real `agentoml run` process and a raw client of it: every frame that comes out is validated.

async with agent_process(config) as agent:
    session = await agent.new_session(tmp_path)
    answer = await agent.request("session/prompt", sessionId=session["sessionId"], prompt=[text("hi")])
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from schema_frames import check_frame

WAIT_SECONDS = 45.0
"""A machine may be busy: what is waited for comes at once, or not at all."""

Frame = dict[str, Any]

EVERYTHING: Frame = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "session": {"configOptions": {"boolean": {}}},
}


class RequestFailed(Exception):
    """The agent answered with an error."""

    def __init__(self, error: Frame) -> None:
        super().__init__(json.dumps(error))
        self.code = error["code"]
        self.data = error.get("data") or {}


def text(words: str) -> Frame:
    return {"type": "text", "text": words}


@define(eq=False)
class AgentProcess:
    """The client side of one agent process. `answers` replies to the agent's own requests, method by method."""

    process: asyncio.subprocess.Process
    answers: dict[str, Callable[[Frame], Any]]
    frames: list[Frame] = field(factory=list)
    errors: list[str] = field(factory=list)
    _ids: itertools.count[int] = field(factory=lambda: itertools.count(1))
    _asked: dict[int, tuple[str, asyncio.Future[Frame]]] = field(factory=dict)
    _news: asyncio.Condition = field(factory=asyncio.Condition)

    def send(self, frame: Frame) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start_request(self, method: str, **params: Any) -> asyncio.Future[Frame]:
        number = next(self._ids)
        future: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._asked[number] = (method, future)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return future

    async def request(self, method: str, **params: Any) -> Frame:
        return await asyncio.wait_for(self.start_request(method, **params), WAIT_SECONDS)

    async def initialize(self, capabilities: Mapping[str, Any] = EVERYTHING, name: str | None = "tests") -> Frame:
        info = {"clientInfo": {"name": name, "version": "1"}} if name is not None else {}
        return await self.request("initialize", protocolVersion=1, clientCapabilities=dict(capabilities), **info)

    async def new_session(self, cwd: Path) -> Frame:
        return await self.request("session/new", cwd=str(cwd), mcpServers=[])

    async def prompt(self, session: Frame, words: str) -> Frame:
        return await self.request("session/prompt", sessionId=session["sessionId"], prompt=[text(words)])

    async def set(self, session: Frame, option: str, value: str | bool) -> dict[str, Any]:
        typed = {"type": "boolean"} if isinstance(value, bool) else {}
        params = {"sessionId": session["sessionId"], "configId": option, "value": value, **typed}
        return shown((await self.request("session/set_config_option", **params))["configOptions"])

    def updates(self, kind: str | None = None) -> list[Frame]:
        found = [frame["params"]["update"] for frame in self.frames if frame.get("method") == "session/update"]
        return [update for update in found if kind in (None, update["sessionUpdate"])]

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(update["content"]["text"] for update in self.updates(kind))

    async def until(self, happened: Callable[[], Any]) -> Any:
        """Wait until `happened()` is true, looked at after every frame and every line on stderr."""

        async def look() -> Any:
            async with self._news:
                while not (result := happened()):
                    await self._news.wait()
                return result

        try:
            return await asyncio.wait_for(look(), WAIT_SECONDS)
        except TimeoutError:
            raise AssertionError(f"did not happen; stderr: {self.errors}; frames: {self.frames[-5:]}") from None

    async def read_frames(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            frame = json.loads(line)
            async with self._news:
                self._take(frame)
                self._news.notify_all()

    async def read_errors(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            async with self._news:
                self.errors.append(line.decode())
                self._news.notify_all()

    def _take(self, frame: Frame) -> None:
        self.frames.append(frame)
        if "method" in frame:
            check_frame(frame)
            if "id" in frame:
                answer = self.answers.get(frame["method"])
                result = answer(frame["params"]) if answer else None
                if not asyncio.isfuture(result):
                    self.answer(frame, result)
                return
            return
        method, future = self._asked.pop(frame["id"])
        check_frame(frame, method)
        if not future.done():
            if "error" in frame:
                future.set_exception(RequestFailed(frame["error"]))
            else:
                future.set_result(frame["result"])

    def answer(self, frame: Frame, result: Any) -> None:
        if result is None:
            self.send({"jsonrpc": "2.0", "id": frame["id"], "error": {"code": -32603, "message": "Not to be had"}})
        else:
            self.send({"jsonrpc": "2.0", "id": frame["id"], "result": result})


def shown(options: list[Frame]) -> dict[str, Any]:
    """Option id -> its current value."""
    return {option["id"]: option["currentValue"] for option in options}


def offered(option: Frame) -> list[str]:
    """The values of a select, flat."""
    return [value["value"] for entry in option["options"] for value in entry.get("options", [entry])]


def choose(option_id: str) -> Callable[[Frame], Frame]:
    """Answer permission questions with this option."""
    return lambda params: {"outcome": {"outcome": "selected", "optionId": option_id}}


def read_text_file(params: Frame) -> Frame | None:
    path = Path(params["path"])
    return {"content": path.read_text(encoding="utf-8")} if path.is_file() else None


def write_text_file(params: Frame) -> Frame:
    Path(params["path"]).write_text(params["content"], encoding="utf-8")
    return {}


FILES = {"fs/read_text_file": read_text_file, "fs/write_text_file": write_text_file}
"""An editor without unsaved buffers: its files are those on disk."""


async def start_agentoml(arguments: Sequence[str], environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Start `agentoml ARGUMENTS` with these variables beside the inherited ones."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "agentoml", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
        limit=64 * 1024 * 1024,
    )


Start = Callable[[Sequence[str], Mapping[str, str]], Awaitable[Any]]


@contextlib.asynccontextmanager
async def agent_process(
    config: Path | None,
    *,
    answers: Mapping[str, Callable[[Frame], Any]] | None = None,
    environment: Mapping[str, str] | None = None,
    initialize: bool = True,
    start: Start = start_agentoml,
) -> AsyncIterator[AgentProcess]:
    """Start `agentoml run CONFIG`; at the end its stdin is closed and it must go by itself, in peace."""
    process = await start(["run", *([str(config)] if config else [])], environment or {})
    agent = AgentProcess(process, {**FILES, **(answers or {})})
    readers = [asyncio.create_task(agent.read_frames()), asyncio.create_task(agent.read_errors())]
    try:
        if initialize:
            await agent.initialize()
        yield agent
        assert process.stdin is not None
        process.stdin.close()
        await asyncio.wait_for(process.wait(), WAIT_SECONDS)
        await asyncio.gather(*readers)
        assert process.returncode == 0, agent.errors
        assert not any(line.startswith("Traceback") for line in agent.errors), agent.errors
    finally:
        for reader in readers:
            reader.cancel()
        if process.returncode is None:
            process.kill()
            await process.wait()
