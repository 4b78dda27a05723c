from __future__ import annotations

from typing import Any

import pytest

from agentoml.config.schema import Provider, Retry
from agentoml.errors import ModelError
from agentoml.models.adapters import open_adapter
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
from agentoml.models.openai_responses import request_body
from servers import openai_responses as responses
from servers.http_server import HANG_UP, Answer, HttpServer, json_answer
from servers.said import Call, Said, Tokens

ORIGIN = "here"


def user(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def body_of(*messages: Message, **more: Any) -> dict[str, Any]:
    return request_body(ModelRequest("gpt", "Be brief.", messages or (user("hello"),), **more), ORIGIN)


async def events_of(answer: Answer) -> list[Event]:
    async with HttpServer(answer) as server:
        provider = Provider(adapter="openai-responses", base_url=server.url, retry=Retry(attempts=1))
        adapter = open_adapter("gpt", provider, None)  # type: ignore[arg-type]
        try:
            return [event async for event in adapter.stream(ModelRequest("gpt", "", (user("hello"),)))]
        finally:
            await adapter.aclose()


def test_a_request_keeps_no_state_at_the_provider() -> None:
    tool = ToolSpec("shell", "Runs", {"type": "object"})

    assert body_of(tools=(tool,), reasoning="high", max_output=100, params={"service_tier": "flex"}) == {
        "model": "gpt",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hello"}]}],
        "tools": [
            {
                "type": "function",
                "name": "shell",
                "description": "Runs",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "stream": True,
        "store": False,
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 100,
        "service_tier": "flex",
    }


def test_a_model_that_does_not_reason_is_not_asked_for_reasoning() -> None:
    assert not {"reasoning", "include"} & body_of().keys()


def test_an_answer_of_another_model_is_built_anew() -> None:
    message = AssistantMessage("Looking.", "Hm", (ToolRequest("a", "x", "{broken"),), {"origin": "x", "items": [{}]})
    image = ToolMessage("a", (TextPart("see"), ImagePart("aGk=", "image/png")))

    assert body_of(user("one"), message, image)["input"][1:] == [
        {"role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": '{"invalid_arguments": "{broken"}'},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            ],
        },
    ]


async def test_items_are_kept_for_sending_back_without_ids_that_nobody_stored() -> None:
    call = Call("a", "x", {"n": 1})

    end = (await events_of(responses.reply(Said(thoughts=("Hm",), words=("Look",), calls=(call,)))))[-1]

    assert isinstance(end, Finished)
    assert end.opaque is not None
    summary = [{"type": "summary_text", "text": "Hm"}]
    assert end.opaque["items"] == [
        {"id": "rs_0", "type": "reasoning", "summary": summary, "encrypted_content": "sealed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Look"}]},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": '{"n": 1}'},
    ]


async def test_reasoning_that_came_open_is_not_sent_back() -> None:
    answer = responses.answer(
        *responses.reasoning(0, "Hm", encrypted=None), *responses.message(1, "x"), responses.end()
    )

    end = (await events_of(answer))[-1]

    assert isinstance(end, Finished)
    assert end.opaque is None


async def test_parts_of_a_summary_are_paragraphs() -> None:
    part = responses.event("response.reasoning_summary_part.added", summary_index=1, part={})
    delta = responses.event("response.reasoning_summary_text.delta", delta="Two.")
    answer = responses.answer(*responses.reasoning(0, "One."), part, delta, responses.end())

    assert (await events_of(answer))[:-1] == [ThoughtDelta("One."), ThoughtDelta("\n\n"), ThoughtDelta("Two.")]


async def test_open_reasoning_is_thought() -> None:
    answer = responses.answer(responses.event("response.reasoning_text.delta", delta="Hm"), responses.end())

    assert (await events_of(answer))[0] == ThoughtDelta("Hm")


async def test_a_refusal_is_said_and_is_a_refusal() -> None:
    answer = responses.answer(*responses.message(0, "I ", "can't.", kind="refusal"), responses.end(Tokens(5, 2)))

    assert await events_of(answer) == [
        TextDelta("I "),
        TextDelta("can't."),
        Finished("refusal", usage=Usage(input=5, output=2)),
    ]


async def test_an_answer_that_is_no_stream_is_taken_whole() -> None:
    content = [{"type": "output_text", "text": "Yes"}]
    whole = {
        "object": "response",
        "status": "completed",
        "error": None,
        "output": [
            {"type": "message", "role": "assistant", "content": content},
            {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 3},
    }

    assert await events_of(json_answer(whole)) == [
        TextDelta("Yes"),
        Finished("tool_use", (ToolRequest("a", "x", "{}"),), Usage(input=3)),
    ]


def failed(error: Any) -> str:
    return responses.event("response.failed", response={"status": "failed", "error": error})


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (responses.answer(failed({"code": "server_error", "message": "m"})), "overloaded"),
        (responses.answer(failed({"code": "rate_limit_exceeded", "message": "m"})), "rate_limit"),
        (responses.answer(failed({"code": "invalid_prompt", "message": "m"})), "bad_request"),
        (responses.answer(failed(None)), "bad_request"),
        (responses.answer(responses.event("error", code="context_length_exceeded", message="m")), "context_length"),
        (responses.answer(responses.event("error", error={"code": "server_error"})), "overloaded"),
        (json_answer({"error": {"code": "insufficient_quota", "message": "m"}}), "auth"),
        (json_answer({"object": "response", "error": {"code": "server_error", "message": "m"}}), "overloaded"),
        (responses.answer(*responses.message(0, "x")), "connection"),
        (responses.answer(*responses.message(0, "x"), HANG_UP), "connection"),
        (Answer(("data: {\n\n",)), "protocol"),
        (Answer(("data: []\n\n",)), "protocol"),
        (responses.answer(responses.event("response.output_text.delta", delta=7)), "protocol"),
        (responses.answer(responses.event("response.output_item.done", item={"type": "function_call"})), "protocol"),
        (
            responses.answer(responses.event("response.output_item.done", item={"type": "message", "content": ["x"]})),
            "protocol",
        ),
        (responses.answer(responses.event("response.completed")), "protocol"),
    ],
)
async def test_what_goes_wrong_is_an_error_of_its_kind(answer: Answer, kind: str) -> None:
    with pytest.raises(ModelError) as error:
        await events_of(answer)
    assert error.value.kind == kind
