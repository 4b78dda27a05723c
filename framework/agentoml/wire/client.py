"""What an agent may ask of its client, and what that client can do. Answers are read leniently, approval strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agentoml.errors import RemoteError

if TYPE_CHECKING:
    from agentoml.wire.jsonrpc import Connection

Json = dict[str, Any]


class TerminalExit(NamedTuple):
    """How a command ended: by itself with a code, or by a signal."""

    code: int | None
    signal: str | None


class TerminalOutput(NamedTuple):
    """What a command has written so far; `exit` is None while it runs."""

    text: str
    truncated: bool
    exit: TerminalExit | None


class Client:
    """The other side of a connection.

    `capabilities` and `info` are the params of its `initialize`; what is missing or malformed there is unsupported
    (A14). Every request raises RemoteError where the client refuses, answers nonsense or offers no such method (then
    nothing is sent, A45), and ConnectionLost where it is gone.
    """

    def __init__(self, connection: Connection, capabilities: Mapping[str, Any], info: Mapping[str, Any] | None) -> None:
        self._connection = connection
        name = _object(info).get("name")
        self.name: str = name if isinstance(name, str) else ""
        files, session = _object(capabilities.get("fs")), _object(capabilities.get("session"))
        self.can_read: bool = files.get("readTextFile") is True
        self.can_write: bool = files.get("writeTextFile") is True
        self.can_terminal: bool = capabilities.get("terminal") is True
        self.can_notice: bool = isinstance(session.get("notices"), dict)
        self.booleans: bool = isinstance(_object(session.get("configOptions")).get("boolean"), dict)
        ours = _object(_object(capabilities.get("_meta")).get("agentoml"))
        self.hears_config_changes: bool = isinstance(ours.get("configChanged"), dict)

    @property
    def backlog(self) -> int:
        """Bytes that the client has not made room for."""
        return self._connection.backlog

    async def drain(self) -> None:
        """Wait until there is no backlog."""
        await self._connection.drain()

    def update(self, session_id: str, update: Mapping[str, Any]) -> None:
        """Send a session update, before everything that is sent after it."""
        self._connection.notify("session/update", {"sessionId": session_id, "update": update})

    def config_changed(self, what: Mapping[str, Any]) -> None:
        """Send `_agentoml/config_changed` to a client that asks for it (`_meta.agentoml.configChanged`)."""
        if self.hears_config_changes:
            self._connection.notify("_agentoml/config_changed", what)

    async def request_permission(
        self, session_id: str, tool_call: Mapping[str, Any], options: Sequence[Mapping[str, Any]]
    ) -> str | None:
        """Ask about a tool call (a `tool_call_update`) and return the id of the chosen option.

        None is whatever is not the selection of one of `options`; it is no approval (A44).
        """
        call = {name: value for name, value in tool_call.items() if name != "sessionUpdate"}
        answer = await self._request(
            "session/request_permission", {"sessionId": session_id, "toolCall": call, "options": list(options)}
        )
        outcome = answer.get("outcome")
        chosen = outcome if isinstance(outcome, dict) else answer  # some clients send the outcome flattened
        option_id = chosen.get("optionId")
        offered = [option["optionId"] for option in options]
        return option_id if chosen.get("outcome") == "selected" and option_id in offered else None

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        """Return the text of a file as the editor has it, from `line` (counted from 1) on, at most `limit` lines."""
        self._offered("fs/read_text_file", self.can_read)
        params = _given({"sessionId": session_id, "path": path}, line=line, limit=limit)
        return _text(await self._request("fs/read_text_file", params), "content")

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        """Write a file, through the editor's buffers."""
        self._offered("fs/write_text_file", self.can_write)
        await self._request("fs/write_text_file", {"sessionId": session_id, "path": path, "content": content})

    async def terminal_create(
        self,
        session_id: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        output_limit: int | None = None,
    ) -> str:
        """Start a command (program and arguments) and return its terminal's id. Every terminal must be released.

        `output_limit` is how many bytes of the output's end are kept.
        """
        self._offered("terminal/create", self.can_terminal)
        params = _given(
            {"sessionId": session_id, "command": command[0], "args": list(command[1:])},
            env=[{"name": name, "value": value} for name, value in (env or {}).items()] or None,
            cwd=cwd,
            outputByteLimit=output_limit,
        )
        return _text(await self._request("terminal/create", params), "terminalId")

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalOutput:
        """Return what the command has written so far, without waiting."""
        answer = await self._terminal("terminal/output", session_id, terminal_id)
        status = answer.get("exitStatus")
        exit_ = _exit(status) if isinstance(status, dict) else None
        return TerminalOutput(_text(answer, "output"), answer.get("truncated") is True, exit_)

    async def terminal_wait_for_exit(self, session_id: str, terminal_id: str) -> TerminalExit:
        """Wait for the command to end."""
        return _exit(await self._terminal("terminal/wait_for_exit", session_id, terminal_id))

    async def terminal_kill(self, session_id: str, terminal_id: str) -> None:
        """Kill the command; its terminal and output stay."""
        await self._terminal("terminal/kill", session_id, terminal_id)

    async def terminal_release(self, session_id: str, terminal_id: str) -> None:
        """Give the terminal back; a command that still runs is killed."""
        await self._terminal("terminal/release", session_id, terminal_id)

    async def _terminal(self, method: str, session_id: str, terminal_id: str) -> Json:
        self._offered(method, self.can_terminal)
        return await self._request(method, {"sessionId": session_id, "terminalId": terminal_id})

    async def _request(self, method: str, params: Json) -> Json:
        answer = await self._connection.request(method, params)
        return answer if isinstance(answer, dict) else {}

    def _offered(self, method: str, offered: bool) -> None:
        if not offered:
            raise RemoteError(-32601, f"The client offers no {method}")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _given(params: Json, **optional: object) -> Json:
    return params | {name: value for name, value in optional.items() if value is not None}


def _text(answer: Json, field: str) -> str:
    value = answer.get(field)
    if not isinstance(value, str):
        raise RemoteError(-32603, f"The client answered without {field}")
    return value


def _exit(status: Json) -> TerminalExit:
    code, signal = status.get("exitCode"), status.get("signal")
    return TerminalExit(code if type(code) is int else None, signal if isinstance(signal, str) else None)
