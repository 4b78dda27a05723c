"""What every adapter does, whatever protocol its provider speaks: one matrix over all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import Any

import pytest
from attrs import frozen

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
from servers import anthropic, openai, openai_responses
from servers.http_server import HANG_UP, Answer, HttpServer, json_answer
from servers.said import Call, Said, Tokens

KEY = "sk-very-secret"
MODEL = "model-1"


@frozen
class Dialect:
    """An adapter, the server module that speaks its protocol, and where the two meet."""

    adapter: str
    server: ModuleType
    target: str
    key_header: str
    key_value: str = KEY


DIALECTS = {
    "openai": Dialect("openai", openai, "/v1/chat/completions", "authorization", f"Bearer {KEY}"),
    "openai-responses": Dialect(
        "openai-responses", openai_responses, "/v1/responses", "authorization", f"Bearer {KEY}"
    ),
    "anthropic": Dialect("anthropic", anthropic, "/v1/messages", "x-api-key"),
    "litellm": Dialect("litellm/openai", openai, "/v1/chat/completions", "authorization", f"Bearer {KEY}"),
}


LITELLM_MARKS = (
    pytest.mark.litellm,
    pytest.mark.xdist_group("litellm"),  # with --dist loadgroup one worker imports it, not every one
    pytest.mark.filterwarnings("ignore"),  # it warns of itself
)


@pytest.fixture(params=[pytest.param(name, marks=LITELLM_MARKS if name == "litellm" else ()) for name in DIALECTS])
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[request.param]


Open = Callable[..., Adapter]


@pytest.fixture
async def opened(dialect: Dialect) -> AsyncIterator[Open]:
    """A function that opens the dialect's adapter for a server; keys of the provider may be added."""
    adapters: list[Adapter] = []

    async def resolve(secret: Secret) -> str:
        return KEY

    def open_for(server: HttpServer, **more: Any) -> Adapter:
        keys = {"api_key": Secret(env="KEY"), "retry": Retry(attempts=1), **more}
        adapters.append(
            open_adapter("p", Provider(adapter=dialect.adapter, base_url=f"{server.url}/v1", **keys), resolve)
        )
        return adapters[-1]

    yield open_for
    for adapter in adapters:
        await adapter.aclose()
    if dialect.adapter.startswith("litellm"):
        from agentoml.models import litellm

        await litellm.close_connections()


def user(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def request(*messages: Message, **more: Any) -> ModelRequest:
    return ModelRequest(MODEL, "Be brief.", messages or (user("hello"),), **more)


async def events_of(adapter: Adapter, question: ModelRequest) -> list[Event]:
    return [event async for event in adapter.stream(question)]


def end_of(events: list[Event]) -> Finished:
    assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]
    end = events[-1]
    assert isinstance(end, Finished)
    return end


def texts_of(events: list[Event], kind: type[TextDelta] | type[ThoughtDelta]) -> list[str]:
    return [event.text for event in events if isinstance(event, kind)]


async def test_text_comes_as_it_is_sent(dialect: Dialect, opened: Open) -> None:
    gate = asyncio.Event()
    said = Said(words=("Hel", gate, "lo"), tokens=Tokens(12, 3))
    async with HttpServer(dialect.server.reply(said)) as server:
        stream = opened(server).stream(request())

        assert await anext(stream) == TextDelta("Hel")
        gate.set()
        assert await anext(stream) == TextDelta("lo")
        assert await anext(stream) == Finished("end_turn", usage=Usage(12, 3))
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_a_request_goes_to_its_place_with_the_key(dialect: Dialect, opened: Open) -> None:
    tool = ToolSpec("shell", "Runs a command", {"type": "object", "properties": {"command": {"type": "string"}}})
    async with HttpServer(dialect.server.reply(Said(words=("ok",)))) as server:
        await events_of(opened(server, headers={"x-team": "acme"}), request(tools=(tool,)))

        sent = server.requests[0]
    assert (sent.method, sent.target) == ("POST", dialect.target)
    assert sent.headers[dialect.key_header] == dialect.key_value
    assert sent.headers["x-team"] == "acme"
    assert sent.json["model"] == MODEL
    assert sent.json["stream"] is True
    assert "Be brief." in json.dumps(sent.json)
    assert len(sent.json["tools"]) == 1


async def test_reasoning_is_thought_and_parallel_tool_calls_are_told_apart(dialect: Dialect, opened: Open) -> None:
    said = Said(
        thoughts=("Let me ", "look."),
        words=("I look.",),
        calls=(Call("call_a", "read_file", {"path": "ä.txt"}), Call("call_b", "shell", {})),
        tokens=Tokens(100, 30, 60, 7),
    )
    async with HttpServer(dialect.server.reply(said)) as server:
        events = await events_of(opened(server), request())

    assert texts_of(events, ThoughtDelta) == ["Let me ", "look."]
    assert texts_of(events, TextDelta) == ["I look."]
    end = end_of(events)
    assert end.stop == "tool_use"
    assert [(call.id, call.name, json.loads(call.arguments)) for call in end.tool_requests] == [
        ("call_a", "read_file", {"path": "ä.txt"}),
        ("call_b", "shell", {}),
    ]
    assert end.usage == Usage(input=100, output=30, cached=60, reasoning=7)


async def test_results_and_reasoning_are_sent_back(dialect: Dialect, opened: Open) -> None:
    calls = (Call("call_a", "read_file", {"path": "a"}), Call("call_b", "shell", {}))
    first = dialect.server.reply(Said(thoughts=("Hm.",), calls=calls))
    async with HttpServer(first, dialect.server.reply(Said(words=("done",)))) as server:
        adapter = opened(server)
        end = end_of(await events_of(adapter, request()))
        answer = AssistantMessage("", "Hm.", end.tool_requests, end.opaque)
        results = (ToolMessage("call_a", (TextPart("one"),)), ToolMessage("call_b", (TextPart("two"),), failed=True))
        assert texts_of(await events_of(adapter, request(user("hello"), answer, *results)), TextDelta) == ["done"]

        body = server.requests[1].json
    assert dialect.server.tool_results(body) == {"call_a": "one", "call_b": "two"}
    assert dialect.server.thoughts_sent_back(body) == ["Hm."]


async def test_the_answer_of_another_model_is_taken_over_without_its_reasoning(dialect: Dialect, opened: Open) -> None:
    calls = (ToolRequest("functions.read:0", "read_file", '{"path": "a"}'), ToolRequest("b", "shell", "{broken"))
    foreign = AssistantMessage("Looking.", "Hm.", calls, {"origin": "elsewhere", "blocks": [{"type": "thinking"}]})
    results = (ToolMessage("functions.read:0", (TextPart("one"),)), ToolMessage("b", ()))
    async with HttpServer(dialect.server.reply(Said(words=("done",)))) as server:
        await events_of(opened(server), request(user("hello"), foreign, *results, user("next")))

        body = server.requests[0].json
    assert sorted(dialect.server.tool_results(body).values()) == ["", "one"]
    assert dialect.server.thoughts_sent_back(body) == []
    assert "elsewhere" not in json.dumps(body)


async def test_images_go_along_in_messages_and_in_results(dialect: Dialect, opened: Open) -> None:
    shown = UserMessage((TextPart("see"), ImagePart("aGk=", "image/png")))
    answer = AssistantMessage("", "", (ToolRequest("a", "screenshot", "{}"),))
    result = ToolMessage("a", (ImagePart("aG8=", "image/jpeg"),))
    async with HttpServer(dialect.server.reply(Said(words=("ok",)))) as server:
        await events_of(opened(server), request(shown, answer, result))

        assert dialect.server.images(server.requests[0].json) == [("image/png", "aGk="), ("image/jpeg", "aG8=")]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
async def test_length_and_refusal_are_told(dialect: Dialect, opened: Open, stop: Any) -> None:
    async with HttpServer(dialect.server.reply(Said(words=("Half",), stop=stop))) as server:
        events = await events_of(opened(server), request())

    assert texts_of(events, TextDelta) == ["Half"]
    assert end_of(events).stop == stop


@pytest.mark.parametrize("begun", [True, False])
async def test_cancelling_closes_the_connection_before_it_returns(dialect: Dialect, opened: Open, begun: bool) -> None:
    silence = asyncio.Event()
    heard = asyncio.Event()
    answer = dialect.server.reply(Said(words=("x", silence, "y"))) if begun else Answer(before=(silence,))

    async def listen(adapter: Adapter) -> None:
        async for _ in adapter.stream(request()):
            heard.set()

    async with HttpServer(answer) as server:
        listening = asyncio.create_task(listen(opened(server)))
        await (heard if begun else server.arrived).wait()

        listening.cancel()
        await asyncio.wait([listening])

        assert listening.cancelled()
        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)


async def test_closing_the_generator_closes_the_connection(dialect: Dialect, opened: Open) -> None:
    async with HttpServer(dialect.server.reply(Said(words=("x", asyncio.Event(), "y")))) as server:
        stream = opened(server).stream(request())
        await anext(stream)

        await stream.aclose()

        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (json_answer({"error": {"message": "no such key", "type": "x"}}, 401), "auth"),
        (json_answer({"error": {"message": "slow down", "type": "x"}}, 429, Retry_After="3"), "rate_limit"),
        (json_answer({"error": {"message": "overloaded", "type": "x"}}, 503), "overloaded"),
        (json_answer({"error": {"message": "no such model", "type": "x"}}, 404), "bad_request"),
        (
            json_answer({"error": {"message": "maximum context length is 5", "code": "context_length_exceeded"}}, 400),
            "context_length",
        ),
    ],
)
async def test_failures_have_their_kind_and_the_words_of_the_provider(
    dialect: Dialect, opened: Open, answer: Answer, kind: str
) -> None:
    async with HttpServer(answer) as server:
        with pytest.raises(ModelError) as error:
            await events_of(opened(server), request())

    assert error.value.kind == kind
    assert error.value.retry_after == (3.0 if kind == "rate_limit" else None)
    message = json.loads(str(answer.steps[0]))["error"]["message"]
    assert message in str(error.value)
    assert KEY not in str(error.value)


async def test_an_answer_that_breaks_off_is_an_error_after_what_came(dialect: Dialect, opened: Open) -> None:
    whole = dialect.server.reply(Said(words=("One.", "Two.")))
    cut = Answer((*whole.steps[: len(whole.steps) // 2], HANG_UP))
    async with HttpServer(cut) as server:
        with pytest.raises(ModelError) as error:
            await events_of(opened(server), request())

    assert error.value.kind == "connection"


async def test_silence_is_a_timeout(dialect: Dialect, opened: Open) -> None:
    silent = dialect.server.reply(Said(words=("x", asyncio.Event())))
    async with HttpServer(silent) as server:
        with pytest.raises(ModelError, match=r"sent nothing for 0\.3 s") as error:
            await events_of(opened(server, timeout=Timeout(idle=Duration(0.3))), request())

    assert error.value.kind == "timeout"


async def test_params_are_sent_as_they_are(dialect: Dialect, opened: Open) -> None:
    async with HttpServer(dialect.server.reply(Said(words=("ok",)))) as server:
        await events_of(opened(server), request(params={"temperature": 0.25, "top_p": 0.5}))

        body = server.requests[0].json
    assert (body["temperature"], body["top_p"]) == (0.25, 0.5)
