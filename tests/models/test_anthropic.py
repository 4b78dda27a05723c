from __future__ import annotations

from typing import Any

import pytest

from agentoml.config.schema import Provider, Retry
from agentoml.errors import ModelError
from agentoml.models.adapters import open_adapter
from agentoml.models.anthropic_request import DEFAULT_OUTPUT, request_body
from agentoml.models.model import (
    AssistantMessage,
    Event,
    Finished,
    ImagePart,
    Message,
    ModelRequest,
    TextDelta,
    TextPart,
    ThoughtDelta,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    Usage,
    UserMessage,
)
from servers import anthropic
from servers.http_server import HANG_UP, Answer, HttpServer, json_answer
from servers.said import Said

ORIGIN = "here"
MARK = {"type": "ephemeral"}


def user(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def body_of(*messages: Message, **more: Any) -> dict[str, Any]:
    return request_body(ModelRequest("claude", "Be brief.", messages or (user("hello"),), **more), ORIGIN)


async def events_of(*answers: Answer, messages: tuple[Message, ...] = (user("hello"),)) -> list[Event]:
    async with HttpServer(*answers) as server:
        provider = Provider(adapter="anthropic", base_url=server.url, retry=Retry(attempts=1))
        adapter = open_adapter("claude", provider, None)  # type: ignore[arg-type]
        try:
            return [event async for event in adapter.stream(ModelRequest("claude", "", messages))]
        finally:
            await adapter.aclose()
            assert all(request.target == "/v1/messages" for request in server.requests)
            assert all(request.headers["anthropic-version"] for request in server.requests)


async def failure_of(answer: Answer) -> ModelError:
    with pytest.raises(ModelError) as error:
        await events_of(answer)
    return error.value


# ----------------------------------------------------------------------------------------------------- requests


def test_a_request_is_marked_for_the_prompt_cache_at_tools_instructions_and_the_last_messages() -> None:
    tools = (ToolSpec("a", "A", {"type": "object"}), ToolSpec("b", "B", {"type": "object"}))
    answer = AssistantMessage("ok")

    body = body_of(user("one"), answer, user("two"), answer, user("three"), tools=tools)

    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    assert body["tools"][0] == {"name": "a", "description": "A", "input_schema": {"type": "object"}}
    asked = [message["content"][-1] for message in body["messages"] if message["role"] == "user"]
    assert [block.get("cache_control") for block in asked] == [None, MARK, MARK]


def test_roles_alternate_and_results_come_before_what_the_user_says() -> None:
    calls = (ToolRequest("functions.x:0", "x", '{"n": 1}'), ToolRequest("b", "y", "{broken"))
    body = body_of(
        user("one"),
        user("two"),
        AssistantMessage("  ", "", calls),
        ToolMessage("functions.x:0", (TextPart("r"), ImagePart("aGk=", "image/png"))),
        ToolMessage("b", (TextPart("no"),), failed=True),
        user("three"),
    )

    first, second, third = body["messages"]
    assert [block["text"] for block in first["content"]] == ["one", "two"]
    assert second == {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "functions_x_0", "name": "x", "input": {"n": 1}},
            {"type": "tool_use", "id": "b", "name": "y", "input": {"invalid_arguments": "{broken"}},
        ],
    }
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    text = {"type": "text", "text": "r"}
    assert third["content"][:2] == [
        {"type": "tool_result", "tool_use_id": "functions_x_0", "content": [text, image]},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "no"}], "is_error": True},
    ]
    assert third["content"][2]["text"] == "three"


def test_empty_texts_which_messages_refuses_are_left_out() -> None:
    body = body_of(user(" "), AssistantMessage(" \n"), user("two"), ToolMessage("x", ()))

    (message,) = body["messages"]
    assert [block.get("text") for block in message["content"]] == ["(nothing)", "two", None]
    assert "content" not in message["content"][-1]


@pytest.mark.parametrize(
    ("more", "thinking", "effort", "max_tokens"),
    [
        ({}, None, None, DEFAULT_OUTPUT),
        ({"max_output": 100}, None, None, 100),
        ({"reasoning": "high"}, {"type": "adaptive", "display": "summarized"}, "high", DEFAULT_OUTPUT),
        ({"reasoning": "off"}, {"type": "disabled"}, None, DEFAULT_OUTPUT),
        (
            {"reasoning": "deep", "reasoning_budget": 5000, "max_output": 9000},
            {"type": "enabled", "budget_tokens": 5000},
            None,
            9000,
        ),
        (
            {"reasoning": "deep", "reasoning_budget": 5000, "max_output": 4000},
            {"type": "enabled", "budget_tokens": 5000},
            None,
            9000,
        ),
        ({"reasoning": "none", "reasoning_budget": 0}, {"type": "disabled"}, None, DEFAULT_OUTPUT),
        ({"reasoning": "high", "params": {"thinking": {"type": "x"}}}, {"type": "x"}, "high", DEFAULT_OUTPUT),
    ],
)
def test_reasoning_is_asked_for_by_effort_or_by_budget(
    more: dict[str, Any], thinking: Any, effort: str | None, max_tokens: int
) -> None:
    body = body_of(**more)

    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == effort
    assert body["max_tokens"] == max_tokens


def test_a_budget_waits_until_tool_calls_that_began_without_thinking_are_over() -> None:
    call = AssistantMessage("", "", (ToolRequest("a", "x", "{}"),))
    result = ToolMessage("a", (TextPart("r"),))
    budget: dict[str, Any] = {"reasoning": "deep", "reasoning_budget": 2000}

    assert body_of(user("one"), call, result, **budget)["thinking"] == {"type": "disabled"}
    assert body_of(user("one"), call, result, AssistantMessage("ok"), user("two"), **budget)["thinking"] == {
        "type": "enabled",
        "budget_tokens": 2000,
    }


def test_an_answer_whose_calls_are_not_those_that_were_made_is_built_anew() -> None:
    opaque = {"origin": ORIGIN, "blocks": [{"type": "thinking", "thinking": "", "signature": "s"}]}
    message = AssistantMessage("text", "", (ToolRequest("a", "x", "{}"),), opaque)

    blocks = body_of(user("one"), message, ToolMessage("a", ()))["messages"][1]["content"]

    assert [block["type"] for block in blocks] == ["text", "tool_use"]


# ------------------------------------------------------------------------------------------------------ answers


async def test_blocks_are_kept_as_they_came_for_sending_back() -> None:
    redacted = {"type": "redacted_thinking", "data": "sealed"}
    events = await events_of(
        anthropic.answer(
            anthropic.start(input_tokens=5),
            *anthropic.thinking(0, "Hm", "."),
            *anthropic.block(1, redacted),
            *anthropic.text(2, "Look", "ing."),
            *anthropic.tool_use(3, "a", "x", '{"n"', ": 1}"),
            *anthropic.end("tool_use", output_tokens=9),
        )
    )

    assert events[:-1] == [ThoughtDelta("Hm"), ThoughtDelta("."), TextDelta("Look"), TextDelta("ing.")]
    end = events[-1]
    assert isinstance(end, Finished)
    assert end.opaque is not None
    assert end.opaque["blocks"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "signed"},
        redacted,
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "a", "name": "x", "input": {"n": 1}},
    ]


async def test_a_plain_answer_has_nothing_to_send_back() -> None:
    end = (await events_of(anthropic.reply(Said(words=("x",)))))[-1]

    assert isinstance(end, Finished)
    assert end.opaque is None


async def test_usage_counts_what_was_read_from_and_written_to_the_cache() -> None:
    answer = anthropic.answer(
        anthropic.start(input_tokens=5, cache_read_input_tokens=70, cache_creation_input_tokens=25, output_tokens=1),
        *anthropic.text(0, "x"),
        *anthropic.end("end_turn", output_tokens=9, input_tokens=None),
    )

    end = (await events_of(answer))[-1]

    assert isinstance(end, Finished)
    assert end.usage == Usage(input=100, output=9, cached=70, written=25)


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop_sequence", "end_turn"),
        ("model_context_window_exceeded", "max_tokens"),
        ("something_new", "end_turn"),
    ],
)
async def test_other_reasons_to_stop_are_told(reason: str, stop: str) -> None:
    answer = anthropic.answer(anthropic.start(), *anthropic.text(0, "x"), *anthropic.end(reason))

    assert (await events_of(answer))[-1] == Finished(stop)  # type: ignore[arg-type]


async def test_an_answer_that_was_paused_is_continued() -> None:
    search = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
    paused = anthropic.answer(
        anthropic.start(input_tokens=10),
        *anthropic.text(0, "I search."),
        *anthropic.block(1, search, {"type": "input_json_delta", "partial_json": '{"query": "x"}'}),
        *anthropic.block(2, found),
        *anthropic.end("pause_turn", output_tokens=4),
    )
    goes_on = anthropic.answer(
        anthropic.start(input_tokens=20), *anthropic.text(0, "Found."), *anthropic.end("end_turn", output_tokens=2)
    )
    async with HttpServer(paused, goes_on) as server:
        adapter = open_adapter("c", Provider(adapter="anthropic", base_url=f"{server.url}/v1"), None)  # type: ignore[arg-type]
        events = [event async for event in adapter.stream(ModelRequest("claude", "", (user("hello"),)))]
        await adapter.aclose()

    assert events[:-1] == [TextDelta("I search."), TextDelta("Found.")]
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.stop, end.tool_requests, end.usage) == ("end_turn", (), Usage(input=30, output=6))
    assert server.requests[1].json["messages"][-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "I search."}, {**search, "input": {"query": "x"}}, found],
    }
    assert end.opaque is not None
    assert [block["type"] for block in end.opaque["blocks"]] == [
        "text",
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]


async def test_a_call_that_was_cut_off_is_no_call() -> None:
    answer = anthropic.answer(anthropic.start(), *anthropic.tool_use(0, "a", "x", '{"pa'), *anthropic.end("max_tokens"))

    assert await events_of(answer) == [Finished("max_tokens")]


async def test_deltas_and_events_that_are_not_known_are_passed_over() -> None:
    answer = anthropic.answer(
        anthropic.start(),
        anthropic.event("something_new", data=1),
        *anthropic.block(0, {"type": "text", "text": ""}, {"type": "citations_delta", "citation": {}}),
        *anthropic.end("end_turn"),
    )

    assert await events_of(answer) == [Finished("end_turn")]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (anthropic.answer(anthropic.event("error", error={"type": "overloaded_error", "message": "m"})), "overloaded"),
        (anthropic.answer(anthropic.event("error", error={"type": "invalid_request_error"})), "bad_request"),
        (anthropic.answer(anthropic.event("error")), "bad_request"),
        (json_answer({"type": "error", "error": {"type": "rate_limit_error", "message": "m"}}), "rate_limit"),
        (json_answer({"error": {"message": "prompt is too long: 5 > 4 maximum"}}, 400), "context_length"),
        (anthropic.answer(anthropic.start(), *anthropic.text(0, "x")), "connection"),
        (anthropic.answer(anthropic.start(), HANG_UP), "connection"),
        (Answer(("data: {\n\n",)), "protocol"),
        (Answer(("data: []\n\n",)), "protocol"),
        (anthropic.answer(anthropic.event("content_block_delta", index=0, delta={"type": "text_delta"})), "protocol"),
        (anthropic.answer(*anthropic.text(0, "x")[1:]), "protocol"),
        (anthropic.answer(*anthropic.block(0, {"type": "tool_use", "id": 1, "name": "x"})), "protocol"),
        (anthropic.answer(*anthropic.block(0, {"type": "text", "text": 7})), "protocol"),
    ],
)
async def test_what_goes_wrong_is_an_error_of_its_kind(answer: Answer, kind: str) -> None:
    assert (await failure_of(answer)).kind == kind
