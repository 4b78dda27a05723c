"""The first exchange of a connection, `initialize`, answered by plain reads and writes before asyncio is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from agentoml.errors import InvalidRequest, RequestError
from agentoml.wire import frames, methods
from agentoml.wire.stdio import read_some, write_all


class Handshake(NamedTuple):
    """What the client said of itself, and what was read beyond it (for `open_stdio`)."""

    protocol_version: int
    capabilities: dict[str, Any]
    info: dict[str, Any] | None
    already_read: bytes


def handshake(fds: tuple[int, int], answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Handshake | None:
    """Wait for `initialize` and answer it with `answer(params)`; None where the input ends without it.

    Every other request is answered with -32600 `not_initialized`; malformed params of initialize with -32602, and it
    may be sent again.

    Raises:
        OSError: the client reads no more.
    """
    lines = frames.Lines()
    while data := read_some(fds[0]):
        completed = lines.feed(data)
        for line in completed:
            message = frames.decode(line)
            if isinstance(message, frames.Request):
                try:
                    reply = frames.response(message.id, _initialize(message, answer))
                except RequestError as error:
                    write_all(fds[1], frames.encode(frames.error_response(message.id, error)))
                    continue
                write_all(fds[1], frames.encode(reply))
                already_read = b"".join((line or b"") + b"\n" for line in completed) + lines.rest
                return _client(message.params, already_read)
            if isinstance(message, frames.Rejected):
                write_all(fds[1], frames.encode(message.reply))
    return None


def _initialize(message: frames.Request, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    if message.method != "initialize":
        raise InvalidRequest("Not initialized", reason="not_initialized")
    methods.METHODS["initialize"].check(message.params, "$")
    return answer(message.params)


def _client(params: dict[str, Any], already_read: bytes) -> Handshake:
    return Handshake(
        params["protocolVersion"], params.get("clientCapabilities") or {}, params.get("clientInfo"), already_read
    )
