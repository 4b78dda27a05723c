"""Bytes -> lines -> messages -> bytes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.errors import InvalidParams, NotFound
from agentoml.wire import frames
from agentoml.wire.frames import Encoded, Lines, Notification, Rejected, Request, Response, decode, encode, encode_value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def rejected(line: bytes) -> tuple[Any, int]:
    message = decode(line)
    assert isinstance(message, Rejected), message
    return message.reply["id"], message.reply["error"]["code"]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"jsonrpc":"2.0","id":1,"meth',
        b"hello",
        b'{"a":\xff}',
        b"\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}',
        b'{"a":-Infinity}',
        b"[" * 100_000,
        b"9" * 10_000,
        b'"\n"'[:2],
    ],
)
def test_what_is_not_json_in_utf_8_is_a_parse_error(line: bytes) -> None:
    assert rejected(line) == (None, -32700)


@pytest.mark.parametrize(
    "line", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', b"null", b"1", b'"x"', b"true", b"{}"]
)
def test_what_is_not_one_message_is_an_invalid_request(line: bytes) -> None:
    assert rejected(line) == (None, -32600)


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        (b'{"id":1,"method":"x"}', 1),
        (b'{"jsonrpc":"1.0","id":"a","method":"x"}', "a"),
        (b'{"jsonrpc":2.0,"id":1,"method":"x"}', 1),
        (b'{"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', 1),
        (b'{"jsonrpc":"2.0","id":1}', 1),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"x"}', None),
    ],
)
def test_a_malformed_envelope_is_an_invalid_request_with_its_id_where_it_has_one(line: bytes, id_: Any) -> None:
    assert rejected(line) == (id_, -32600)


def test_params_that_are_no_object_are_invalid_params_of_a_request_and_end_a_notification() -> None:
    assert rejected(b'{"jsonrpc":"2.0","id":4,"method":"x","params":[1]}') == (4, -32602)
    assert decode(b'{"jsonrpc":"2.0","method":"x","params":[1]}') is None


@pytest.mark.parametrize("line", [b"", b"  ", b"\r", b"\t\r"])
def test_blank_lines_are_nothing(line: bytes) -> None:
    assert decode(line) is None


@pytest.mark.parametrize("id_", [0, -5, 2**53, "a", "", "é", None])
def test_ids_are_kept_in_value_and_type(id_: Any) -> None:
    message = decode(json.dumps({"jsonrpc": "2.0", "id": id_, "method": "x"}).encode())
    assert message == Request(id_, "x", {})
    assert json.loads(encode(frames.response(id_, {})))["id"] == id_


def test_params_may_be_left_out_or_null() -> None:
    assert decode(b'{"jsonrpc":"2.0","method":"x"}\r') == Notification("x", {})
    assert decode(b'{"jsonrpc":"2.0","id":1,"method":"x","params":null}') == Request(1, "x", {})


def test_meta_stays_where_it_was() -> None:
    message = decode(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"cwd":"/a","_meta":{"cwd":"/b","self":1}}}')
    assert message == Request(1, "x", {"cwd": "/a", "_meta": {"cwd": "/b", "self": 1}})


def test_responses_are_never_answered_whatever_they_look_like() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":1,"result":null}') == Response(1, None, None)
    assert decode(b'{"id":1,"result":{},"error":null}') == Response(1, {}, None)
    assert decode(b'{"jsonrpc":"2.0","id":null,"error":{"code":-1}}') == Response(None, None, {"code": -1})
    assert decode(b'{"jsonrpc":"2.0","id":[],"error":"odd"}') == Response([], None, {})


@given(JSON)
@settings(max_examples=60)
def test_every_message_is_one_line_that_reads_back_as_it_was(value: Any) -> None:
    line = encode({"value": value})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line.decode("utf-8")) == {"value": value}


@given(JSON, st.dictionaries(st.text(), st.sampled_from(("plain", "ready", "list"))))
@settings(max_examples=60)
def test_what_is_json_already_is_taken_as_it_is_wherever_it_stands(value: Any, places: dict[str, str]) -> None:
    ready = Encoded(encode_value(value))
    plain = {name: [value, {}] if place == "list" else value for name, place in places.items()}
    message = {
        name: [ready, {}] if place == "list" else ready if place == "ready" else value for name, place in places.items()
    }
    assert encode(message) == encode(plain)
    assert encode({"ready": ready, "plain": message}) == encode({"ready": value, "plain": plain})


def test_what_is_json_already_may_come_in_pieces() -> None:
    assert encode({"a": Encoded(b"[", b"1", b",2]"), "b": 3}) == b'{"a":[1,2],"b":3}\n'
    assert Encoded(b"[", b"1", b"]") == Encoded(b"[1]")


@pytest.mark.parametrize("value", [math.nan, object(), {1: 2}])
def test_what_json_cannot_say_is_refused_beside_what_is_json_already(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode({"ready": Encoded(b"1"), "a": value})


def test_a_lone_surrogate_goes_out_as_its_escape() -> None:
    assert encode({"a": "\ud800é"}) == b'{"a":"\\ud800\\u00e9"}\n'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, object(), {1, 2}, b"x"])
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode({"a": value})


def test_what_holds_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    with pytest.raises(ValueError, match=r"[Cc]ircular"):
        encode(loop)


def test_an_error_reply_has_one_line_and_its_data() -> None:
    assert frames.error_response(1, NotFound("No\n such  thing", sessionId="s"))["error"] == {
        "code": -32002,
        "message": "No such thing",
        "data": {"sessionId": "s"},
    }
    assert frames.error_response(1, InvalidParams())["error"] == {"code": -32602, "message": "Invalid params"}


@given(st.binary(max_size=60), st.lists(st.integers(1, 7), max_size=20), st.integers(1, 20))
@settings(max_examples=100)
def test_lines_are_the_same_however_the_bytes_come(data: bytes, cuts: list[int], limit: int) -> None:
    lines, got, position = Lines(limit), [], 0
    for size in [*cuts, len(data)]:
        got += lines.feed(data[position : position + size])
        position += size
    *complete, rest = data.split(b"\n")
    assert got == [line if len(line) <= limit else None for line in complete]
    if len(rest) <= limit:
        assert lines.rest == rest


def test_an_overlong_line_is_let_go_and_the_next_one_read() -> None:
    lines = Lines(limit=10)
    assert list(lines.feed(b"x" * 11)) == []
    assert lines.rest == b""
    assert list(lines.feed(b"x\nok\n")) == [None, b"ok"]
    message = decode(None)
    assert isinstance(message, Rejected)
    assert message.reply["error"]["code"] == -32600
    assert message.reply["error"]["data"]["reason"] == "too_long"
