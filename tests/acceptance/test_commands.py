"""Slash commands: told to the client, and values for the turn they start."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_process import RequestFailed, agent_process, shown

AGENT = """
schema = 1
[providers.offline]
adapter = "scripted"
[models.one]
provider = "offline"
[models.two]
provider = "offline"
[modes.code]
[modes.audit]
set = { model = "two" }
[options.model]
values_from = "models"
[commands.review]
description = "Review the change"
hint = "what to look for"
prompt = "Review the diff. {input}"
preselect = { mode = "audit" }
[commands.audit]
description = "Stay in audit"
switch_to = { mode = "audit" }
[commands.later]
description = "Not now"
prompt = "x"
when = { mode = "audit" }
"""


async def test_a_command_is_a_prompt_and_a_value_for_its_turn(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        told = await agent.until(lambda: agent.updates("available_commands_update"))
        assert [command["name"] for command in told[0]["availableCommands"]] == ["review", "audit"]
        assert told[0]["availableCommands"][0]["input"] == {"hint": "what to look for"}

        assert (await agent.prompt(session, "/review naming"))["stopReason"] == "end_turn"
        assert "Review the diff. naming" in agent.said()
        options = [shown(update["configOptions"]) for update in agent.updates("config_option_update")]
        assert options == [{"mode": "audit", "model": "two"}, {"mode": "code", "model": "one"}]
        modes = [update["currentModeId"] for update in agent.updates("current_mode_update")]
        assert modes == ["audit", "code"]


async def test_a_command_that_only_switches_starts_no_turn_and_stays(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        with pytest.raises(RequestFailed) as refused:
            await agent.prompt(session, "/later")
        assert (refused.value.code, refused.value.data["reason"]) == (-32602, "unavailable_command")
        assert await agent.prompt(session, "/audit") == {"stopReason": "end_turn"}
        latest = agent.updates("config_option_update")[-1]
        assert shown(latest["configOptions"]) == {"mode": "audit", "model": "two"}
        names = [command["name"] for command in agent.updates("available_commands_update")[-1]["availableCommands"]]
        assert names == ["review", "audit", "later"]


async def test_what_begins_with_a_slash_and_is_no_command_is_a_message(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        await agent.prompt(session, "/etc/hosts is what?")
        assert "/etc/hosts is what?" in agent.said()
