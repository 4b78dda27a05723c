"""What a turn and a session may spend, and what happens when a model can't be had."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_process import AgentProcess, Frame, agent_process, choose, shown

OFFLINE = """
schema = 1
[providers.offline]
adapter = "scripted"
[providers.offline.replies.read]
match = "*read*"
steps = [
  { tool = "read_file", args = { path = "a.txt" } }, { text = "One. " },
  { tool = "read_file", args = { path = "a.txt" } }, { text = "Two. " },
]
[providers.offline.replies.slow]
match = "*slow*"
steps = [{ text = "Wait." }, { wait = "10m", text = "Never." }]
[models.m]
provider = "offline"
cost = { input = 100.0, output = 100.0 }
"""


@pytest.mark.parametrize(
    ("limits", "words", "reason"),
    [
        ("turn = { model_calls = 2 }", "read", "the turn may make 2 model calls"),
        ("turn = { tool_calls = 1 }", "read", "the turn may make 1 tool calls"),
        ("session = { tokens = 1 }", "read", "the session may use 1 tokens"),
        ("session = { cost_usd = 0.000001 }", "read", "the session may cost 1e-06 USD"),
        ('turn = { time = "200ms" }', "slow", "the turn may take 0.2 s"),
    ],
)
async def test_a_spent_budget_ends_the_turn_with_a_message(
    tmp_path: Path, limits: str, words: str, reason: str
) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    config = tmp_path / "agent.toml"
    config.write_text(f"{OFFLINE}[agent]\nlimits.{limits}\n", encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        assert (await agent.prompt(session, words))["stopReason"] == "max_turn_requests"
        assert reason in agent.said()


PICKED = """
schema = 1
[agent]
permissions.add = ["careful"]
[permissions.careful]
rules.writing = { tool = "write_file", action = "always_ask" }
[providers.offline]
adapter = "scripted"
[providers.offline.replies.all]
steps = [
  { tool = "write_file", args = { path = "a.txt", content = "a" } },
  { tool = "list_files" },
  { wait = "%(wait)s", text = "Then: {result}" },
]
[models.m]
provider = "offline"
[options.budget]
values.normal.set.limits.turn = { %(base)s }
values.other.set.limits.turn = { %(picked)s }
default = "normal"
"""


async def pick_while_the_first_call_is_asked_about(tmp_path: Path, **written: str) -> tuple[str, str]:
    """Play a turn of two calls and an answer; return its stop reason and what was said."""
    config = tmp_path / "agent.toml"
    config.write_text(PICKED % written, encoding="utf-8")
    unanswered: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
    async with agent_process(config, answers={"session/request_permission": lambda _params: unanswered}) as agent:
        session = await agent.new_session(tmp_path)
        turn = asyncio.create_task(agent.prompt(session, "write"))
        question = await agent.until(lambda: questions(agent))
        assert (await agent.set(session, "budget", "other"))["budget"] == "other"
        agent.answer(question[0], choose("allow_once")({}))
        return (await turn)["stopReason"], agent.said()


def questions(agent: AgentProcess) -> list[Frame]:
    return [frame for frame in agent.frames if frame.get("method") == "session/request_permission"]


async def test_a_call_beyond_the_limit_has_a_result_where_a_pick_raises_the_limit_meanwhile(tmp_path: Path) -> None:
    stop, said = await pick_while_the_first_call_is_asked_about(
        tmp_path, base="tool_calls = 1", picked="tool_calls = 9", wait="0s"
    )
    assert (stop, said) == ("end_turn", "Then: This call was not run: no more tool calls were allowed.")


async def test_a_time_that_is_picked_in_a_turn_also_ends_what_begins_within_it(tmp_path: Path) -> None:
    stop, said = await pick_while_the_first_call_is_asked_about(
        tmp_path, base='time = "1h"', picked='time = "1s"', wait="10m"
    )
    assert (stop, said) == ("max_turn_requests", "I stop here: the turn may take 1 s.")


FALLBACK = """
schema = 1
[providers.flaky]
adapter = "scripted"
retry = { attempts = 2, base = "1ms", max = "2ms" }
[providers.flaky.replies.all]
steps = [{ error = "overloaded" }]
[providers.offline]
adapter = "scripted"
[models.big]
provider = "flaky"
fallback = ["other", "small"]
[models.other]
provider = "flaky"
[models.small]
provider = "offline"
[options.model]
values_from = "models"
"""


async def test_an_overloaded_model_is_replaced_for_the_turn_and_the_client_sees_it(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(FALLBACK, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        assert await agent.prompt(session, "hello") == {"stopReason": "end_turn"}
        assert "hello" in agent.said()
        seen = [shown(update["configOptions"])["model"] for update in agent.updates("config_option_update")]
        assert seen == ["other", "small", "big"], "each in turn while it answers, and the pick again afterwards"


async def test_without_a_fallback_that_answers_the_turn_says_why_it_ends(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(FALLBACK.replace('["other", "small"]', '["other"]'), encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        answer = await agent.prompt(session, "hello")
        assert answer["_meta"]["agentoml"]["error"]["kind"] == "overloaded"


COMMAND = """
[commands.go]
prompt = "Say so."
preselect = { model = "big" }
"""


async def test_a_model_is_fallen_back_to_in_a_commands_turn_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    quiet = FALLBACK.replace(
        "[models.big]",
        """[providers.offline.replies.all]
steps = [{ text = "Begun." }, { tool = "read_file", args = { path = "a.txt" } }, { text = "Ended." }]
[models.big]""",
    )
    config = tmp_path / "agent.toml"
    config.write_text(quiet.replace('["other", "small"]', '["small"]') + COMMAND, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        await agent.set(session, "model", "other")
        assert await agent.prompt(session, "/go") == {"stopReason": "end_turn"}
        assert agent.said() == "Begun.Ended."
        seen = [shown(update["configOptions"])["model"] for update in agent.updates("config_option_update")]
        assert seen == ["big", "small", "other"], "the command's, the one it fell back to, and the pick again"
