"""A saved file changes open sessions; a broken one changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_process import AgentProcess, Frame, RequestFailed, agent_process, offered, shown

AGENT = """
schema = 1
[providers.offline]
adapter = "scripted"
[models.one]
provider = "offline"
[modes.code]
[options.model]
category = "model"
values_from = "models"
"""

MORE = """
[models.two]
provider = "offline"
[modes.plan]
name = "Plan"
[options.voice]
values.short = { set = { instructions_append = "Be short." } }
values.long = {}
"""


def latest(agent: AgentProcess) -> list[Frame] | None:
    updates = agent.updates("config_option_update")
    return updates[-1]["configOptions"] if updates else None


def option(options: list[Frame], name: str) -> Frame:
    return next(option for option in options if option["id"] == name)


async def test_a_saved_file_reaches_an_open_session_whole(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        config.write_text(AGENT + MORE, encoding="utf-8")
        options = await agent.until(lambda: latest(agent))
        assert shown(options) == {"mode": "code", "model": "one", "voice": "short"}
        assert offered(option(options, "model")) == ["one", "two"]
        assert offered(option(options, "mode")) == ["code", "plan"]


async def test_a_broken_file_changes_nothing_and_its_repair_is_picked_up(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        broken = AGENT + MORE.replace("[modes.plan]", "[modes.plan")
        config.write_text(broken, encoding="utf-8")
        line = broken.splitlines().index("[modes.plan") + 1
        await agent.until(lambda: any(f"agent.toml:{line}:" in error for error in agent.errors))
        assert latest(agent) is None
        assert await agent.set(session, "model", "one") == {"mode": "code", "model": "one"}

        config.write_text(AGENT + MORE, encoding="utf-8")
        options = await agent.until(lambda: latest(agent))
        assert offered(option(options, "model")) == ["one", "two"]


async def test_a_wrong_key_is_named_with_file_line_and_column(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        config.write_text(AGENT + "[options.voice]\nvalue.short = {}\n", encoding="utf-8")
        line = len(AGENT.splitlines()) + 2
        await agent.until(lambda: any(f"agent.toml:{line}:1:" in error and "values" in error for error in agent.errors))


async def test_the_model_in_use_is_removed(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT + MORE, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        await agent.set(session, "model", "two")
        config.write_text(AGENT, encoding="utf-8")
        options = await agent.until(lambda: latest(agent))
        assert shown(options) == {"mode": "code", "model": "one"}


async def test_two_sessions_are_told_each_what_they_show(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT + MORE, encoding="utf-8")
    async with agent_process(config) as agent:
        first, second = await agent.new_session(tmp_path), await agent.new_session(tmp_path)
        await agent.set(second, "model", "two")
        config.write_text(AGENT.replace("[models.one]", '[models.one]\nname = "One"') + MORE, encoding="utf-8")
        await agent.until(lambda: len(agent.updates("config_option_update")) == 2)
        told = {
            frame["params"]["sessionId"]: shown(frame["params"]["update"]["configOptions"])["model"]
            for frame in agent.frames
            if frame.get("method") == "session/update"
        }
        assert told == {first["sessionId"]: "one", second["sessionId"]: "two"}


async def test_a_mode_that_was_added_can_be_selected_in_an_open_session(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        config.write_text(AGENT + MORE, encoding="utf-8")
        await agent.until(lambda: latest(agent))
        assert await agent.set(session, "mode", "plan") == {"mode": "plan", "model": "one", "voice": "short"}
        await agent.request("session/set_mode", sessionId=session["sessionId"], modeId="code")
        await agent.request("session/set_mode", sessionId=session["sessionId"], modeId="plan")
        assert shown(latest(agent) or [])["mode"] == "plan"
        # the legacy view was never given that mode, so it is not told of it
        assert [update["currentModeId"] for update in agent.updates("current_mode_update")] in ([], ["code"])


async def test_modes_that_change_places_do_so_in_an_open_session(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    modes = "[modes.code]\n", "[modes.plan]\n"
    config.write_text(AGENT.replace(modes[0], "".join(modes)), encoding="utf-8")
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        config.write_text(AGENT.replace(modes[0], "".join(reversed(modes))), encoding="utf-8")
        options = await agent.until(lambda: latest(agent))
        assert offered(option(options, "mode")) == ["plan", "code"]


async def test_a_second_process_on_the_same_file_sees_it_too(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as first, agent_process(config) as second:
        for agent in (first, second):
            await agent.new_session(tmp_path)
        config.write_text(AGENT + MORE, encoding="utf-8")
        for agent in (first, second):
            options = await agent.until(lambda agent=agent: latest(agent))
            assert offered(option(options, "model")) == ["one", "two"]


async def test_an_unknown_value_is_refused_never_echoed_never_null(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT + MORE, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        for value in ("three", "", "ONE", True):
            with pytest.raises(RequestFailed) as failed:
                await agent.set(session, "model", value)
            assert failed.value.code == -32602
            assert failed.value.data["reason"] in ("unknown_value", "expected_string")
            assert latest(agent) is None
            assert await agent.set(session, "mode", "code") == {"mode": "code", "model": "one", "voice": "short"}
        config.write_text(AGENT + MORE.replace("two", "three"), encoding="utf-8")
        options = await agent.until(lambda: latest(agent))
        assert shown(options)["model"] == "one", "what was refused is no pick, also where it is known later"
        assert None not in shown(options).values()
