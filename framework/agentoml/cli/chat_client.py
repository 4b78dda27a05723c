"""The client's side of ACP: an agent as a child process and one session with it. Shows nothing itself."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from attrs import define, field

from agentoml import __version__
from agentoml.cli.chat_lines import one_line
from agentoml.cli.chat_options import Option, changes, some
from agentoml.errors import (
    AgentomlError,
    ConnectionLost,
    InternalError,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    NotFound,
    RemoteError,
)
from agentoml.wire.jsonrpc import Connection, Handlers
from agentoml.wire.stdio import Reader, Writer

PROTOCOL_VERSION = 1
CAPABILITIES: dict[str, Any] = {"session": {"configOptions": {"boolean": {}}, "notices": {}}}
STDERR_PIECE = 64 * 1024
GOODBYE_SECONDS = 5.0
"""How long an agent whose stdin was closed may take to end by itself."""


KNOWN_FACTS = ("reason", "sessionId", "configId", "modeId", "value", "forcedBy")
"""What the user knows already, or the message says in words."""

TITLES = frozenset(kind.title for kind in (InternalError, InvalidParams, InvalidRequest, MethodNotFound, NotFound))
"""Messages that say nothing of what happened."""


class Question(NamedTuple):
    """A permission question: the tool call it is about (an ACP ToolCallUpdate) and the answers to choose from."""

    tool_call: dict[str, Any]
    options: list[dict[str, Any]]


class Stop(NamedTuple):
    """How a turn ended: the stop reason, and whether it was because a provider failed."""

    reason: str
    failed: bool = False


class Audience(Protocol):
    """Who is told what the agent does. Called on the event loop, in the order in which the agent said it."""

    def update(self, update: dict[str, Any]) -> None:
        """Take a session update."""

    def options_changed(self, phrases: list[str]) -> None:
        """Take what became of the options, one phrase a change."""

    def stderr(self, line: str) -> None:
        """Take a line that the agent logged."""

    async def question(self, question: Question) -> str | None:
        """Return the id of the chosen answer; None leaves the question unanswered. Cancelled with the turn."""


class AgentGone(AgentomlError):
    """The agent process ended, or never became an agent."""


def run_command(config: str | None, settings: Iterable[str] = ()) -> list[str]:
    """Return the command line that starts an agent of ours on `config`, with `--set` on top."""
    words = [config] if config else []
    return [sys.executable, "-P", "-m", "agentoml", "run", *words, *(f"--set={setting}" for setting in settings)]


@define(eq=False)
class Conversation:
    """One session with an agent, and what the agent last said about it."""

    process: Process
    connection: Connection
    audience: Audience
    agent: dict[str, Any] = field(factory=dict)
    session_id: str = ""
    options: list[Option] = field(factory=list)
    modes: list[dict[str, Any]] = field(factory=list)
    mode: str | None = None
    commands: list[dict[str, Any]] = field(factory=list)
    _tasks: list[asyncio.Task[None]] = field(factory=list)
    _questions: set[asyncio.Future[str | None]] = field(factory=set)

    @classmethod
    async def start(cls, command: Sequence[str], cwd: str, audience: Audience) -> Conversation:
        """Start the agent and open a session in `cwd`, an absolute path.

        Raises:
            AgentGone: it ended, or can't be started.
            RemoteError: it refused the session.
        """
        from_us, to_agent = os.pipe()
        from_agent, to_us = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=from_us, stdout=to_us, stderr=PIPE, start_new_session=True
            )
        except OSError as error:
            os.close(to_agent)
            os.close(from_agent)
            raise AgentGone(f"{command[0]} can't be started: {error.strerror}") from error
        finally:
            os.close(from_us)
            os.close(to_us)
        conversation = cls(process, Connection(Reader(from_agent), Writer(to_agent)), audience)
        conversation._tasks = [
            asyncio.create_task(conversation._serve(from_agent)),
            asyncio.create_task(conversation._read_stderr()),
        ]
        try:
            await conversation._open(cwd)
        except BaseException:
            await conversation.close()
            raise
        return conversation

    async def prompt(self, text: str) -> Stop:
        """Send a prompt and return how its turn ended.

        Raises:
            AgentGone, RemoteError.
        """
        answer = await self._request("session/prompt", {"prompt": [{"type": "text", "text": text}]})
        ours = (answer.get("_meta") or {}).get("agentoml") or {}
        return Stop(answer["stopReason"], failed="error" in ours)

    def cancel(self) -> None:
        """Cancel the running turn; its prompt is still answered."""
        self.connection.notify("session/cancel", {"sessionId": self.session_id})
        for question in self._questions:
            question.cancel()

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a config option.

        Raises:
            AgentGone, RemoteError.
        """
        typed = {"type": "boolean", "value": value} if isinstance(value, bool) else {"value": value}
        answer = await self._request("session/set_config_option", {"configId": option_id, **typed})
        self._take_options(answer["configOptions"])

    async def set_mode(self, mode_id: str) -> None:
        """Set the mode of an agent that has modes but no config options.

        Raises:
            AgentGone, RemoteError.
        """
        await self._request("session/set_mode", {"modeId": mode_id})
        self.mode = mode_id

    async def ended(self) -> int:
        """Wait for the agent process to end and return its exit code."""
        return await self.process.wait()

    async def close(self) -> int:
        """Say goodbye by closing the agent's stdin, wait for it to end and return its exit code."""
        self.connection.close()
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                code = await self.process.wait()
        except TimeoutError:
            self.process.kill()
            code = await self.process.wait()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        return code

    async def _open(self, cwd: str) -> None:
        info = {"name": "agentoml-chat", "title": "agentoml chat", "version": __version__}
        self.agent = await self._request(
            "initialize",
            {"protocolVersion": PROTOCOL_VERSION, "clientCapabilities": CAPABILITIES, "clientInfo": info},
        )
        session = await self._request("session/new", {"cwd": cwd, "mcpServers": []})
        self.session_id = session["sessionId"]
        self.options = session.get("configOptions") or []
        modes = session.get("modes") or {}
        self.modes, self.mode = modes.get("availableModes", []), modes.get("currentModeId")

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        session = {"sessionId": self.session_id} if self.session_id else {}
        try:
            answer: dict[str, Any] = await self.connection.request(method, {**session, **params})
        except ConnectionLost:
            code = await self.process.wait()
            raise AgentGone(f"the agent ended (exit code {code}) before it answered {method}") from None
        return answer

    async def _on_update(self, params: dict[str, Any]) -> dict[str, Any]:
        update = params["update"]
        match update["sessionUpdate"]:
            case "config_option_update":
                self._take_options(update["configOptions"])
            case "current_mode_update":
                self.mode = update["currentModeId"]
            case "available_commands_update":
                self.commands = update["availableCommands"]
        self.audience.update(update)
        return {}

    def _take_options(self, options: list[Option]) -> None:
        phrases = changes(self.options, options)
        self.options = options
        if phrases:
            self.audience.options_changed(phrases)

    async def _on_question(self, params: dict[str, Any]) -> dict[str, Any]:
        asking = asyncio.ensure_future(self.audience.question(Question(params["toolCall"], params["options"])))
        self._questions.add(asking)
        try:
            await asyncio.wait({asking})
            chosen = None if asking.cancelled() else asking.result()
        finally:
            asking.cancel()
            self._questions.discard(asking)
        return {"outcome": {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}}

    async def _serve(self, from_agent: int) -> None:
        requests = {"session/request_permission": self._on_question}
        try:
            await self.connection.serve(Handlers(requests, {"session/update": self._on_update}))
        finally:
            os.close(from_agent)

    async def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        while piece := await self.process.stderr.read(STDERR_PIECE):
            *lines, rest = (rest + decoder.decode(piece)).split("\n")
            for line in lines:
                self.audience.stderr(line)
        if rest:
            self.audience.stderr(rest)


def sentence(error: RemoteError) -> str:
    """Say in one line what the agent refused and, where it says so, what would help."""
    data = error.data if isinstance(error.data, dict) else {}
    facts = [f"{_words(key)}: {_listed(value)}" for key, value in data.items() if key not in KNOWN_FACTS]
    if error.message in TITLES and "reason" in data:
        facts.insert(0, _words(str(data["reason"])))
    return one_line(error.message) + (f" ({'; '.join(facts)})" if facts else "")


def _words(name: str) -> str:
    """Return a key or reason of the wire in plain words: `availableValues` -> `available values`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).replace("_", " ").strip()


def _listed(value: Any) -> str:
    return some([one_line(item) for item in value]) if isinstance(value, list) else one_line(value)
