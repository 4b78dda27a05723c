"""What is told of a reload: `_agentoml/config_changed`, notices, and the question where it widens."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from agent_process import EVERYTHING, AgentProcess, Frame, agent_process, offered, shown
from agentoml.cli.chat import approval

HEARING = {
    **EVERYTHING,
    "session": {"configOptions": {"boolean": {}}, "notices": {}},
    "_meta": {"agentoml": {"configChanged": {}}},
}

AGENT = """
schema = 1
[providers.offline]
adapter = "scripted"
replies.wait = { match = "*slow*", steps = [{ text = "Slowly. " }, { text = "Done.", wait = "60s" }] }
replies.write = { match = "*write*", steps = [
  { tool = "write_file", args = { path = "made.txt", content = "made" } }, { text = "Written: {result}" },
] }
replies.widen = { match = "*widen*", steps = [
  { tool = "shell", args = { command = "cat wide.toml >> agent.toml" } }, { text = "Widened." },
] }
[models.one]
provider = "offline"
name = "One"
capabilities = ["tools"]
[options.model]
values_from = "models"
[modes.code]
name = "Code"
[options.mode]
name = "Mode"
default = "code"
"""

TWO = '[models.two]\nname = "Two"\nprovider = "offline"\ncapabilities = ["tools"]\n'
PLAN = '[modes.plan]\nname = "Plan"\nset = { permissions = "no-changes" }\n'
WIDE = '[agent]\nauto_answers = "everything"\n'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "agent.toml"
    file.write_text(AGENT, encoding="utf-8")
    (tmp_path / "wide.toml").write_text(WIDE, encoding="utf-8")
    return file


def changes(agent: AgentProcess) -> list[Frame]:
    return [frame["params"] for frame in agent.frames if frame.get("method") == "_agentoml/config_changed"]


def asked(agent: AgentProcess, about: str) -> list[Frame]:
    """The permission questions about calls whose ids begin so."""
    found = [frame for frame in agent.frames if frame.get("method") == "session/request_permission"]
    return [frame for frame in found if frame["params"]["toolCall"]["toolCallId"].startswith(about)]


def answering(reload: str | None, call: str = "allow_once") -> dict[str, Any]:
    """Answer questions about reloads and about calls; None: the client says that the user cancelled."""

    def answer(params: Frame) -> Frame:
        option = reload if params["toolCall"]["toolCallId"].startswith("reload_") else call
        outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
        return {"outcome": outcome}

    return {"session/request_permission": answer}


async def test_a_client_that_asks_for_it_is_told_of_every_attempt_that_matters(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, initialize=False) as agent:
        result = await agent.initialize(HEARING)
        assert result["agentCapabilities"]["_meta"]["agentoml"]["configChanged"] == {}
        await agent.new_session(tmp_path)
        config.write_text(AGENT + TWO, encoding="utf-8")
        await agent.until(lambda: len(changes(agent)) == 2)
        assert [(one["state"], one["generation"], one["sessionsTold"]) for one in changes(agent)] == [
            ("applied", 1, 0),
            ("applied", 2, 1),
        ]
        assert [(one["area"], one["name"], one["what"]) for one in changes(agent)[1]["changes"]] == [
            ("models", "two", "added")
        ]
        config.write_text(AGENT + "[models.two]\nprovidr = 1\n", encoding="utf-8")
        await agent.until(lambda: len(changes(agent)) == 3)
        [problem] = changes(agent)[2]["problems"]
        assert (changes(agent)[2]["state"], problem["key"]) == ("rejected", "models.two.providr")
        config.write_text(AGENT + TWO, encoding="utf-8")
        await agent.until(lambda: len(changes(agent)) == 4)
        assert (changes(agent)[3]["state"], changes(agent)[3]["problems"]) == ("unchanged", [])


async def test_who_did_not_ask_for_it_is_sent_nothing_unknown(config: Path, tmp_path: Path) -> None:
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        config.write_text("nonsense", encoding="utf-8")
        await agent.until(lambda: agent.errors)
        config.write_text(AGENT + TWO, encoding="utf-8")
        await agent.until(lambda: agent.updates("config_option_update"))
        assert changes(agent) == []
        assert agent.updates("notice") == []


async def test_a_user_is_told_once_what_is_wrong_with_the_files(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, initialize=False) as agent:
        await agent.initialize(HEARING)
        await agent.new_session(tmp_path)
        for _ in range(2):
            config.write_text(AGENT + "[models.two]\nprovidr = 1\n", encoding="utf-8")
            number = len(changes(agent))
            await agent.until(lambda number=number: len(changes(agent)) > number)
        [notice] = agent.updates("notice")
        assert notice["severity"] == "error"
        assert "last good one stays in force" in notice["title"]
        assert "agent.toml" in notice["description"]
        assert "did you mean `provider`?" in notice["description"]
        config.write_text(AGENT, encoding="utf-8")
        await agent.until(lambda: len(agent.updates("notice")) == 2)
        assert agent.updates("notice")[1]["title"] == "The configuration is valid again"
        await agent.until(lambda: "the configuration is valid again" in agent.errors[-1])


async def test_a_user_is_told_what_waits_for_the_next_connection(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, initialize=False) as agent:
        await agent.initialize(HEARING)
        await agent.new_session(tmp_path)
        config.write_text(AGENT + PLAN + '[agent]\ntitle = "Other"\n', encoding="utf-8")
        [notice] = await agent.until(lambda: agent.updates("notice"))
        assert notice["title"] == "[agent] title changed: clients see it from the next connection on"
        assert shown(agent.updates("config_option_update")[-1]["configOptions"])["mode"] == "code"


async def test_a_session_that_opens_over_broken_files_is_told_so(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
    config.write_text("nonsense", encoding="utf-8")
    async with agent_process(config, initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        assert shown(session["configOptions"]) == {"mode": "code", "model": "one"}
        [notice] = await agent.until(lambda: agent.updates("notice"))
        assert "last good one" in notice["title"]


async def test_a_user_is_told_that_the_model_in_use_is_gone(config: Path, tmp_path: Path) -> None:
    config.write_text(AGENT + TWO, encoding="utf-8")
    async with agent_process(config, initialize=False) as agent:
        await agent.initialize(HEARING)
        session, other = await agent.new_session(tmp_path), await agent.new_session(tmp_path)
        await agent.set(session, "model", "two")
        config.write_text(AGENT, encoding="utf-8")
        await agent.until(lambda: len(agent.updates("config_option_update")) == 2)
        told = [frame["params"] for frame in agent.frames if frame.get("method") == "session/update"]
        notices = [one for one in told if one["update"]["sessionUpdate"] == "notice"]
        assert [one["sessionId"] for one in notices] == [session["sessionId"]] != [other["sessionId"]]
        assert notices[0]["update"]["title"] == "model: Two is gone"
        assert notices[0]["update"]["description"] == "One is there instead."


async def test_permissions_of_a_mode_that_is_gone_stay_until_the_user_picks(config: Path, tmp_path: Path) -> None:
    config.write_text(AGENT + PLAN, encoding="utf-8")
    async with agent_process(config, answers=answering(None), initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        await agent.set(session, "mode", "plan")
        config.write_text(AGENT, encoding="utf-8")
        await agent.until(lambda: agent.updates("config_option_update"))
        [notice] = agent.updates("notice")
        assert notice["title"] == "Mode: Plan is gone"
        assert "until you choose one yourself" in notice["description"]

        await agent.prompt(session, "write")
        assert asked(agent, "call_") == []
        assert not (tmp_path / "made.txt").exists()

        assert (await agent.set(session, "mode", "code"))["mode"] == "code"
        agent.answers.update(answering(None, "allow_once"))
        await agent.prompt(session, "write")
        assert len(asked(agent, "call_")) == 1
        assert (tmp_path / "made.txt").exists()


async def test_a_reload_that_widens_in_a_turn_waits_for_the_user(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, answers=answering("apply"), initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        await agent.prompt(session, "widen")
        await agent.until(lambda: len(changes(agent)) == 3)
        assert [one["state"] for one in changes(agent)] == ["applied", "held", "applied"]
        [question] = asked(agent, "reload_")
        assert "auto_answers" in question["params"]["toolCall"]["content"][0]["content"]["text"]
        assert approval(question["params"]["options"]) is None, "--yes allows tools, and lifts no rule"
        await agent.prompt(session, "write")
        assert len(asked(agent, "call_")) == 1  # about the command that wrote the file, none since


async def test_a_reload_that_the_user_declines_stays_out(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, answers=answering("keep"), initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        await agent.prompt(session, "widen")
        await agent.until(lambda: [one for one in agent.updates("tool_call_update") if one.get("status") == "failed"])
        await agent.prompt(session, "write")
        assert len(asked(agent, "call_")) == 2
        assert len(asked(agent, "reload_")) == 1
        assert [one["state"] for one in changes(agent)] == ["applied", "held"]

        agent.answers.update(answering("apply"))
        agent.process.send_signal(signal.SIGHUP)  # who asks for a reload is asked again
        await agent.until(lambda: changes(agent)[-1]["state"] == "applied" and len(changes(agent)) > 2)
        await agent.prompt(session, "write")
        assert len(asked(agent, "call_")) == 2


async def test_a_question_that_was_not_answered_is_put_again_in_the_next_turn(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, answers=answering(None), initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        await agent.prompt(session, "widen")
        await agent.until(lambda: len(asked(agent, "reload_")) == 1)
        agent.answers.update(answering("apply"))
        await agent.prompt(session, "hello")
        await agent.until(lambda: [one["state"] for one in changes(agent)] == ["applied", "held", "applied"])
        assert len(asked(agent, "reload_")) == 2


async def test_a_question_about_what_is_put_back_is_taken_back(config: Path, tmp_path: Path) -> None:
    pending: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
    answers = {
        "session/request_permission": lambda params: (
            pending
            if params["toolCall"]["toolCallId"].startswith("reload_")
            else {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        )
    }
    async with agent_process(config, answers=answers, initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        await agent.prompt(session, "widen")
        [question] = await agent.until(lambda: asked(agent, "reload_"))
        config.write_text(AGENT, encoding="utf-8")
        cancelled = [{"requestId": question["id"]}]
        await agent.until(
            lambda: (
                [frame["params"] for frame in agent.frames if frame.get("method") == "$/cancel_request"] == cancelled
            )
        )
        assert [one["state"] for one in changes(agent)] == ["applied", "held", "unchanged"]


async def test_a_turn_holds_what_widens_in_a_project_that_was_opened_while_it_runs(
    config: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / ".agentoml").mkdir(parents=True)
    (project / ".agentoml" / "agent.toml").write_text("schema = 1\n", encoding="utf-8")
    async with agent_process(config, answers=answering(None), initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        turn = agent.start_request(
            "session/prompt", sessionId=session["sessionId"], prompt=[{"type": "text", "text": "slow"}]
        )
        await agent.until(agent.said)
        await agent.new_session(project)
        await agent.until(lambda: len(changes(agent)) == 2)
        config.write_text(AGENT + WIDE, encoding="utf-8")
        await agent.until(lambda: len(changes(agent)) == 4)
        assert [one["state"] for one in changes(agent)] == ["applied", "applied", "held", "held"]
        agent.notify("session/cancel", sessionId=session["sessionId"])
        assert await turn == {"stopReason": "cancelled"}


async def test_a_new_model_waits_for_nobody(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, answers=answering(None), initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        turn = agent.start_request(
            "session/prompt", sessionId=session["sessionId"], prompt=[{"type": "text", "text": "slow"}]
        )
        await agent.until(agent.said)
        config.write_text(AGENT + TWO, encoding="utf-8")
        [update] = await agent.until(lambda: agent.updates("config_option_update"))
        model = next(option for option in update["configOptions"] if option["id"] == "model")
        assert offered(model) == ["one", "two"]
        agent.notify("session/cancel", sessionId=session["sessionId"])
        assert await turn == {"stopReason": "cancelled"}
