from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from agentoml.cli.chat_client import AgentGone, Conversation, Question, Stop, sentence
from agentoml.errors import RemoteError

FAKE_AGENT = [sys.executable, "-P", str(Path(__file__).with_name("fake_agent.py"))]


@define(eq=False)
class Recorder:
    """An audience that keeps what it is told and answers questions with `choose`."""

    choose: Callable[[Question], str | None] = lambda question: "once"
    updates: list[dict[str, Any]] = field(factory=list)
    phrases: list[str] = field(factory=list)
    logged: asyncio.Queue[str] = field(factory=asyncio.Queue)
    asked: asyncio.Event = field(factory=asyncio.Event)

    def update(self, update: dict[str, Any]) -> None:
        self.updates.append(update)

    def options_changed(self, phrases: list[str]) -> None:
        self.phrases += phrases

    def stderr(self, line: str) -> None:
        self.logged.put_nowait(line)

    async def question(self, question: Question) -> str | None:
        self.asked.set()
        if (chosen := self.choose(question)) == "wait":
            await asyncio.Event().wait()
        return chosen

    def said(self) -> str:
        texts = [update["content"]["text"] for update in self.updates if "agent_message" in update["sessionUpdate"]]
        return "".join(texts)


@asynccontextmanager
async def conversation(audience: Recorder) -> AsyncIterator[Conversation]:
    talk = await Conversation.start(FAKE_AGENT, str(Path.cwd()), audience)
    try:
        yield talk
    finally:
        assert await talk.close() == 0 or talk.process.returncode == 3


async def test_a_session_knows_the_agent_its_options_and_its_commands() -> None:
    audience = Recorder()
    async with conversation(audience) as talk:
        assert talk.agent["agentInfo"]["title"] == "Fake"
        assert [option["id"] for option in talk.options] == ["mode", "model", "fast"]
        assert await talk.prompt("hello") == Stop("end_turn")
        assert [command["name"] for command in talk.commands] == ["review"]
        assert audience.said().startswith("# Hello")


async def test_setting_takes_the_complete_list_of_the_answer() -> None:
    audience = Recorder()
    async with conversation(audience) as talk:
        await talk.set_option("model", "opus")
        await talk.set_option("fast", True)
        assert audience.phrases == ["model: sonnet -> opus", "fast: off -> on"]
        with pytest.raises(RemoteError) as refused:
            await talk.set_option("model", "nope")
        assert sentence(refused.value) == "no such value (available: sonnet, opus)"


async def test_a_change_from_the_agent_arrives_as_phrases() -> None:
    audience = Recorder()
    async with conversation(audience) as talk:
        await talk.prompt("change")
        assert audience.phrases == ["model: sonnet -> opus", "+ model haiku"]


@pytest.mark.parametrize(("choice", "answered"), [("no", "no"), ("once", "once"), (None, "cancelled")])
async def test_a_question_is_answered_with_what_was_chosen(choice: str | None, answered: str) -> None:
    audience = Recorder(lambda question: choice)
    async with conversation(audience) as talk:
        await talk.prompt("edit")
        assert audience.said() == f"answered: {answered}"


async def test_cancelling_answers_open_questions_and_the_prompt_still_ends() -> None:
    audience = Recorder(lambda question: "wait")
    async with conversation(audience) as talk:
        turn = asyncio.create_task(talk.prompt("edit"))
        await audience.asked.wait()
        talk.cancel()
        assert await turn == Stop("end_turn") and audience.said() == "answered: cancelled"
        slow = asyncio.create_task(talk.prompt("slow"))
        talk.cancel()
        assert await slow == Stop("cancelled")


async def test_an_agent_that_dies_ends_the_turn_with_its_exit_code() -> None:
    async with conversation(Recorder()) as talk:
        with pytest.raises(AgentGone, match="exit code 3"):
            await talk.prompt("die")


async def test_an_agent_that_never_was_one_is_an_error_not_a_hang() -> None:
    with pytest.raises(AgentGone, match=r"exit code 0.*initialize"):
        await Conversation.start([sys.executable, "-c", ""], "/", Recorder())
    with pytest.raises(AgentGone, match="can't be started"):
        await Conversation.start(["/nowhere/to/be/found"], "/", Recorder())


async def test_what_the_agent_logs_is_passed_on_line_by_line() -> None:
    audience = Recorder()
    async with conversation(audience) as talk:
        await talk.prompt("log")
        assert await audience.logged.get() == "a line for the log"


async def test_a_provider_s_failure_shows_in_how_the_turn_ended() -> None:
    async with conversation(Recorder()) as talk:
        assert await talk.prompt("fail") == Stop("end_turn", failed=True)


def test_an_error_without_data_is_its_message() -> None:
    assert sentence(RemoteError(-32603, "Internal error")) == "Internal error"


def test_a_message_that_says_nothing_is_completed_by_its_reason() -> None:
    error = RemoteError(-32602, "Invalid params", {"configId": "brave", "reason": "expected_boolean"})
    assert sentence(error) == "Invalid params (expected boolean)"
