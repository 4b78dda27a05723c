"""Whatever a provider streams, an answer gives events and an end, or a ModelError; nothing else."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.errors import ModelError
from agentoml.models.anthropic_answer import MessagesAnswer
from agentoml.models.failures import stream_failure
from agentoml.models.model import Finished, TextDelta, ThoughtDelta, Usage
from agentoml.models.openai_answer import ChatAnswer
from agentoml.models.openai_responses_answer import ResponsesAnswer

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2),
    st.just(1.5),
    st.sampled_from(["", "x", "{}", "{", "thinking", "text"]),
)


def values_with(names: list[str], words: list[str]) -> st.SearchStrategy[Any]:
    """JSON whose keys and some of whose texts are words of a protocol."""
    leaves = st.one_of(SCALARS, st.sampled_from(words))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(names), inner, max_size=6)
        ),
        max_leaves=12,
    )


CHAT = values_with(
    [
        "delta",
        "message",
        "content",
        "reasoning",
        "reasoning_details",
        "thinking_blocks",
        "tool_calls",
        "index",
        "id",
        "function",
        "name",
        "arguments",
        "refusal",
        "type",
        "text",
        "thinking",
        "signature",
        "finish_reason",
    ],
    ["stop", "length", "error", "redacted_thinking"],
)
CHAT_CHUNKS = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(
            st.fixed_dictionaries({}, optional={"delta": CHAT, "message": CHAT, "finish_reason": CHAT}), max_size=2
        )
        | CHAT,
        "usage": CHAT,
        "x_groq": CHAT,
        "error": CHAT,
    },
)
MESSAGES = values_with(
    ["type", "text", "thinking", "signature", "partial_json", "id", "name", "input", "usage", "stop_reason", "data"],
    [
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "input_json_delta",
        "tool_use",
        "server_tool_use",
        "pause_turn",
    ],
)
MESSAGES_EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["message_start", "content_block_start", "content_block_delta", "message_delta", "error"]
        )
    },
    optional={
        "index": st.integers(0, 1) | SCALARS,
        "content_block": MESSAGES,
        "delta": MESSAGES,
        "message": MESSAGES,
        "usage": MESSAGES,
        "error": MESSAGES,
    },
)
RESPONSES = values_with(
    [
        "type",
        "text",
        "refusal",
        "content",
        "call_id",
        "name",
        "arguments",
        "summary",
        "encrypted_content",
        "id",
        "usage",
        "status",
        "output",
        "error",
        "incomplete_details",
        "reason",
        "input_tokens",
        "input_tokens_details",
    ],
    ["message", "function_call", "reasoning", "incomplete", "content_filter", "output_text"],
)
RESPONSES_EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "response.output_text.delta",
                "response.output_item.done",
                "response.completed",
                "response.failed",
                "error",
            ]
        )
        | st.none()
    },
    optional={
        "delta": RESPONSES,
        "item": RESPONSES,
        "response": RESPONSES,
        "object": st.just("response"),
        "error": RESPONSES,
    },
)
ANSWERS = {
    "chat": (ChatAnswer, CHAT_CHUNKS),
    "messages": (MessagesAnswer, MESSAGES_EVENTS),
    "responses": (ResponsesAnswer, RESPONSES_EVENTS),
}


@pytest.mark.parametrize("protocol", list(ANSWERS))
@given(data=st.data())
@settings(max_examples=25)
def test_an_answer_survives_anything(protocol: str, data: st.DataObject) -> None:
    kind, chunks = ANSWERS[protocol]
    answer = kind("provider.example", lambda error: stream_failure("provider.example", error))

    with contextlib.suppress(ModelError):
        for chunk in data.draw(st.lists(chunks, max_size=4)):
            for event in answer.take(json.dumps(chunk)):
                assert isinstance(event, TextDelta | ThoughtDelta)
                assert isinstance(event.text, str)
                assert event.text
    if isinstance(answer, MessagesAnswer):
        json.dumps(answer.own_blocks())
    end = answer.result("here")

    assert isinstance(end, Finished)
    assert isinstance(end.usage, Usage | None)
    assert all(isinstance(text, str) for call in end.tool_requests for text in (call.id, call.name, call.arguments))
    assert (end.stop == "tool_use") == bool(end.tool_requests)
    json.dumps(end.opaque)
