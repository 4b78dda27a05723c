"""The method table: params that pass, params that do not and where, capabilities, the gate."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from agentoml.errors import InvalidParams
from agentoml.wire import methods
from agentoml.wire.methods import METHODS, capabilities, checked
from wire.peer import Params, peer

NEW = {"cwd": "/w", "mcpServers": []}
PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}
SET = {"sessionId": "s", "configId": "model", "value": "m1"}


def prompt(*blocks: Any) -> Params:
    return {"sessionId": "s", "prompt": list(blocks)}


def servers(*servers: Any) -> Params:
    return {"cwd": "/w", "mcpServers": list(servers)}


VALID = [
    ("initialize", {"protocolVersion": 1}),
    ("initialize", {"protocolVersion": 65535, "clientCapabilities": {}, "clientInfo": {"name": "ed", "version": "1"}}),
    ("initialize", {"protocolVersion": 0, "info": {"name": "v2"}}),
    ("authenticate", {"methodId": "login"}),
    ("logout", {}),
    ("session/new", NEW),
    ("session/new", {"cwd": "/w"}),
    ("session/new", NEW | {"additionalDirectories": ["/a", "/b"], "_meta": {"cwd": 1}, "unknown": object()}),
    ("session/new", servers({"name": "x", "command": "y"})),
    ("session/new", servers({"type": "stdio", "name": "x", "command": "y", "args": ["a"], "env": []})),
    ("session/new", servers({"name": "x", "command": "y", "args": [], "env": [{"name": "A", "value": "B"}]})),
    ("session/new", servers({"type": "http", "name": "x", "url": "u", "headers": [{"name": "A", "value": "B"}]})),
    ("session/new", servers({"type": "sse", "name": "x", "url": "u"})),
    ("session/load", NEW | {"sessionId": "s"}),
    ("session/resume", {"cwd": "/w", "sessionId": "s"}),
    ("session/list", {}),
    ("session/list", {"cwd": "/w", "cursor": "c"}),
    ("session/delete", {"sessionId": "s"}),
    ("session/close", {"sessionId": "s"}),
    ("session/cancel", {"sessionId": "s"}),
    ("session/set_mode", {"sessionId": "s", "modeId": "m"}),
    ("session/set_config_option", SET),
    ("session/set_config_option", SET | {"type": "id"}),
    ("session/set_config_option", SET | {"type": "boolean", "value": True}),
    ("session/set_config_option", SET | {"value": False}),
    ("session/prompt", PROMPT),
    ("session/prompt", prompt()),
    ("session/prompt", prompt({"type": "image", "data": "QQ==", "mimeType": "image/png", "uri": "u"})),
    ("session/prompt", prompt({"type": "audio", "data": "QQ==", "mimeType": "audio/wav", "annotations": 7})),
    ("session/prompt", prompt({"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3})),
    ("session/prompt", prompt({"type": "resource", "resource": {"uri": "u", "text": "t"}})),
    ("session/prompt", prompt({"type": "resource", "resource": {"uri": "u", "blob": "QQ==", "mimeType": "x/y"}})),
]

INVALID = [
    ("initialize", {}, "$.protocolVersion"),
    ("initialize", {"protocolVersion": "1"}, "$.protocolVersion"),
    ("initialize", {"protocolVersion": True}, "$.protocolVersion"),
    ("initialize", {"protocolVersion": 1.0}, "$.protocolVersion"),
    ("initialize", {"protocolVersion": 65536}, "$.protocolVersion"),
    ("initialize", {"protocolVersion": -1}, "$.protocolVersion"),
    ("authenticate", {}, "$.methodId"),
    ("session/new", {}, "$.cwd"),
    ("session/new", {"cwd": None}, "$.cwd"),
    ("session/new", {"cwd": 7}, "$.cwd"),
    ("session/new", {"cwd": "relative"}, "$.cwd"),
    ("session/new", {"cwd": ""}, "$.cwd"),
    ("session/new", {"cwd": "/a\0b"}, "$.cwd"),
    ("session/new", {"cwd": "/w", "mcpServers": {}}, "$.mcpServers"),
    ("session/new", servers("x"), "$.mcpServers[0]"),
    ("session/new", servers({"name": "x", "command": "y"}, {"name": "x"}), "$.mcpServers[1].command"),
    ("session/new", servers({"type": "acp", "name": "x"}), "$.mcpServers[0].type"),
    ("session/new", servers({"type": 7, "name": "x"}), "$.mcpServers[0].type"),
    ("session/new", servers({"type": "http", "name": "x"}), "$.mcpServers[0].url"),
    ("session/new", servers({"name": "x", "command": "y", "args": [1]}), "$.mcpServers[0].args[0]"),
    ("session/new", servers({"name": "x", "command": "y", "env": {"A": "B"}}), "$.mcpServers[0].env"),
    ("session/new", servers({"name": "x", "command": "y", "env": [{"name": "A"}]}), "$.mcpServers[0].env[0].value"),
    ("session/new", NEW | {"additionalDirectories": "/a"}, "$.additionalDirectories"),
    ("session/new", NEW | {"additionalDirectories": ["/a", 7]}, "$.additionalDirectories[1]"),
    ("session/new", NEW | {"additionalDirectories": [""]}, "$.additionalDirectories[0]"),
    ("session/new", NEW | {"additionalDirectories": ["a"]}, "$.additionalDirectories[0]"),
    ("session/load", NEW, "$.sessionId"),
    ("session/resume", {"sessionId": "s"}, "$.cwd"),
    ("session/list", {"cwd": "relative"}, "$.cwd"),
    ("session/list", {"cursor": 7}, "$.cursor"),
    ("session/delete", {}, "$.sessionId"),
    ("session/close", {"sessionId": None}, "$.sessionId"),
    ("session/cancel", {}, "$.sessionId"),
    ("session/set_mode", {"sessionId": "s"}, "$.modeId"),
    ("session/set_config_option", {"sessionId": "s", "configId": "c"}, "$.value"),
    ("session/set_config_option", SET | {"value": None}, "$.value"),
    ("session/set_config_option", SET | {"value": 1}, "$.value"),
    ("session/set_config_option", SET | {"configId": 1}, "$.configId"),
    ("session/prompt", {"sessionId": "s"}, "$.prompt"),
    ("session/prompt", {"sessionId": "s", "prompt": "hi"}, "$.prompt"),
    ("session/prompt", prompt("hi"), "$.prompt[0]"),
    ("session/prompt", prompt({"text": "hi"}), "$.prompt[0].type"),
    ("session/prompt", prompt({"type": "video"}), "$.prompt[0].type"),
    ("session/prompt", prompt({"type": ["text"]}), "$.prompt[0].type"),
    ("session/prompt", prompt(PROMPT["prompt"][0], {"type": "text"}), "$.prompt[1].text"),
    ("session/prompt", prompt({"type": "text", "text": None}), "$.prompt[0].text"),
    ("session/prompt", prompt({"type": "image", "data": "QQ=="}), "$.prompt[0].mimeType"),
    ("session/prompt", prompt({"type": "resource_link", "uri": "u"}), "$.prompt[0].name"),
    ("session/prompt", prompt({"type": "resource"}), "$.prompt[0].resource"),
    ("session/prompt", prompt({"type": "resource", "resource": "u"}), "$.prompt[0].resource"),
    ("session/prompt", prompt({"type": "resource", "resource": {"uri": "u"}}), "$.prompt[0].resource.text"),
    ("session/prompt", prompt({"type": "resource", "resource": {"text": "t"}}), "$.prompt[0].resource.uri"),
    ("session/prompt", prompt({"type": "resource", "resource": {"uri": "u", "blob": 7}}), "$.prompt[0].resource.blob"),
]


@pytest.mark.parametrize(("method", "params"), VALID)
def test_params_that_are_right_pass_unchanged(method: str, params: Params) -> None:
    seen = copy.deepcopy(params)
    METHODS[method].check(seen, "$")
    if "unknown" not in params:
        assert seen == params


@pytest.mark.parametrize(("method", "params", "path"), INVALID)
def test_params_that_are_wrong_are_refused_by_the_path_alone(method: str, params: Params, path: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        METHODS[method].check(params, "$")
    data = caught.value.data
    assert data is not None
    assert data["path"] == path
    assert set(data) == {"path", "reason"}


def test_a_refusal_never_repeats_what_was_sent() -> None:
    secret = "hunter2"
    for params in (
        {"cwd": secret},
        servers({"name": secret, "command": secret, "env": [{"name": secret, "value": [secret]}]}),
        servers({"type": secret}),
    ):
        with pytest.raises(InvalidParams) as caught:
            METHODS["session/new"].check(params, "$")
        assert secret not in f"{caught.value} {caught.value.data}"


def test_a_null_where_nothing_is_needed_is_taken_as_left_out() -> None:
    params = {"cwd": "/w", "mcpServers": None, "additionalDirectories": None}
    METHODS["session/new"].check(params, "$")
    assert params == {"cwd": "/w"}


def test_a_malformed_hint_costs_the_hint_only() -> None:
    params = {"protocolVersion": 1, "clientCapabilities": [], "clientInfo": "ed"}
    METHODS["initialize"].check(params, "$")
    assert params == {"protocolVersion": 1}
    block: Params = {"type": "resource_link", "uri": "u", "name": "n", "size": "big", "title": 7, "_meta": 7}
    METHODS["session/prompt"].check(prompt(block), "$")
    assert block == {"type": "resource_link", "uri": "u", "name": "n", "_meta": 7}


def test_capabilities_are_derived_from_what_is_offered() -> None:
    assert capabilities(["session/new"], prompt={}, mcp={}) == {
        "loadSession": False,
        "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
        "mcpCapabilities": {"http": False, "sse": False},
        "sessionCapabilities": {},
        "auth": {},
    }
    everything = capabilities(METHODS, prompt={"image": True}, mcp={"http": True}, additional_directories=True)
    assert everything == {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": False, "embeddedContext": False},
        "mcpCapabilities": {"http": True, "sse": False},
        "sessionCapabilities": {"additionalDirectories": {}, "resume": {}, "list": {}, "delete": {}, "close": {}},
        "auth": {"logout": {}},
    }


def test_a_handler_for_what_is_no_method_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        checked({"session/set_model": lambda _: None})  # type: ignore[arg-type, return-value]


async def test_handlers_stand_behind_their_checks() -> None:
    called: list[str] = []

    async def handler(params: Params) -> Params:
        called.append(params["sessionId"])
        return {}

    async def listed(params: Params) -> Params:
        return {"sessions": []}

    handlers = {"session/close": handler, "session/cancel": handler, "session/list": listed}
    async with peer(methods.checked(handlers)) as client:
        client.notify("session/cancel")
        client.notify("session/cancel", sessionId="a")
        client.notify("session/close", sessionId="b")
        client.request(1, "session/cancel", sessionId="c")
        assert (await client.receive())["result"] == {}
        client.request(2, "session/close")
        error = (await client.receive())["error"]
        assert (error["code"], error["data"]) == (-32602, {"path": "$.sessionId", "reason": "is missing"})
        client.send(b'{"jsonrpc":"2.0","id":3,"method":"session/list"}\n')
        assert (await client.receive())["result"] == {"sessions": []}
        client.request(4, "session/prompt", **PROMPT)
        assert (await client.receive())["error"]["code"] == -32601
        client.request(5, "initialize", protocolVersion=1)
        error = (await client.receive())["error"]
        assert (error["code"], error["data"]) == (-32600, {"reason": "already_initialized"})
    assert called == ["a", "c"]
