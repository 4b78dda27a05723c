"""One line of the wire <-> one JSON-RPC message: framing, decoding, encoding. Knows neither ACP nor asyncio."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from agentoml.errors import InvalidParams, InvalidRequest, RequestError

MAX_LINE = 64 * 1024 * 1024
"""The longest message that is read, in bytes without its newline."""

Id = int | str | None
"""The id of a request; it is echoed in value and type."""


class Request(NamedTuple):
    """The other side wants an answer."""

    id: Id
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    """The other side says something and wants no answer, not even an error."""

    method: str
    params: dict[str, Any]


class Response(NamedTuple):
    """An answer to a request of ours: an error, or else a result."""

    id: Any
    result: Any
    error: dict[str, Any] | None


class Rejected(NamedTuple):
    """A line that is no message; `reply` says so to whoever sent it."""

    reply: dict[str, Any]


Message = Request | Notification | Response | Rejected


class ParseError(RequestError):
    """A line that is not JSON."""

    code = -32700
    title = "Parse error"


class Lines:
    """Cuts a stream of bytes into lines, in time linear in its length."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each line that `data` completes, without its newline; None for one that was longer than the limit."""
        head, *rest = data.split(b"\n")
        self._grow(head)
        for part in rest:
            yield self._take()
            self._grow(part)

    @property
    def rest(self) -> bytes:
        """The beginning of the line that is not complete yet."""
        return b"".join(self._parts)

    def _grow(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _take(self) -> bytes | None:
        line = b"".join(self._parts) if self._size <= self._limit else None
        self._parts.clear()
        self._size = 0
        return line


# -------------------------------------------------------------------------------------------------- decoding


def decode(line: bytes | None) -> Message | None:
    """Return the message in a line; None where there is nothing to do or say. `Lines` gives None for an overlong line.

    What has a `method` and no `id` is a notification; what has `result` or `error` and no `method` is a response and
    never answered, so two sides that complain of each other fall silent.
    """
    if line is None:
        return _rejected(None, InvalidRequest("The message is too long", reason="too_long", limit=MAX_LINE))
    if not line or line.isspace():
        return None
    try:
        value = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return _rejected(None, ParseError())
    if not isinstance(value, dict):
        return _rejected(None, InvalidRequest(reason="not_an_object"))
    if "method" in value:
        return _call(value)
    if "result" in value or "error" in value:
        error = value.get("error")
        if error is not None and not isinstance(error, dict):
            error = {}
        return Response(value.get("id"), value.get("result"), error)
    return _rejected(_id_of(value), InvalidRequest(reason="no_method"))


def _call(value: dict[str, Any]) -> Message | None:
    method, params = value["method"], value.get("params")
    if value.get("jsonrpc") != "2.0":
        return _rejected(_id_of(value), InvalidRequest(reason="jsonrpc_version"))
    if not isinstance(method, str):
        return _rejected(_id_of(value), InvalidRequest(reason="method_not_a_string"))
    if "id" not in value:
        if params is None or isinstance(params, dict):
            return Notification(method, params or {})
        return None
    if not is_id(value["id"]):
        return _rejected(None, InvalidRequest(reason="invalid_id"))
    if params is None or isinstance(params, dict):
        return Request(value["id"], method, params or {})
    return _rejected(value["id"], InvalidParams(path="$", reason="must be an object"))


def is_id(value: object) -> bool:
    """Whether this may identify a request: null, an integer (no boolean, no float) or a string."""
    return value is None or isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _id_of(value: dict[str, Any]) -> Id:
    id_ = value.get("id")
    return id_ if is_id(id_) else None


def _rejected(id_: Id, error: RequestError) -> Rejected:
    return Rejected(error_response(id_, error))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


# -------------------------------------------------------------------------------------------------- encoding


class Encoded:
    """A value that is JSON already, in one piece or several: `encode` takes it as it is, wherever it stands."""

    __slots__ = ("pieces",)

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces

    @property
    def json(self) -> bytes:
        """The JSON in one piece."""
        return b"".join(self.pieces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoded) and (self.pieces == other.pieces or self.json == other.json)

    def __hash__(self) -> int:
        return hash(self.json)


def encode(message: Mapping[str, Any]) -> bytes:
    """Return the message as one line of UTF-8 JSON with its newline.

    Raises:
        ValueError: it holds what JSON can't say (NaN, infinity, a foreign object, itself).
    """
    return encode_value(message, end=b"\n")


def encode_value(value: Any, *, end: bytes = b"") -> bytes:
    """Return any value as UTF-8 JSON, and `end` behind it.

    Raises:
        ValueError: as for `encode`.
    """
    try:
        try:
            return _text(value) + end
        except TypeError:  # it holds something `Encoded`, or else what JSON can't say
            pieces: list[bytes] = []
            _put(value, pieces)
            return b"".join((*pieces, end))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"Not JSON: {error}") from error


def _text(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:
        return _ASCII_ENCODER.encode(value).encode()  # a lone surrogate: only its escape is valid UTF-8


def _put(value: Any, pieces: list[bytes]) -> None:
    """Add a value's JSON, piece by piece down to each `Encoded`."""
    if isinstance(value, Encoded):
        pieces += value.pieces
    elif isinstance(value, dict) and value:
        before = b"{"
        for name, inner in value.items():
            if not isinstance(name, str):
                raise TypeError(f"{type(name).__name__} is no name")
            pieces += (before, _text(name), b":")
            _put(inner, pieces)
            before = b","
        pieces.append(b"}")
    elif isinstance(value, list | tuple) and value:
        before = b"["
        for inner in value:
            pieces.append(before)
            _put(inner, pieces)
            before = b","
        pieces.append(b"]")
    else:
        pieces.append(_text(value))


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def request(id_: Id, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A request of ours."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def notification(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A notification of ours."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def response(id_: Id, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def error_response(id_: Id, error: RequestError) -> dict[str, Any]:
    """The answer to a request that failed; its message is one line."""
    body: dict[str, Any] = {"code": error.code, "message": " ".join(error.message.split())}
    if error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": id_, "error": body}
