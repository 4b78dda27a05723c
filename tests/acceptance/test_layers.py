"""Layers in a real agent: the user's own beneath the named one, `--set` above all, every one of them watched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path

import pytest

from agent_process import Frame, agent_process, offered, start_agentoml

NAMED = """schema = 1
extends = ["parts"]
[agent]
title = "Team"
[modes.code]
[options.model]
values_from = "models"
"""
PART = """schema = 1
[providers.offline]
adapter = "scripted"
[models.one]
provider = "offline"
"""
OWN = """schema = 1
[agent]
title = "Mine"
[modes.mine]
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("config", "state", "cache"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / kind))
    (tmp_path / "config/agentoml").mkdir(parents=True)
    (tmp_path / "team/parts").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "team/agent.toml").write_text(NAMED, encoding="utf-8")
    (tmp_path / "team/parts/agent.toml").write_text(PART, encoding="utf-8")
    file = tmp_path / "config/agentoml/agent.toml"
    file.write_text(OWN, encoding="utf-8")
    return file


def values(options: list[Frame], option_id: str) -> list[str]:
    [option] = [one for one in options if one["id"] == option_id]
    return offered(option)


async def test_every_layer_reaches_open_sessions_as_it_is_saved(own: Path, tmp_path: Path) -> None:
    settings = ["--set", "agent.name=acme", '--set=modes.code.name="Code!"']

    def start(words: Sequence[str], environment: Mapping[str, str]) -> Awaitable[asyncio.subprocess.Process]:
        return start_agentoml([*words, *settings], environment)

    async with agent_process(tmp_path / "team", start=start, initialize=False) as agent:
        greeting = await agent.initialize()
        assert greeting["agentInfo"] == {"name": "acme", "title": "Team", "version": greeting["agentInfo"]["version"]}
        session = await agent.new_session(tmp_path / "work")
        assert values(session["configOptions"], "mode") == ["mine", "code"]
        assert [mode["name"] for mode in session["modes"]["availableModes"]] == ["mine", "Code!"]

        def shows(option: str, expected: list[str]) -> None:
            assert values(agent.updates("config_option_update")[-1]["configOptions"], option) == expected

        own.write_text(OWN + "[modes.more]\n", encoding="utf-8")
        await agent.until(lambda: len(agent.updates("config_option_update")) == 1)
        shows("mode", ["mine", "more", "code"])
        part = tmp_path / "team/parts/agent.toml"
        part.write_text(PART + '[models.two]\nprovider = "offline"\n', encoding="utf-8")
        await agent.until(lambda: len(agent.updates("config_option_update")) == 2)
        shows("model", ["one", "two"])
        own.write_text(OWN + '[policy]\nmodels = ["two"]\n', encoding="utf-8")
        await agent.until(lambda: len(agent.updates("config_option_update")) == 3)
        shows("model", ["two"])
        shows("mode", ["mine", "code"])
