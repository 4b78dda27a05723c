from __future__ import annotations

import json

import pytest

from agentoml.config.schema import ScriptReply, ScriptStep
from agentoml.config.vocabulary.notation import Duration, Patterns
from agentoml.errors import ModelError
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
    Usage,
    UserMessage,
)
from agentoml.models.scripted import Scripted


def said(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def request(*messages: Message) -> ModelRequest:
    return ModelRequest("scripted", "", messages)


async def played(model: Scripted, *messages: Message) -> list[Event]:
    return [event async for event in model.stream(request(*messages))]


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def script(*steps: ScriptStep) -> Scripted:
    return Scripted({"reply": ScriptReply(steps=steps)})


async def test_a_text_comes_word_by_word_with_the_message_filled_in() -> None:
    events = await played(script(ScriptStep(text="You said  {input}.")), said("good day {result}"))

    words = ["You ", "said  ", "good ", "day ", "{result}."]
    assert events[:-1] == [TextDelta(word) for word in words]
    assert isinstance(events[-1], Finished)
    assert events[-1].stop == "end_turn"


async def test_a_thought_comes_as_thought() -> None:
    events = await played(script(ScriptStep(thought="let me see")), said("x"))

    assert events[:-1] == [ThoughtDelta("let "), ThoughtDelta("me "), ThoughtDelta("see")]


async def test_neighbouring_tools_are_called_together_and_the_reply_goes_on_with_their_results() -> None:
    model = script(
        ScriptStep(text="First"),
        ScriptStep(tool="read_file", args={"path": "{input}"}),
        ScriptStep(tool="shell", args={"command": "ls"}),
        ScriptStep(text="Then {result}"),
        ScriptStep(tool="shell", args={}),
        ScriptStep(stop="max_tokens"),
        ScriptStep(text="never said"),
    )
    messages: list[Message] = [said("a.txt")]

    first = (await played(model, *messages))[-1]
    assert isinstance(first, Finished)
    assert first.stop == "tool_use"
    assert [(call.name, json.loads(call.arguments)) for call in first.tool_requests] == [
        ("read_file", {"path": "a.txt"}),
        ("shell", {"command": "ls"}),
    ]

    messages += [AssistantMessage("First", "", first.tool_requests)]
    messages += [ToolMessage(call.id, (TextPart(f"result {call.name}"),)) for call in first.tool_requests]
    second = await played(model, *messages)
    assert text_of(second) == "Then result shell"
    end = second[-1]
    assert isinstance(end, Finished)
    assert [call.name for call in end.tool_requests] == ["shell"]
    assert not {call.id for call in end.tool_requests} & {call.id for call in first.tool_requests}

    messages += [AssistantMessage("Then", "", end.tool_requests), ToolMessage(end.tool_requests[0].id, ())]
    third = await played(model, *messages)
    assert text_of(third) == ""
    assert isinstance(third[-1], Finished)
    assert third[-1].stop == "max_tokens"

    messages += [AssistantMessage("done")]
    assert (await played(model, *messages))[:-1] == []


async def test_the_next_message_of_the_user_starts_a_reply_anew() -> None:
    model = script(ScriptStep(text="hello {input}"))

    events = await played(model, said("one"), AssistantMessage("hello one"), said("two"))

    assert text_of(events) == "hello two"


async def test_a_message_without_text_starts_nothing() -> None:
    model = script(ScriptStep(tool="a"), ScriptStep(text="more about {input}"))

    events = await played(model, said("one"), AssistantMessage("x"), UserMessage((ImagePart("aGk=", "image/png"),)))

    assert text_of(events) == "more about one"


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Please TEST it", "testing"),
        ("please test the docs", "other"),
        ("two\nlines with test in them", "testing"),
        ("hello", "other"),
        ("skip this", "default"),
    ],
)
async def test_the_first_reply_that_matches_plays(message: str, reply: str) -> None:
    model = Scripted(
        {
            "tests": ScriptReply(match=Patterns(("*Test*", "!*docs*")), steps=(ScriptStep(text="testing"),)),
            "rest": ScriptReply(match=Patterns(("!skip*",)), steps=(ScriptStep(text="other"),)),
            "any": ScriptReply(steps=(ScriptStep(text="default"),)),
        }
    )

    assert text_of(await played(model, said(message))) == reply


async def test_without_a_reply_it_says_what_it_is_and_repeats_the_message() -> None:
    text = text_of(await played(Scripted({}), said("hello there")))

    assert "offline model" in text
    assert text.endswith("hello there")


async def test_an_error_step_fails_as_a_provider_does() -> None:
    model = script(ScriptStep(text="begun"), ScriptStep(error="rate_limit"))
    heard = []

    with pytest.raises(ModelError) as failure:
        async for event in model.stream(request(said("x"))):
            heard.append(event)

    assert heard == [TextDelta("begun")]
    assert failure.value.kind == "rate_limit"
    assert failure.value.retryable


async def test_an_unknown_error_is_still_an_error() -> None:
    with pytest.raises(ModelError) as failure:
        await played(script(ScriptStep(error="nonsense")), said("x"))

    assert failure.value.kind == "bad_request"


async def test_usage_is_as_declared_and_else_estimated() -> None:
    declared = Scripted({"r": ScriptReply(steps=(ScriptStep(text="x" * 40),), usage={"input": 7, "cached_read": 3})})

    end = (await played(declared, said("x")))[-1]

    assert isinstance(end, Finished)
    assert end.usage == Usage(input=7, output=10, cached=3)


async def test_wait_pauses_before_its_step() -> None:
    events = await played(script(ScriptStep(text="now", wait=Duration(0.0))), said("x"))

    assert text_of(events) == "now"
