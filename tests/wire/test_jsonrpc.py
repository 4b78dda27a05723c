"""A connection over real pipes: answers, order, cancellation, errors, the end."""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any

import pytest

from agentoml.errors import ConnectionLost, InvalidParams, MethodNotFound, RemoteError
from agentoml.wire.jsonrpc import Handlers
from wire.peer import Frame, Params, Peer, peer

CANCELLED = {"code": -32800, "message": "Request cancelled"}
INTERNAL = {"code": -32603, "message": "Internal error"}


async def echo(params: Params) -> Frame:
    return {"params": params}


async def forever(params: Params) -> Frame:
    await asyncio.Event().wait()
    return {}


async def answered(client: Peer, id_: Any = 1) -> Frame:
    """The result or error of the next reply, which must be to this request."""
    frame = await client.receive()
    assert frame["id"] == id_, frame
    return frame.get("result") if "result" in frame else frame["error"]


async def still_serves(client: Peer) -> None:
    client.request("check", "echo", a=1)
    assert await answered(client, "check") == {"params": {"a": 1}}


ECHO = Handlers({"echo": echo, "forever": forever})


@pytest.mark.parametrize(
    "line", [b"{\n", b"[]\n", b"null\n", b"\xff\xfe\n", b"{}\n", b'{"id":1,"method":"echo"}\n', b"[" * 90_000 + b"\n"]
)
async def test_the_connection_lives_on_after_a_bad_line(line: bytes) -> None:
    async with peer(ECHO) as client:
        client.send(line)
        assert (await client.receive())["error"]["code"] in (-32700, -32600)
        await still_serves(client)


async def test_a_message_of_many_megabytes_is_served_both_ways() -> None:
    async with peer(ECHO) as client:
        text = "é" * 3_000_000
        client.request(1, "echo", text=text)
        assert (await answered(client))["params"]["text"] == text
        await still_serves(client)


async def test_a_message_that_is_too_long_is_skipped_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentoml.wire.frames.Lines.__init__.__defaults__", (100_000,))
    async with peer(ECHO) as client:
        client.send(b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"' + b"x" * 300_000 + b'"}}\n')
        assert (await answered(client, None))["data"]["reason"] == "too_long"
        await still_serves(client)


async def test_unknown_methods_are_refused_and_unknown_notifications_ignored() -> None:
    async with peer(ECHO) as client:
        client.notify("nothing")
        client.notify("$/whatever")
        client.request(1, "nothing")
        assert (await answered(client))["code"] == -32601


async def test_unknown_requests_can_be_answered_by_one_handler() -> None:
    async def unknown(method: str, params: Params) -> Frame:
        if method.startswith("_mine/"):
            return {"method": method, **params}
        raise MethodNotFound(method=method)

    async with peer(Handlers({}, {}, unknown)) as client:
        client.request(1, "_mine/a", b=2)
        assert await answered(client) == {"method": "_mine/a", "b": 2}
        client.request(2, "_other")
        assert (await answered(client, 2))["code"] == -32601


async def test_a_request_sent_as_a_notification_does_nothing() -> None:
    called: list[Params] = []

    async def note(params: Params) -> None:
        called.append(params)

    async with peer(Handlers({"note": note, "echo": echo})) as client:
        client.notify("note")
        await still_serves(client)
    assert called == []


async def test_an_id_that_is_in_flight_is_refused_and_free_again_after_the_answer() -> None:
    async with peer(ECHO) as client:
        client.request(1, "forever")
        client.request(1, "echo")
        assert (await answered(client))["data"] == {"reason": "duplicate_id"}
        client.request("1", "echo")
        assert await answered(client, "1") == {"params": {}}
        client.notify("$/cancel_request", requestId=1)
        assert await answered(client) == CANCELLED
        client.request(1, "echo")
        assert await answered(client) == {"params": {}}


async def test_updates_precede_the_response_of_their_handler_and_scheduled_ones_follow_it() -> None:
    async def many(params: Params) -> Frame:
        for number in range(500):
            client.connection.notify("update", {"number": number})
        asyncio.get_running_loop().call_soon(client.connection.notify, "after", {})
        return {}

    async with peer(Handlers({"many": many})) as client:
        client.request(1, "many")
        got = [await client.receive() for _ in range(502)]
    assert [frame["params"]["number"] for frame in got[:500]] == list(range(500))
    assert got[500] == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert got[501]["method"] == "after"


async def test_requests_begin_in_order_of_arrival_and_a_notification_finds_the_one_before_it_started() -> None:
    began: list[Any] = []

    async def begin(params: Params) -> Frame:
        began.append(params["number"])
        await asyncio.Event().wait()
        return {}

    async def note(params: Params) -> None:
        began.append(f"note after {began[-1]}")

    async with peer(Handlers({"begin": begin, "echo": echo}, {"note": note})) as client:
        client.send(
            *({"jsonrpc": "2.0", "id": number, "method": "begin", "params": {"number": number}} for number in range(3)),
            {"jsonrpc": "2.0", "method": "note"},
        )
        await still_serves(client)
    assert began == [0, 1, 2, "note after 2"]


async def test_a_failing_notification_handler_is_logged_and_not_answered(caplog: pytest.LogCaptureFixture) -> None:
    async def note(params: Params) -> None:
        raise RuntimeError("broken")

    async def picky(params: Params) -> None:
        raise InvalidParams(path="$.x", reason="is missing")

    async with peer(Handlers({"echo": echo}, {"note": note, "picky": picky})) as client:
        client.notify("note")
        client.notify("picky")
        await still_serves(client)
    assert [record.message for record in caplog.records] == ["note failed"]


async def test_an_exception_becomes_an_internal_error_and_its_story_goes_to_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(params: Params) -> Frame:
        raise RuntimeError("the secret is 123")

    async with peer(Handlers({"broken": broken, "echo": echo})) as client:
        client.request(1, "broken")
        assert await answered(client) == INTERNAL
        await still_serves(client)
    assert "the secret is 123" in caplog.text
    assert caplog.records[0].name == "agentoml"


@pytest.mark.parametrize("value", [math.nan, math.inf, object()])
async def test_a_result_that_is_not_json_is_an_internal_error(value: object, caplog: pytest.LogCaptureFixture) -> None:
    async def odd(params: Params) -> Frame:
        return {"value": value}

    async def odd_error(params: Params) -> Frame:
        raise InvalidParams("Odd", value=value)

    async with peer(Handlers({"odd": odd, "odd_error": odd_error})) as client:
        client.request(1, "odd")
        assert await answered(client) == INTERNAL
        client.request(2, "odd_error")
        assert await answered(client, 2) == {"code": -32602, "message": "Odd"}


async def test_nulls_are_sent() -> None:
    async def nulls(params: Params) -> Frame:
        return {"title": None, "list": []}

    async with peer(Handlers({"nulls": nulls, "nothing": lambda _: asyncio.sleep(0)})) as client:
        client.request(1, "nulls")
        assert await answered(client) == {"title": None, "list": []}
        client.request(2, "nothing")
        assert await answered(client, 2) == {}


# ---------------------------------------------------------------------------------------------- cancellation


@pytest.mark.parametrize("id_", [7, "seven", None])
async def test_a_cancelled_request_is_answered(id_: Any) -> None:
    async with peer(ECHO) as client:
        client.send(
            {"jsonrpc": "2.0", "id": id_, "method": "forever"},
            {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id_}},
        )
        assert await answered(client, id_) == CANCELLED


async def test_a_cancelled_handler_may_still_answer() -> None:
    async def graceful(params: Params) -> Frame:
        try:
            return await forever(params)
        except asyncio.CancelledError:
            return {"stopReason": "cancelled"}

    async with peer(Handlers({"graceful": graceful})) as client:
        client.request(1, "graceful")
        client.notify("$/cancel_request", requestId=1)
        assert await answered(client) == {"stopReason": "cancelled"}


async def test_a_handler_that_is_cancelled_from_within_is_answered() -> None:
    async def inner_cancel(params: Params) -> Frame:
        task = asyncio.create_task(forever({}))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    async with peer(Handlers({"inner": inner_cancel, "echo": echo})) as client:
        client.request(1, "inner")
        assert await answered(client) == CANCELLED
        await still_serves(client)


@pytest.mark.parametrize("id_", [99, 1.0, True, [1], {}, "1"])
async def test_cancelling_what_does_not_run_is_ignored(id_: Any) -> None:
    async with peer(ECHO) as client:
        client.request(1, "forever")
        client.notify("$/cancel_request", requestId=id_)
        client.notify("$/cancel_request")
        await still_serves(client)


# ------------------------------------------------------------------------------------------ requests of ours


async def test_answers_find_their_requests_in_any_order() -> None:
    async with peer(ECHO) as client:
        first = asyncio.create_task(client.connection.request("a", {}))
        second = asyncio.create_task(client.connection.request("b", {"x": None}))
        asked = [await client.receive(), await client.receive()]
        assert [(frame["method"], frame["params"]) for frame in asked] == [("a", {}), ("b", {"x": None})]
        client.send(
            {"jsonrpc": "2.0", "id": asked[1]["id"], "result": None},
            {"jsonrpc": "2.0", "id": asked[1]["id"], "result": "twice"},
            {"jsonrpc": "2.0", "id": 12345, "result": {}},
            {"jsonrpc": "2.0", "id": float(asked[0]["id"]), "result": {}},
            {"jsonrpc": "2.0", "id": [], "result": {}},
            {"jsonrpc": "2.0", "id": asked[0]["id"], "error": {"code": -32601, "message": "No\nway", "data": 1}},
        )
        assert await second is None
        with pytest.raises(RemoteError) as caught:
            await first
        assert (caught.value.code, caught.value.message, caught.value.data) == (-32601, "No way", 1)
        await still_serves(client)


async def test_a_malformed_error_is_an_error_all_the_same() -> None:
    async with peer(ECHO) as client:
        task = asyncio.create_task(client.connection.request("a", {}))
        client.send({"jsonrpc": "2.0", "id": (await client.receive())["id"], "error": "odd"})
        with pytest.raises(RemoteError, match="no message"):
            await task


async def test_an_abandoned_request_is_cancelled_at_the_other_side_and_its_late_answer_ignored() -> None:
    async with peer(ECHO) as client:
        task = asyncio.create_task(client.connection.request("ask", {}))
        asked = await client.receive()
        task.cancel()
        note = await client.receive()
        assert note == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": asked["id"]}}
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {}})
        await still_serves(client)
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_what_json_cannot_say_is_never_sent() -> None:
    async with peer(ECHO) as client:
        with pytest.raises(ValueError, match="JSON"):
            await client.connection.request("a", {"x": math.nan})
        with pytest.raises(ValueError, match="JSON"):
            client.connection.notify("a", {"x": math.nan})
        await still_serves(client)


# ----------------------------------------------------------------------------------------------- back-pressure


async def test_a_client_that_reads_slowly_gets_everything_in_order() -> None:
    async with peer(ECHO) as client:
        for number in range(3000):
            client.connection.notify("update", {"number": number, "text": "x" * 100})
        assert client.connection.backlog > 0
        drained = asyncio.create_task(client.connection.drain())
        got = [(await client.receive())["params"]["number"] for _ in range(3000)]
        await drained
        assert client.connection.backlog == 0
    assert got == list(range(3000))


async def test_the_connection_ends_although_the_client_does_not_read(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agentoml.wire.jsonrpc.FLUSHED_WITHIN", 0.05)
    async with peer(ECHO) as client:
        client.connection.notify("big", {"text": "x" * 1_000_000})
        drained = asyncio.create_task(client.connection.drain())
        client.hang_up()
        await client.served()
        with pytest.raises(ConnectionLost):
            await drained
    assert "did not read" in caplog.text


# --------------------------------------------------------------------------------------------------- the end


async def test_at_the_end_of_the_input_handlers_are_cancelled_and_every_reply_flushed() -> None:
    ended: list[str] = []

    async def clean(params: Params) -> Frame:
        try:
            return await forever(params)
        finally:
            await asyncio.sleep(0)
            ended.append("clean")

    async with peer(Handlers({"clean": clean, "echo": echo})) as client:
        for number in range(200):
            client.request(number, "echo")
        client.request("last", "clean")
        client.hang_up()
        replies = await client.receive_all()
        await client.served()
    assert ended == ["clean"]
    assert [reply["id"] for reply in replies] == [*range(200), "last"]
    assert replies[-1]["error"] == CANCELLED


async def test_requests_of_ours_end_with_the_connection() -> None:
    async with peer(ECHO) as client:
        task = asyncio.create_task(client.connection.request("ask", {}))
        await client.receive()
        client.hang_up()
        with pytest.raises(ConnectionLost):
            await task
        await client.served()
        with pytest.raises(ConnectionLost):
            await client.connection.request("ask", {})
        with pytest.raises(ConnectionLost):
            await client.connection.drain()
        client.connection.notify("nobody", {})


async def test_a_client_that_stops_listening_ends_the_connection_at_once() -> None:
    async with peer(ECHO) as client:
        client.request(1, "forever")
        await still_serves(client)
        client.stop_listening()
        await client.served()


async def test_close_ends_a_connection_whose_notification_handler_waits() -> None:
    async with peer(Handlers({}, {"wait": forever})) as client:
        client.notify("wait")
        client.connection.notify("hello", {})
        await client.receive()
        client.connection.close()
        await client.served()


async def test_a_handler_that_will_not_end_does_not_keep_the_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agentoml.wire.jsonrpc.HANDLERS_END_WITHIN", 0.05)
    release = asyncio.Event()

    async def stubborn(params: Params) -> Frame:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return {}

    async with peer(Handlers({"stubborn": stubborn, "echo": echo})) as client:
        client.request(1, "stubborn")
        await still_serves(client)
        client.hang_up()
        await client.served()
        release.set()
    assert "stubborn does not end" in caplog.text


async def test_a_handler_whose_client_is_gone_leaves_no_story(caplog: pytest.LogCaptureFixture) -> None:
    async def ask(params: Params) -> Frame:
        try:
            return await forever(params)
        except asyncio.CancelledError:
            return dict(await client.connection.request("late", {}))

    with caplog.at_level(logging.INFO, "agentoml"):
        async with peer(Handlers({"ask": ask, "echo": echo})) as client:
            client.request(1, "ask")
            await still_serves(client)
            client.hang_up()
            await client.served()
    assert caplog.records == []


async def test_an_observer_sees_every_line() -> None:
    seen: list[tuple[str, bytes]] = []
    async with peer(ECHO, lambda direction, line: seen.append((direction, line))) as client:
        client.send(b"oops\n")
        assert (await client.receive())["error"]["code"] == -32700
    assert seen[0] == ("received", b"oops\n")
    assert seen[1][0] == "sent"
    assert seen[1][1].endswith(b"\n")
