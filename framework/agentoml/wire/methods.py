"""The methods that a client may call on an agent (ACP v1, stable): their params, and what offering them advertises."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from agentoml.errors import InvalidParams, InvalidRequest

if TYPE_CHECKING:
    from agentoml.wire.jsonrpc import Handler, Handlers, Params

Check = Callable[[Any, str], None]
"""Looks at the value at a JSON path ("$.prompt[0].text") and raises InvalidParams naming it; never echoes a value."""


class Method(NamedTuple):
    """One method: its kind and params, and the field of `agentCapabilities` with the mark that says it is offered."""

    kind: Literal["request", "notification"]
    check: Check
    capability: str = ""
    marker: object = None


# ---------------------------------------------------------------------------------------------------- checks


def _invalid(path: str, reason: str) -> NoReturn:
    raise InvalidParams(path=path, reason=reason)


def _string(value: Any, path: str) -> None:
    if not isinstance(value, str):
        _invalid(path, "must be a string")


def _absolute_path(value: Any, path: str) -> None:
    _string(value, path)
    if not value.startswith("/") or "\0" in value:
        _invalid(path, "must be an absolute path")


def _string_or_boolean(value: Any, path: str) -> None:
    if not isinstance(value, str | bool):
        _invalid(path, "must be a string or a boolean")


def _integer(value: Any, path: str) -> None:
    if type(value) is not int:
        _invalid(path, "must be an integer")


def _version(value: Any, path: str) -> None:
    _integer(value, path)
    if not 0 <= value <= 65535:
        _invalid(path, "must be between 0 and 65535")


def _anything_of(type_: type, words: str) -> Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, type_):
            _invalid(path, f"must be {words}")

    return check


def _list(item: Check) -> Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, list):
            _invalid(path, "must be a list")
        for index, element in enumerate(value):
            item(element, f"{path}[{index}]")

    return check


def _object(
    required: Mapping[str, Check], optional: Mapping[str, Check] = {}, hints: Mapping[str, Check] = {}
) -> Check:
    """Check an object and take out of it optional fields that are null, and hints that are malformed.

    Hints are what the schema marks `x-deserialize-default-on-error`: a mistake there costs the field, not the request.
    """

    def check(value: Any, path: str) -> None:
        if not isinstance(value, dict):
            _invalid(path, "must be an object")
        for name, check_field in required.items():
            if name not in value:
                _invalid(f"{path}.{name}", "is missing")
            check_field(value[name], f"{path}.{name}")
        for name, check_field in optional.items():
            if name in value and value[name] is None:
                del value[name]
            elif name in value:
                check_field(value[name], f"{path}.{name}")
        for name, check_field in hints.items():
            if name in value and not _passes(check_field, value[name]):
                del value[name]

    return check


def _passes(check: Check, value: Any) -> bool:
    try:
        check(value, "$")
    except InvalidParams:
        return False
    return True


def _by_type(checks: Mapping[str, Check], default: str | None = None) -> Check:
    """Check an object by what its `type` says."""

    def check(value: Any, path: str) -> None:
        if not isinstance(value, dict):
            _invalid(path, "must be an object")
        type_ = value.get("type", default)
        if type_ is None:
            _invalid(f"{path}.type", "is missing")
        if not isinstance(type_, str) or type_ not in checks:
            _invalid(f"{path}.type", f"must be one of {', '.join(checks)}")
        checks[type_](value, path)

    return check


def _resource(value: Any, path: str) -> None:
    content = "text" if isinstance(value, dict) and "blob" not in value else "blob"
    _object({"uri": _string, content: _string}, hints={"mimeType": _string})(value, path)


_CONTENT_BLOCK = _by_type(
    {
        "text": _object({"text": _string}),
        "image": _object({"data": _string, "mimeType": _string}, hints={"uri": _string}),
        "audio": _object({"data": _string, "mimeType": _string}),
        "resource_link": _object(
            {"uri": _string, "name": _string},
            hints={"mimeType": _string, "title": _string, "description": _string, "size": _integer},
        ),
        "resource": _object({"resource": _resource}),
    }
)
_PAIRS = _list(_object({"name": _string, "value": _string}))
_STDIO_SERVER = _object({"name": _string, "command": _string}, {"args": _list(_string), "env": _PAIRS})
_HTTP_SERVER = _object({"name": _string, "url": _string}, {"headers": _PAIRS})
_MCP_SERVER = _by_type({"stdio": _STDIO_SERVER, "http": _HTTP_SERVER, "sse": _HTTP_SERVER}, default="stdio")

_SESSION = {"sessionId": _string}
_CWD = {"cwd": _absolute_path}
_SURROUNDINGS = {"mcpServers": _list(_MCP_SERVER), "additionalDirectories": _list(_absolute_path)}
_CLIENT = {
    "clientCapabilities": _anything_of(dict, "an object"),
    "clientInfo": _anything_of(dict, "an object"),
}

# ----------------------------------------------------------------------------------------------------- table

METHODS: Mapping[str, Method] = {
    "initialize": Method("request", _object({"protocolVersion": _version}, hints=_CLIENT)),
    "authenticate": Method("request", _object({"methodId": _string})),
    "logout": Method("request", _object({}), "auth.logout", {}),
    "session/new": Method("request", _object(_CWD, _SURROUNDINGS)),
    "session/load": Method("request", _object(_SESSION | _CWD, _SURROUNDINGS), "loadSession", True),
    "session/resume": Method("request", _object(_SESSION | _CWD, _SURROUNDINGS), "sessionCapabilities.resume", {}),
    "session/list": Method(
        "request", _object({}, {"cwd": _absolute_path, "cursor": _string}), "sessionCapabilities.list", {}
    ),
    "session/delete": Method("request", _object(_SESSION), "sessionCapabilities.delete", {}),
    "session/close": Method("request", _object(_SESSION), "sessionCapabilities.close", {}),
    "session/set_mode": Method("request", _object(_SESSION | {"modeId": _string})),
    "session/set_config_option": Method(
        "request", _object(_SESSION | {"configId": _string, "value": _string_or_boolean})
    ),
    "session/prompt": Method("request", _object(_SESSION | {"prompt": _list(_CONTENT_BLOCK)})),
    "session/cancel": Method("notification", _object(_SESSION)),
}


def capabilities(
    offered: Collection[str],
    *,
    prompt: Mapping[str, bool],
    mcp: Mapping[str, bool],
    additional_directories: bool = False,
) -> dict[str, Any]:
    """Return `agentCapabilities` of an agent that has handlers for the `offered` methods.

    `prompt`: image, audio, embeddedContext. `mcp`: http, sse.
    """
    result: dict[str, Any] = {
        "loadSession": False,
        "promptCapabilities": {name: prompt.get(name, False) for name in ("image", "audio", "embeddedContext")},
        "mcpCapabilities": {name: mcp.get(name, False) for name in ("http", "sse")},
        "sessionCapabilities": {"additionalDirectories": {}} if additional_directories else {},
        "auth": {},
    }
    for name, method in METHODS.items():
        if method.capability and name in offered:
            group, _, field = method.capability.rpartition(".")
            (result[group] if group else result)[field] = method.marker
    return result


def checked(
    handlers: Mapping[str, Handler],
    unknown: Callable[[str, Params], Awaitable[dict[str, Any] | None]] | None = None,
) -> Handlers:
    """Return what a connection serves after its handshake: each handler behind the check of its method's params.

    A method without a handler goes to `unknown`, or is -32601. `initialize` is refused: it has been answered.
    A notification's handler also answers a client that sends it as a request.

    Raises:
        KeyError: a handler for what is no method of ACP.
    """
    from agentoml.wire.jsonrpc import Handlers

    requests = {name: _checked(METHODS[name].check, handler) for name, handler in handlers.items()}
    notifications = {name: handler for name, handler in requests.items() if METHODS[name].kind == "notification"}
    return Handlers(requests | {"initialize": _initialized_already}, notifications, unknown)


def _checked(check: Check, handler: Handler) -> Handler:
    async def handle(params: Params) -> dict[str, Any] | None:
        check(params, "$")
        return await handler(params)

    return handle


async def _initialized_already(_: Params) -> None:
    raise InvalidRequest("Already initialized", reason="already_initialized")
