"""A configuration in a project, over ACP: inert until its user agrees, asked about in full, asked again with a diff."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess, Frame, agent_process, choose, offered, shown
from agentoml.cli.main import main

AGENT = """schema = 1
[agent]
instructions = "Be brief."
[providers.offline]
adapter = "scripted"
[models.one]
provider = "offline"
[options.model]
values_from = "models"
[options.careful]
values.yes = { when = { trusted = false } }
values.no = { when = { trusted = true } }
"""
PROJECT = """schema = 1
[agent]
instructions = "You work on the project."
[models.two]
provider = "offline"
[mcp.tests]
command = ["sh", "-c", "touch ran"]
env = { TOKEN = { env = "PROJECT_TOKEN" }, PLAIN = "marker" }
[agent.mcp]
tests = false
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("config", "state", "cache"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / kind))
    (tmp_path / "agent.toml").write_text(AGENT, encoding="utf-8")
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "inner").mkdir()
    (folder / "agent.toml").write_text(PROJECT, encoding="utf-8")
    return folder


class Asked:
    """Answers permission questions one by one, as the test says."""

    def __init__(self) -> None:
        self.questions: list[Frame] = []
        self.answers: list[asyncio.Future[Frame]] = []

    def __call__(self, params: Frame) -> asyncio.Future[Frame]:
        self.questions.append(params)
        self.answers.append(asyncio.get_running_loop().create_future())
        return self.answers[-1]

    def answer(self, agent: AgentProcess, option: str) -> None:
        question = next(
            frame
            for frame in agent.frames
            if frame.get("method") == "session/request_permission" and frame["params"] is self.questions[-1]
        )
        agent.answer(question, choose(option)(question["params"]))

    @property
    def text(self) -> str:
        return str(self.questions[-1]["toolCall"]["content"][0]["content"]["text"])


def models(options: list[Frame]) -> list[str]:
    return offered(next(option for option in options if option["id"] == "model"))


def last_options(agent: AgentProcess) -> list[Frame]:
    updates = agent.updates("config_option_update")
    return updates[-1]["configOptions"] if updates else []


def asked_for(asked: Asked, count: int) -> Callable[[], bool]:
    return lambda: len(asked.questions) >= count


async def test_it_is_inert_until_its_user_agrees_and_then_a_layer(project: Path) -> None:
    asked = Asked()
    async with agent_process(project.parent / "agent.toml", answers={"session/request_permission": asked}) as agent:
        session = await agent.new_session(project / "inner")
        assert models(session["configOptions"]) == ["one"]
        assert shown(session["configOptions"])["careful"] == "yes"

        await agent.until(asked_for(asked, 1))
        assert asked.questions[0]["toolCall"]["title"] == "Use agent.toml of this project?"
        assert 'mcp.tests.command = ["sh", "-c", "touch ran"]' in asked.text
        assert 'mcp.tests.env.TOKEN.env = "PROJECT_TOKEN"' in asked.text
        assert "marker" not in asked.text and "instructions" not in asked.text

        asked.answer(agent, "trust")
        await agent.until(lambda: last_options(agent) and models(last_options(agent)) == ["two", "one"])
        assert shown(last_options(agent))["careful"] == "no"

    async with agent_process(project.parent / "agent.toml") as agent:
        session = await agent.new_session(project)
        assert models(session["configOptions"]) == ["two", "one"]
    assert not (project / "ran").exists()


async def test_it_is_asked_again_with_a_diff_and_meanwhile_what_was_agreed_to_stays(project: Path) -> None:
    asked = Asked()
    async with agent_process(project.parent / "agent.toml", answers={"session/request_permission": asked}) as agent:
        await agent.new_session(project)
        await agent.until(asked_for(asked, 1))
        asked.answer(agent, "trust")
        await agent.until(lambda: last_options(agent) and models(last_options(agent)) == ["two", "one"])

        changed = PROJECT.replace("touch ran", "touch walked").replace("[models.two]", "[models.three]")
        (project / "agent.toml").write_text(changed, encoding="utf-8")
        await agent.until(asked_for(asked, 2))
        assert asked.questions[1]["toolCall"]["title"] == "agent.toml of this project changed"
        assert '- gone: `mcp.tests.command = ["sh", "-c", "touch ran"]`' in asked.text
        assert '- new: `mcp.tests.command = ["sh", "-c", "touch walked"]`' in asked.text
        assert "careful" not in [option["id"] for option in last_options(agent) if option["currentValue"] == "yes"]
        assert "PROJECT_TOKEN" not in asked.text
        assert models(last_options(agent)) == ["two", "one"]

        asked.answer(agent, "trust")
        await agent.until(lambda: models(last_options(agent)) == ["three", "one"])


async def test_a_question_about_files_that_change_meanwhile_is_put_anew(project: Path) -> None:
    asked = Asked()
    async with agent_process(project.parent / "agent.toml", answers={"session/request_permission": asked}) as agent:
        await agent.new_session(project)
        await agent.until(asked_for(asked, 1))
        (project / "agent.toml").write_text(PROJECT.replace("touch ran", "touch walked"), encoding="utf-8")
        await agent.until(asked_for(asked, 2))
        assert "touch walked" in asked.text
        assert [frame["method"] for frame in agent.frames if "cancel" in frame.get("method", "")] == [
            "$/cancel_request"
        ]
        assert [update["toolCallId"] for update in ended(agent)] == ["trust_1"]
        asked.answer(agent, "trust")
        await agent.until(lambda: last_options(agent) and models(last_options(agent)) == ["two", "one"])


async def test_names_and_words_may_change_without_a_question(project: Path) -> None:
    asked = Asked()
    async with agent_process(project.parent / "agent.toml", answers={"session/request_permission": asked}) as agent:
        await agent.new_session(project)
        await agent.until(asked_for(asked, 1))
        asked.answer(agent, "trust")
        await agent.until(lambda: last_options(agent) and models(last_options(agent)) == ["two", "one"])
        (project / "agent.toml").write_text(PROJECT.replace("models.two", "models.four"), encoding="utf-8")
        await agent.until(lambda: models(last_options(agent)) == ["four", "one"])
        assert len(asked.questions) == 1


async def test_who_puts_it_off_is_asked_in_the_next_session_and_who_refuses_is_not(project: Path) -> None:
    asked = Asked()
    async with agent_process(project.parent / "agent.toml", answers={"session/request_permission": asked}) as agent:
        for number, option in ((1, "later"), (2, "never")):
            await agent.new_session(project)
            await agent.until(asked_for(asked, number))
            asked.answer(agent, option)
            await agent.until(lambda: agent.updates("tool_call_update")[-1:] and len(ended(agent)) == number)  # noqa: B023
        await agent.new_session(project)
        session = await agent.new_session(project.parent)
        assert models(session["configOptions"]) == ["one"]
        assert len(asked.questions) == 2


def ended(agent: AgentProcess) -> list[Any]:
    return [update for update in agent.updates("tool_call_update") if update.get("status") == "failed"]


async def test_who_agrees_in_a_terminal_is_not_asked_any_more(project: Path) -> None:
    asked = Asked()
    async with agent_process(project.parent / "agent.toml", answers={"session/request_permission": asked}) as agent:
        await agent.new_session(project)
        await agent.until(asked_for(asked, 1))
        assert await asyncio.to_thread(main, ["trust", "grant", str(project), "--yes"]) == 0
        await agent.until(lambda: last_options(agent) and models(last_options(agent)) == ["two", "one"])
        await agent.until(lambda: [update["status"] for update in agent.updates("tool_call_update")] == ["completed"])
        assert await asyncio.to_thread(main, ["trust", "revoke", str(project)]) == 0
        await agent.until(lambda: models(last_options(agent)) == ["one"])


async def test_a_client_that_can_not_ask_leaves_it_inert(project: Path) -> None:
    async with agent_process(project.parent / "agent.toml") as agent:
        session = await agent.new_session(project)
        await agent.until(lambda: any("agentoml trust" in line for line in agent.errors))
        assert models(session["configOptions"]) == ["one"]


async def test_the_file_that_is_named_is_no_project(project: Path) -> None:
    asked = Asked()
    (project / "agent.toml").write_text(AGENT, encoding="utf-8")
    async with agent_process(project / "agent.toml", answers={"session/request_permission": asked}) as agent:
        session = await agent.new_session(project)
        assert shown(session["configOptions"])["careful"] == "no"
        assert asked.questions == []
