"""Catalogs under an open session: files that are swapped, and lists that a provider gives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_process import AgentProcess, Frame, agent_process, offered, shown
from agentoml.config.write import replace_file
from servers import openai
from servers.http_server import Answer, HttpServer, Request, json_answer

CATALOG_AGENT = """
schema = 1
[providers.offline]
adapter = "scripted"
[catalogs.team]
file = "team.toml"
[options.model]
values_from = "models"
default = "team/4*"
"""


def catalog(numbers: Iterable[int], aliases: dict[int, str] | None = None) -> bytes:
    tables = []
    for number in numbers:
        alias = f'aliases = ["{aliases[number]}"]\n' if aliases and number in aliases else ""
        tables.append(f'[models."team/{number}"]\nname = "Model {number}"\nprovider = "offline"\n{alias}')
    return "\n".join(tables).encode()


def keys(numbers: Iterable[int]) -> list[str]:
    return [f"team/{number}" for number in numbers]


def told(agent: AgentProcess) -> list[Frame]:
    """The model option of each update, in order."""
    updates = agent.updates("config_option_update")
    return [next(option for option in update["configOptions"] if option["id"] == "model") for update in updates]


async def test_500_models_are_swapped_under_an_open_session(tmp_path: Path) -> None:
    config, team = tmp_path / "agent.toml", tmp_path / "team.toml"
    config.write_text(CATALOG_AGENT, encoding="utf-8")
    replace_file(team, catalog(range(500)))
    async with agent_process(config) as agent:
        session = await agent.new_session(tmp_path)
        assert offered(session["configOptions"][0]) == keys(range(500))
        await agent.set(session, "model", "team/77")

        replace_file(team, catalog(range(100, 600), {123: "team/77"}))
        await agent.until(lambda: len(told(agent)) == 1)
        assert told(agent)[0]["currentValue"] == "team/123", "the model in use has become an alias"
        assert offered(told(agent)[0]) == keys(range(100, 600))

        replace_file(team, catalog(range(200, 700)))
        await agent.until(lambda: len(told(agent)) == 2)
        assert told(agent)[1]["currentValue"] == "team/400", "the model in use is gone: the default"
        assert offered(told(agent)[1]) == keys(range(200, 700))

        replace_file(team, catalog(range(200, 700))[:-30])
        await agent.until(lambda: any("team.toml:" in error for error in agent.errors))
        assert await agent.set(session, "model", "team/698") == {"model": "team/698"}
        assert len(told(agent)) == 2, "a broken catalog changes nothing"


# ------------------------------------------------------------------------------------- lists of providers

KEY = "sk-of-the-gateway"
LISTED_AGENT = """
schema = 1
[providers.gateway]
adapter = "openai"
base_url = "{url}/v1"
api_key = {{ env = "GATEWAY_KEY" }}
[providers.other]
adapter = "openai"
base_url = "{other}/v1"
[models.written]
provider = "other"
[catalogs.gateway]
discover = "gateway"
exclude = "*embed*"
[options.model]
values_from = "models"
"""


def listed(*ids: str) -> Answer:
    return json_answer({"object": "list", "data": [{"id": model, "object": "model"} for model in ids]})


def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "GATEWAY_KEY": KEY}


def kept_list(tmp_path: Path) -> Path:
    [file] = (tmp_path / "cache").rglob("*.json")
    return file


def age(file: Path) -> None:
    """Make a list on disk look as if it was fetched long ago."""
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    kept["fetched"] = "2026-01-02T03:04:05+00:00"
    file.write_text(json.dumps(kept), encoding="utf-8")


async def test_a_providers_list_reaches_the_open_session_and_is_there_at_once_the_next_time(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    release = asyncio.Event()

    def slowly(request: Request) -> Answer:
        return Answer(listed("big", "small", "text-embed").steps, 200, {}, framing="close", before=(release,))

    async with HttpServer(slowly) as gateway, HttpServer(openai.says("Hello.")) as other:
        config.write_text(LISTED_AGENT.format(url=gateway.url, other=other.url), encoding="utf-8")
        async with agent_process(config, environment=environment(tmp_path)) as agent:
            assert not gateway.requests
            session = await agent.new_session(tmp_path)
            assert offered(session["configOptions"][0]) == ["written"]
            await asyncio.wait_for(gateway.arrived.wait(), 20)
            await agent.prompt(session, "hi")
            assert agent.said() == "Hello.", "nothing waits for the list"
            release.set()
            await agent.until(lambda: told(agent))
            assert offered(told(agent)[0]) == ["written", "big", "small"]
            assert told(agent)[0]["currentValue"] == "written"

        async with agent_process(config, environment=environment(tmp_path)) as agent:
            session = await agent.new_session(tmp_path)
            assert offered(session["configOptions"][0]) == ["written", "big", "small"]
    assert [request.target for request in gateway.requests] == ["/v1/models"], "a fresh list is not asked for"
    assert gateway.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert not any(KEY in str(request.headers) for request in other.requests)
    assert KEY not in kept_list(tmp_path).read_text(encoding="utf-8")
    assert kept_list(tmp_path).stat().st_mode & 0o077 == 0


async def test_a_list_that_can_not_be_refreshed_stays_and_the_log_says_why_in_one_line(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    refused = json_answer({"error": {"message": f"the key {KEY} is no good"}}, 401)
    async with HttpServer(listed("big", "small"), refused) as gateway:
        config.write_text(LISTED_AGENT.format(url=gateway.url, other=gateway.url), encoding="utf-8")
        async with agent_process(config, environment=environment(tmp_path)) as agent:
            await agent.new_session(tmp_path)
            await agent.until(lambda: told(agent))
        age(kept_list(tmp_path))
        async with agent_process(config, environment=environment(tmp_path)) as agent:
            session = await agent.new_session(tmp_path)
            assert offered(session["configOptions"][0]) == ["written", "big", "small"]
            await agent.until(lambda: agent.errors)
            assert not told(agent)
    [line] = agent.errors
    assert "gateway" in line and "the last list stays" in line and "401" in line
    assert KEY not in line


async def test_a_list_that_another_process_fetched_reaches_the_session_too(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    async with HttpServer(listed("big")) as gateway:
        config.write_text(LISTED_AGENT.format(url=gateway.url, other=gateway.url), encoding="utf-8")
        async with agent_process(config, environment=environment(tmp_path)) as agent:
            await agent.new_session(tmp_path)
            await agent.until(lambda: told(agent))
            file = kept_list(tmp_path)
            replace_file(file, file.read_bytes().replace(b'"big"', b'"bigger"'))
            await agent.until(lambda: len(told(agent)) == 2)
            assert offered(told(agent)[1]) == ["written", "bigger"]


async def test_a_catalog_that_is_written_into_the_file_is_asked_for_at_once(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    async with HttpServer(listed("big")) as gateway:
        whole = LISTED_AGENT.format(url=gateway.url, other=gateway.url)
        config.write_text(whole.replace('discover = "gateway"', 'file = "none.toml"'), encoding="utf-8")
        (tmp_path / "none.toml").write_text("schema = 1\n", encoding="utf-8")
        async with agent_process(config, environment=environment(tmp_path)) as agent:
            session = await agent.new_session(tmp_path)
            assert shown(session["configOptions"]) == {"model": "written"}
            config.write_text(whole, encoding="utf-8")
            await agent.until(lambda: told(agent))
            assert offered(told(agent)[0]) == ["written", "big"]
