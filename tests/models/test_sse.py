from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.models import sse
from agentoml.models.sse import EventParser, EventSizeError, ServerEvent

STREAM = (
    "\ufeffdata: one\n\n"
    ": a comment\n"
    "event: delta\r\ndata: {\r\ndata:  two\r\ndata:}\r\n\r\n"
    "id: 7\rretry: 10\rdata: thr€e 🎈\r\r"
    "data\n\n"
    "event: nothing\n\n"
    "data: after\n\n"
).encode()
EVENTS = [
    ServerEvent("message", "one"),
    ServerEvent("delta", "{\n two\n}"),
    ServerEvent("message", "thr€e 🎈"),
    ServerEvent("message", ""),
    ServerEvent("message", "after"),
]


def parsed(*pieces: bytes) -> list[ServerEvent]:
    parser = EventParser()
    return [event for piece in pieces for event in parser.feed(piece)] + parser.finish()


def test_a_stream_in_one_piece_gives_its_events() -> None:
    assert parsed(STREAM) == EVENTS


def test_a_stream_in_single_bytes_gives_the_same_events() -> None:
    assert parsed(*(STREAM[index : index + 1] for index in range(len(STREAM)))) == EVENTS


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=8))
@settings(max_examples=60)
def test_a_stream_gives_the_same_events_wherever_it_is_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]

    assert parsed(*(STREAM[a:b] for a, b in pairwise(places))) == EVENTS


@given(
    texts=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n")), max_size=5),
    end=st.sampled_from(["\n", "\r", "\r\n"]),
    size=st.integers(1, 7),
)
@settings(max_examples=60)
def test_any_text_comes_through(texts: list[str], end: str, size: int) -> None:
    stream = "".join(f"data: {text}{end}{end}" for text in texts).encode()

    pieces = [stream[index : index + size] for index in range(0, len(stream), size)]

    assert [event.data for event in parsed(*pieces)] == texts


def test_an_event_is_given_as_soon_as_its_blank_line_is_there() -> None:
    parser = EventParser()

    assert parser.feed(b"data: now\r\n\r") == [ServerEvent("message", "now")]
    assert parser.feed(b"\ndata: then\n") == []
    assert parser.feed(b"\n") == [ServerEvent("message", "then")]


def test_the_end_of_the_stream_ends_an_event_without_a_blank_line() -> None:
    assert parsed(b"data: last") == [ServerEvent("message", "last")]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert parsed(b"data: a\xffb\n\n") == [ServerEvent("message", "a\ufffdb")]


@pytest.mark.parametrize("line", [b"data: " + b"x" * 100, b"data: xxxxxxxxx\n"])
def test_an_event_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1000)
    parser = EventParser()

    with pytest.raises(EventSizeError):
        for _ in range(1000):
            parser.feed(line)
