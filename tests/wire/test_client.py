"""What an agent asks of its client: what is sent, what counts as an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentoml.errors import ConnectionLost, RemoteError
from agentoml.wire import messages
from agentoml.wire.client import Client, TerminalExit, TerminalOutput
from agentoml.wire.jsonrpc import Handlers
from schema_frames import check_frame
from wire.peer import Peer, peer

EVERYTHING = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}},
}
OPTIONS = [
    messages.permission_option("yes", "Allow", "allow_once"),
    messages.permission_option("no", "Reject", "reject_once"),
]
CALL = messages.tool_call_update("c1", title="Run", kind="execute", status="pending")


@pytest.fixture
async def editor() -> AsyncIterator[Peer]:
    async with peer(Handlers({})) as client:
        yield client


async def ask(editor: Peer, asking: Any, result: Any) -> tuple[dict[str, Any], Any]:
    """Return the request that `asking` sends, and what it makes of the result (or error) that comes back."""
    task = asyncio.create_task(asking)
    request = await editor.receive()
    check_frame(request)
    answer = result if isinstance(result, dict) and "error" in result else {"result": result}
    editor.send({"jsonrpc": "2.0", "id": request["id"]} | answer)
    return request["params"], await task


def test_what_a_client_does_not_say_it_cannot_do() -> None:
    for capabilities in (
        {},
        {"fs": None, "terminal": None, "session": None},
        {"fs": [], "terminal": "yes", "session": {"configOptions": True, "notices": True}},
        {"fs": {"readTextFile": 1, "writeTextFile": "true"}, "session": {"configOptions": {"boolean": None}}},
        {"session": {"configOptions": {"boolean": True}}},
    ):
        client = Client(None, capabilities, None)  # type: ignore[arg-type]
        assert not any((client.can_read, client.can_write, client.can_terminal, client.can_notice, client.booleans)), (
            capabilities
        )


def test_what_a_client_says_it_can_do() -> None:
    client = Client(None, EVERYTHING, {"name": "ed", "version": "1"})  # type: ignore[arg-type]
    assert client.name == "ed"
    assert all((client.can_read, client.can_write, client.can_terminal, client.can_notice, client.booleans))


@pytest.mark.parametrize("info", [None, {}, {"name": None}, {"name": 7}, "ed"])
def test_a_client_without_a_name_has_the_empty_name(info: Any) -> None:
    assert Client(None, {}, info).name == ""  # type: ignore[arg-type]


async def test_updates_name_their_session(editor: Peer) -> None:
    client = Client(editor.connection, {}, None)
    client.update("s1", messages.agent_message_chunk("hi", "m1"))
    frame = await editor.receive()
    check_frame(frame)
    assert frame["params"]["sessionId"] == "s1"
    await client.drain()
    assert client.backlog == 0


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ({"outcome": {"outcome": "selected", "optionId": "yes"}}, "yes"),
        ({"outcome": "selected", "optionId": "no"}, "no"),
        ({"outcome": {"outcome": "cancelled"}}, None),
        ({"outcome": {"outcome": "cancelled", "optionId": "yes"}}, None),
        ({"outcome": "cancelled"}, None),
        ({"outcome": {"outcome": "selected"}}, None),
        ({"outcome": {"outcome": "selected", "optionId": 1}}, None),
        ({"outcome": {"outcome": "selected", "optionId": ["yes"]}}, None),
        ({"outcome": {"outcome": "selected", "optionId": "not offered"}}, None),
        ({"outcome": {"outcome": "approved", "optionId": "yes"}}, None),
        ({"outcome": {"optionId": "yes"}}, None),
        ({"optionId": "yes"}, None),
        ({"outcome": True}, None),
        ({}, None),
        (None, None),
        ([], None),
        ("yes", None),
    ],
)
async def test_only_the_selection_of_an_offered_option_counts(editor: Peer, answer: Any, chosen: str | None) -> None:
    client = Client(editor.connection, {}, None)
    sent, got = await ask(editor, client.request_permission("s", CALL, OPTIONS), answer)
    assert got == chosen
    assert sent["toolCall"] == {"toolCallId": "c1", "title": "Run", "kind": "execute", "status": "pending"}
    assert [option["optionId"] for option in sent["options"]] == ["yes", "no"]


async def test_a_client_that_refuses_to_ask_is_an_error(editor: Peer) -> None:
    client = Client(editor.connection, {}, None)
    with pytest.raises(RemoteError):
        await ask(editor, client.request_permission("s", CALL, OPTIONS), {"error": {"code": -32601, "message": "no"}})


async def test_files_are_read_and_written(editor: Peer) -> None:
    client = Client(editor.connection, EVERYTHING, None)
    sent, text = await ask(editor, client.read_text_file("s", "/a", 3, 10), {"content": "x"})
    assert (sent, text) == ({"sessionId": "s", "path": "/a", "line": 3, "limit": 10}, "x")
    sent, _ = await ask(editor, client.read_text_file("s", "/a"), {"content": ""})
    assert sent == {"sessionId": "s", "path": "/a"}
    for nothing in ({}, None):
        sent, written = await ask(editor, client.write_text_file("s", "/a", "y"), nothing)
        assert (sent, written) == ({"sessionId": "s", "path": "/a", "content": "y"}, None)


@pytest.mark.parametrize("answer", [None, {}, {"content": None}, {"content": 7}, [], {"error": {"code": -32002}}])
async def test_a_file_without_content_is_an_error(editor: Peer, answer: Any) -> None:
    client = Client(editor.connection, EVERYTHING, None)
    with pytest.raises(RemoteError):
        await ask(editor, client.read_text_file("s", "/a"), answer)


async def test_terminals(editor: Peer) -> None:
    client = Client(editor.connection, EVERYTHING, None)
    create = client.terminal_create("s", ["git", "status"], env={"A": "B"}, cwd="/w", output_limit=1000)
    sent, terminal = await ask(editor, create, {"terminalId": "t1"})
    assert terminal == "t1"
    assert sent == {
        "sessionId": "s",
        "command": "git",
        "args": ["status"],
        "env": [{"name": "A", "value": "B"}],
        "cwd": "/w",
        "outputByteLimit": 1000,
    }
    sent, _ = await ask(editor, client.terminal_create("s", ["true"]), {"terminalId": "t2"})
    assert sent == {"sessionId": "s", "command": "true", "args": []}
    sent, output = await ask(editor, client.terminal_output("s", "t1"), {"output": "x", "truncated": False})
    assert (sent, output) == ({"sessionId": "s", "terminalId": "t1"}, TerminalOutput("x", False, None))
    ended = {"output": "x", "truncated": True, "exitStatus": {"exitCode": 0, "signal": None}}
    _, output = await ask(editor, client.terminal_output("s", "t1"), ended)
    assert output == TerminalOutput("x", True, TerminalExit(0, None))
    _, status = await ask(editor, client.terminal_wait_for_exit("s", "t1"), {"exitCode": None, "signal": "SIGKILL"})
    assert status == TerminalExit(None, "SIGKILL")
    _, status = await ask(editor, client.terminal_wait_for_exit("s", "t1"), None)
    assert status == TerminalExit(None, None)
    for ending in (client.terminal_kill, client.terminal_release):
        assert (await ask(editor, ending("s", "t1"), None))[1] is None


async def test_what_the_client_does_not_offer_is_never_sent(editor: Peer) -> None:
    client = Client(editor.connection, {}, None)
    for asking in (
        client.read_text_file("s", "/a"),
        client.write_text_file("s", "/a", "x"),
        client.terminal_create("s", ["true"]),
        client.terminal_output("s", "t"),
        client.terminal_wait_for_exit("s", "t"),
        client.terminal_kill("s", "t"),
        client.terminal_release("s", "t"),
    ):
        with pytest.raises(RemoteError, match="offers no"):
            await asking
    editor.hang_up()
    assert await editor.receive_all() == []
    with pytest.raises(ConnectionLost):
        await client.request_permission("s", CALL, OPTIONS)
