from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from agentoml.config.schema import Provider, Retry, Timeout
from agentoml.config.vocabulary.notation import Duration, Secret
from agentoml.errors import ModelError
from agentoml.models.adapters import open_adapter
from agentoml.models.model import (
    Adapter,
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
from servers import openai
from servers.http_server import HANG_UP, Answer, HttpServer, json_answer

KEY = "sk-very-secret"


async def resolve(secret: Secret) -> str:
    return KEY


def adapter_for(server: HttpServer, **more: Any) -> Adapter:
    keys = {"api_key": Secret(env="KEY"), "retry": Retry(attempts=1), **more}
    provider = Provider(adapter="openai", base_url=f"{server.url}/v1", **keys)
    return open_adapter("gateway", provider, resolve)


def request(*messages: Message, **more: Any) -> ModelRequest:
    return ModelRequest("gpt", "Be brief.", messages or (UserMessage((TextPart("hello"),)),), **more)


@contextlib.asynccontextmanager
async def asked(server: HttpServer, question: ModelRequest, **more: Any) -> AsyncGenerator[list[Event], None]:
    async with server:
        adapter = adapter_for(server, **more)
        try:
            yield [event async for event in adapter.stream(question)]
        finally:
            await adapter.aclose()


async def answered(*steps: Any, question: ModelRequest | None = None) -> list[Event]:
    """The events of an answer of these steps, the last of them Finished."""
    server = HttpServer(openai.answer(*steps))
    async with asked(server, question or request()) as events:
        return events


def end_of(events: list[Event]) -> Finished:
    assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]
    end = events[-1]
    assert isinstance(end, Finished)
    return end


async def failure_of(answer: Answer, **more: Any) -> ModelError:
    with pytest.raises(ModelError) as error:
        async with asked(HttpServer(answer), request(), **more):
            pass
    assert KEY not in str(error.value)
    return error.value


async def body_of(question: ModelRequest) -> dict[str, Any]:
    server = HttpServer(openai.says("ok"))
    async with asked(server, question):
        body: dict[str, Any] = server.requests[0].json
        return body


# ------------------------------------------------------------------------------------------------------ answers


async def test_text_comes_as_it_is_sent() -> None:
    gate = asyncio.Event()
    async with HttpServer(openai.answer(openai.text("Hel"), gate, openai.text("lo"), openai.finish("stop"))) as server:
        adapter = adapter_for(server)
        stream = adapter.stream(request())

        assert await anext(stream) == TextDelta("Hel")
        gate.set()
        assert await anext(stream) == TextDelta("lo")
        assert await anext(stream) == Finished("end_turn")
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        await adapter.aclose()


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_is_thought(name: str) -> None:
    events = await answered(openai.thought("Hm", name), openai.thought(".", name), openai.text("Yes"))

    assert events[:-1] == [ThoughtDelta("Hm"), ThoughtDelta("."), TextDelta("Yes")]


async def test_reasoning_that_is_sent_under_two_names_counts_once() -> None:
    events = await answered(openai.chunk({"reasoning_content": "Hm", "reasoning": "Hm", "content": ""}))

    assert events[:-1] == [ThoughtDelta("Hm")]


async def test_content_in_parts_is_text_and_thought() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": "Yes"}]

    assert (await answered(openai.chunk({"content": parts})))[:-1] == [ThoughtDelta("Hm"), TextDelta("Yes")]


async def test_parallel_tool_calls_are_put_together_by_their_index() -> None:
    events = await answered(
        openai.tool_call(0, "call_a", "read_file", ""),
        openai.tool_call(1, "call_b", "shell", '{"comm'),
        openai.tool_call(0, None, None, '{"path":'),
        openai.tool_call(1, None, None, 'and": "ls"}'),
        openai.tool_call(0, None, None, ' "a"}'),
        openai.finish("tool_calls"),
        openai.usage(100, 20, cached=60, reasoning=5),
    )

    assert events == [
        Finished(
            "tool_use",
            (
                ToolRequest("call_a", "read_file", '{"path": "a"}'),
                ToolRequest("call_b", "shell", '{"command": "ls"}'),
            ),
            Usage(input=100, output=20, cached=60, reasoning=5),
        )
    ]


@pytest.mark.parametrize(
    "parts",
    [
        [(None, "a", "x", "{}"), (None, "b", "y", '{"n":'), (None, None, None, "1}")],
        [(0, "a", "x", "{}"), (0, "b", "y", '{"n":'), (0, None, None, "1}")],
        [(0, "a", "x", {}), (1, "b", "y", {"n": 1})],
        [(0, "a", "x", None), (1, "b", "y", '{"n":'), (1, "b", "y", "1}")],
    ],
)
async def test_calls_of_providers_that_do_it_otherwise_are_told_apart(parts: list[Any]) -> None:
    end = end_of(await answered(*(openai.tool_call(*part) for part in parts), openai.finish("stop")))

    assert end.stop == "tool_use"
    assert [(call.id, call.name, json.loads(call.arguments)) for call in end.tool_requests] == [
        ("a", "x", {}),
        ("b", "y", {"n": 1}),
    ]


async def test_calls_without_an_id_get_one() -> None:
    end = end_of(await answered(openai.tool_call(None, None, "x", "{}"), openai.tool_call(None, None, "x", "{}")))

    ids = {call.id for call in end.tool_requests}
    assert len(ids) == 2
    assert all(id.startswith("call_") for id in ids)


async def test_an_answer_that_is_no_stream_is_taken_whole() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Yes", "tool_calls": [call]}
    whole = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3}}
    async with asked(HttpServer(json_answer(whole)), request()) as events:
        assert events == [TextDelta("Yes"), Finished("tool_use", (ToolRequest("a", "x", "{}"),), Usage(input=3))]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "end_turn"),
        ("tool_calls", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("something_new", "end_turn"),
    ],
)
async def test_the_reason_to_stop_is_told(reason: str, stop: str) -> None:
    assert end_of(await answered(openai.text("x"), openai.finish(reason))).stop == stop


async def test_a_call_that_was_cut_off_is_no_call() -> None:
    end = end_of(await answered(openai.tool_call(0, "a", "x", '{"path": "ha'), openai.finish("length")))

    assert end == Finished("max_tokens")


async def test_a_refusal_is_said_and_is_a_refusal() -> None:
    events = await answered(openai.chunk({"refusal": "I can't."}), openai.finish("stop"))

    assert events == [TextDelta("I can't."), Finished("refusal")]


async def test_usage_in_the_dialects_of_others_is_read() -> None:
    tokens = {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "prompt_cache_hit_tokens": 4,
        "completion_tokens_details": None,
    }
    groq = json.loads(openai.finish("stop")[6:]) | {"x_groq": {"usage": tokens}}

    assert end_of(await answered(openai.event(groq))).usage == Usage(input=9, output=2, cached=4)


@pytest.mark.parametrize("last", [HANG_UP, ""])
async def test_a_stream_that_ends_without_done_but_after_its_reason_is_whole(last: Any) -> None:
    answer = Answer((openai.text("x"), openai.finish("stop"), last))
    async with asked(HttpServer(answer), request()) as events:
        assert events == [TextDelta("x"), Finished("end_turn")]


async def test_chunks_without_a_choice_and_comments_are_passed_over() -> None:
    filtered = openai.event({"choices": [], "prompt_filter_results": []})

    assert (await answered(": OPENROUTER PROCESSING\n\n", filtered, openai.text("x")))[0] == TextDelta("x")


# ----------------------------------------------------------------------------------------------------- requests


async def test_a_request_says_model_messages_and_tools() -> None:
    tool = ToolSpec("shell", "Runs a command", {"type": "object", "properties": {}})
    server = HttpServer(openai.says("ok"))
    async with asked(server, request(tools=(tool,)), headers={"x-team": "acme"}):
        sent = server.requests[0]

    assert (sent.method, sent.target) == ("POST", "/v1/chat/completions")
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["x-team"] == "acme"
    assert sent.headers["content-type"] == "application/json"
    assert sent.json == {
        "model": "gpt",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "shell",
                    "description": "Runs a command",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
    }


async def test_tool_calls_and_their_results_are_sent_back() -> None:
    body = await body_of(
        request(
            UserMessage((TextPart("a"), TextPart("b"))),
            AssistantMessage("", "thought", (ToolRequest("1", "x", '{"n": 1}'), ToolRequest("2", "y", "{o"))),
            ToolMessage("1", (TextPart("one"),)),
            ToolMessage("2", (ImagePart("aGk=", "image/png"),), failed=True),
            AssistantMessage("done"),
            UserMessage((TextPart("see"), ImagePart("aGk=", "image/png"))),
        )
    )

    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    assert body["messages"][1:] == [
        {"role": "user", "content": "a\nb"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "x", "arguments": '{"n": 1}'}},
                {"id": "2", "type": "function", "function": {"name": "y", "arguments": '{"invalid_arguments": "{o"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "one"},
        {"role": "tool", "tool_call_id": "2", "content": "The image follows."},
        {"role": "user", "content": [{"type": "text", "text": "Images of the tool call 2:"}, image]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": [{"type": "text", "text": "see"}, image]},
    ]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"reasoning": "high"}, {"reasoning_effort": "high"}),
        ({"reasoning": "deep", "reasoning_budget": 2000}, {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
        ({"reasoning": "off", "reasoning_budget": 0}, {"thinking": {"type": "disabled"}}),
        ({"max_output": 100}, {"max_completion_tokens": 100}),
        ({"max_output": 100, "params": {"max_tokens": 50}}, {"max_tokens": 50}),
        (
            {"reasoning": "high", "params": {"reasoning_effort": "low", "temperature": 0.5}},
            {"reasoning_effort": "low", "temperature": 0.5},
        ),
    ],
)
async def test_parameters_stand_at_the_top_and_params_win(more: dict[str, Any], expected: dict[str, Any]) -> None:
    body = await body_of(request(**more))

    assert {key: body[key] for key in body.keys() - {"model", "messages", "stream", "stream_options"}} == expected


async def test_reasoning_is_sent_back_within_the_tool_calls_of_its_question_only() -> None:
    server = HttpServer(
        openai.answer(openai.thought("Hm"), openai.tool_call(0, "1", "x", "{}"), openai.finish("tool_calls")),
        openai.says("ok"),
        openai.says("ok"),
        openai.says("ok"),
    )
    question = UserMessage((TextPart("?"),))
    async with server:
        adapter = adapter_for(server)
        end = end_of([event async for event in adapter.stream(request(question))])
        answer = AssistantMessage("", "Hm", end.tool_requests, end.opaque)
        messages: tuple[Message, ...] = (question, answer, ToolMessage("1", (TextPart("one"),)))
        for asked_again in (
            request(*messages),
            request(*messages, UserMessage((TextPart("next"),))),
            ModelRequest("another", "Be brief.", messages),
        ):
            assert [event async for event in adapter.stream(asked_again)]
        await adapter.aclose()

    sent = [request.json["messages"][2].get("reasoning_content") for request in server.requests[1:]]
    assert sent == ["Hm", None, None]


async def test_signed_thoughts_that_a_gateway_passes_on_are_sent_back_whole() -> None:
    def part(**block: Any) -> str:
        return openai.chunk({"thinking_blocks": [{"type": "thinking", **block}]})

    redacted = {"type": "redacted_thinking", "data": "sealed"}
    server = HttpServer(
        openai.answer(
            part(thinking="One", signature=None),
            part(thinking=" thought."),
            part(thinking="", signature="first"),
            openai.chunk({"thinking_blocks": [redacted]}),
            part(thinking="Two", signature="second"),
            openai.tool_call(0, "1", "x", "{}"),
            openai.finish("tool_calls"),
        ),
        openai.says("ok"),
    )
    async with server:
        adapter = adapter_for(server)
        end = end_of([event async for event in adapter.stream(request())])
        answer = AssistantMessage("", "", end.tool_requests, end.opaque)
        question = request(UserMessage((TextPart("?"),)), answer, ToolMessage("1", ()))
        assert [event async for event in adapter.stream(question)]
        await adapter.aclose()

    assert server.requests[1].json["messages"][2]["thinking_blocks"] == [
        {"type": "thinking", "thinking": "One thought.", "signature": "first"},
        redacted,
        {"type": "thinking", "thinking": "Two", "signature": "second"},
    ]


async def test_text_that_has_no_bytes_in_utf8_is_sent_as_question_marks() -> None:
    body = await body_of(request(UserMessage((TextPart("a\ud800b ü"),))))

    assert body["messages"][1]["content"] == "a?b ü"


async def test_a_parameter_that_json_does_not_have_is_an_error() -> None:
    for value in (float("nan"), object()):
        with pytest.raises(ModelError, match="JSON") as error:
            await body_of(request(params={"temperature": value}))
        assert error.value.kind == "bad_request"


async def test_a_provider_without_a_key_is_asked_without_one() -> None:
    async with HttpServer(openai.says("ok")) as server:
        adapter = open_adapter("local", Provider(adapter="openai", base_url=server.url), resolve)
        assert [event async for event in adapter.stream(request())]
        await adapter.aclose()

    assert "authorization" not in server.requests[0].headers
    assert server.requests[0].target == "/chat/completions"


async def test_the_configuration_may_replace_our_headers() -> None:
    server = HttpServer(openai.says("ok"))
    async with asked(server, request(), headers={"authorization": "Basic x", "user-agent": "mine"}):
        sent = server.requests[0].headers

    assert (sent["authorization"], sent["user-agent"]) == ("Basic x", "mine")


# ------------------------------------------------------------------------------------------------------ failures


async def test_an_error_names_host_status_and_the_message_of_the_provider() -> None:
    answer = json_answer({"error": {"message": f"Slow\n down {KEY}"}}, 429, Retry_After="3")

    failure = await failure_of(answer)

    assert (failure.kind, failure.retry_after) == ("rate_limit", 3.0)
    assert "127.0.0.1:" in str(failure)
    assert str(failure).endswith("answered 429: Slow down ***")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_an_error_and_the_key_goes_nowhere_else(status: int) -> None:
    async with HttpServer() as elsewhere:
        failure = await failure_of(json_answer({}, status, Location=f"{elsewhere.url}/v1"))

        assert elsewhere.connections == 0
    assert failure.kind == "bad_request"
    assert "redirect" in str(failure)


async def test_an_error_inside_the_stream_ends_it() -> None:
    answer = openai.answer(openai.text("x"), openai.event({"error": {"code": 502, "message": "Upstream"}}))
    heard: list[Event] = []

    async with HttpServer(answer) as server:
        adapter = adapter_for(server)
        with pytest.raises(ModelError, match="broke off: Upstream") as error:
            async for event in adapter.stream(request()):
                heard.append(event)
        await adapter.aclose()

    assert error.value.kind == "overloaded"
    assert heard == [TextDelta("x")]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (json_answer({"error": {"message": "no", "type": "rate_limit_error"}}), "rate_limit"),
        (Answer(("data: {nonsense\n\n",)), "protocol"),
        (Answer(("data: [1]\n\n",)), "protocol"),
        (Answer(('data: {"choices": [{"delta": "x"}]}\n\n',)), "protocol"),
        (Answer(('data: {"choices": [{"delta": {"content": 7}}]}\n\n',)), "protocol"),
        (Answer(('data: {"choices": {"a": 1}}\n\n',)), "protocol"),
        (Answer(('data: {"choices": [{"delta": {"tool_calls": [{"function": {"name": 1}}]}}]}\n\n',)), "protocol"),
        (Answer(("data: " + "[" * 100_000 + "\n\n",)), "protocol"),
        (Answer(("<html></html>",), headers={"Content-Type": "text/html"}), "protocol"),
        (Answer((openai.text("x"),)), "connection"),
        (Answer(()), "connection"),
        (Answer((openai.text("x"), HANG_UP)), "connection"),
        (Answer(before=(HANG_UP,)), "connection"),
        (openai.answer(openai.chunk(finish="error", error={"code": 503, "message": "x"})), "overloaded"),
        (Answer((openai.event({"choices": [{"finish_reason": "error", "error": {"code": 503}}]}),)), "overloaded"),
    ],
)
async def test_what_goes_wrong_is_an_error_of_its_kind(answer: Answer, kind: str) -> None:
    assert (await failure_of(answer)).kind == kind


async def test_silence_is_a_timeout() -> None:
    gate = asyncio.Event()

    failure = await failure_of(Answer((openai.text("x"), gate)), timeout=Timeout(idle=Duration(0.05)))

    assert failure.kind == "timeout"


async def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    async with HttpServer() as server:
        pass

    adapter = adapter_for(server)
    with pytest.raises(ModelError, match="refused the connection") as error:
        await anext(adapter.stream(request()))
    assert error.value.kind == "connection"


# -------------------------------------------------------------------------------------------- closing and reuse


@pytest.mark.parametrize("begun", [True, False])
async def test_cancelling_closes_the_connection_before_it_returns(begun: bool) -> None:
    silence = asyncio.Event()
    answer = openai.answer(openai.text("x"), silence) if begun else Answer(before=(silence,))
    heard = asyncio.Event()

    async def listen() -> None:
        async for _ in adapter.stream(request()):
            heard.set()

    async with HttpServer(answer) as server:
        adapter = adapter_for(server)
        listening = asyncio.create_task(listen())
        await (heard if begun else server.arrived).wait()

        listening.cancel()
        await asyncio.wait([listening])

        assert listening.cancelled()
        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)
        assert not server.exchanges[0].answered.is_set()
        await adapter.aclose()


async def test_closing_the_generator_closes_the_connection_before_it_returns() -> None:
    async with HttpServer(openai.answer(openai.text("x"), asyncio.Event())) as server:
        adapter = adapter_for(server)
        stream = adapter.stream(request())
        await anext(stream)

        await stream.aclose()

        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)
        await adapter.aclose()


async def test_a_second_question_goes_over_the_same_connection() -> None:
    async with HttpServer(openai.says("one"), openai.says("two"), json_answer({}, 500), openai.says("3")) as server:
        adapter = adapter_for(server)
        for _ in range(2):
            assert [event async for event in adapter.stream(request())]
        with pytest.raises(ModelError):
            await anext(adapter.stream(request()))
        assert [event async for event in adapter.stream(request())]

        assert server.connections == 1
        await adapter.aclose()
        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)


async def test_sessions_share_an_adapter_without_mixing_their_answers() -> None:
    async def ask(word: str) -> str:
        events = [event async for event in adapter.stream(request(UserMessage((TextPart(word),))))]
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    words = [f"word {number}" for number in range(12)]
    echo = [lambda sent: openai.says(*sent.json["messages"][1]["content"])] * len(words)
    async with HttpServer(*echo) as server:
        adapter = adapter_for(server)
        assert await asyncio.gather(*map(ask, words)) == words
        await adapter.aclose()
