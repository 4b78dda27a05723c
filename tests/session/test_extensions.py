"""Extension methods of ACP that a configuration declares, asked of the real agent process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess, RequestFailed, agent_process, shown
from agentoml.snapshot.build import build
from agentoml.snapshot.diff import diff

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
[options.fast]
type = "boolean"
[extensions."_acme.dev/switch"]
params = { model = "model", fast = "fast", mode = "mode" }
result = { now = { model = "{model}", fast = "{fast}" }, said = "{mode}: {model}", models = ["{model.values}"], no = 1 }
[extensions."_acme.dev/models"]
result = { models = "{model.values}" }
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT, encoding="utf-8")
    return config


async def refused(agent: AgentProcess, method: str, **params: Any) -> tuple[int, dict[str, Any]]:
    with pytest.raises(RequestFailed) as failed:
        await agent.request(method, **params)
    return failed.value.code, failed.value.data


async def test_a_method_picks_options_and_tells_what_is_in_force(config: Path, tmp_path: Path) -> None:
    async with agent_process(config, initialize=False) as agent:
        can = (await agent.initialize())["agentCapabilities"]
        assert can["_meta"]["agentoml"]["extensions"] == ["_acme.dev/switch", "_acme.dev/models"]
        session = (await agent.new_session(tmp_path))["sessionId"]
        answer = await agent.request("_acme.dev/switch", sessionId=session, model="two", fast=True, mode=None)
        assert answer["now"] == {"model": "two", "fast": True}
        assert (answer["said"], answer["models"], answer["no"]) == ("code: two", [["one", "two"]], 1)
        (told,) = agent.updates("config_option_update")
        assert shown(told["configOptions"]) == {"mode": "code", "model": "two", "fast": True}
        assert await agent.request("_acme.dev/models", sessionId=session) == {"models": ["one", "two"]}


async def test_what_can_t_be_picked_is_refused_and_nothing_of_it_is_done(config: Path, tmp_path: Path) -> None:
    async with agent_process(config) as agent:
        session = (await agent.new_session(tmp_path))["sessionId"]
        code, data = await refused(agent, "_acme.dev/switch", sessionId=session, fast=True, model="three")
        assert (code, data["reason"], data["available"]) == (-32602, "unknown_value", ["one", "two"])
        code, data = await refused(agent, "_acme.dev/switch", sessionId=session, mode="audit", model="one")
        assert (code, data["forcedBy"]) == (-32602, {"configId": "mode", "value": "audit"})
        code, data = await refused(agent, "_acme.dev/switch", sessionId=session, apiKey="x")
        assert (code, data["path"], data["available"]) == (-32602, "$.apiKey", ["fast", "mode", "model"])
        code, data = await refused(agent, "_acme.dev/switch", sessionId=session, model=3)
        assert (code, data["path"]) == (-32602, "$.model")
        code, data = await refused(agent, "_acme.dev/switch", sessionId=session, _meta={"traceparent": "x"})
        assert (code, data["reason"]) == (-32602, "is_missing")
        assert await agent.request("_acme.dev/switch", sessionId=session, mode="code", _meta={"traceparent": "x"})
        assert agent.updates("config_option_update") == []


async def test_a_method_needs_a_session_and_a_declaration(config: Path, tmp_path: Path) -> None:
    async with agent_process(config) as agent:
        session = (await agent.new_session(tmp_path))["sessionId"]
        assert (await refused(agent, "_acme.dev/models"))[0] == -32602
        assert (await refused(agent, "_acme.dev/models", sessionId="sess_0"))[0] == -32002
        assert (await refused(agent, "_acme.dev/others", sessionId=session))[0] == -32601
        config.write_text(AGENT.replace("_acme.dev/models", "_acme.dev/others"), encoding="utf-8")
        while True:
            try:
                assert await agent.request("_acme.dev/others", sessionId=session) == {"models": ["one", "two"]}
            except RequestFailed as failed:
                assert failed.code == -32601
                continue
            break
        assert (await refused(agent, "_acme.dev/models", sessionId=session))[0] == -32601


def test_a_change_of_them_is_one_of_the_next_connection(config: Path) -> None:
    before = build(config).snapshot
    config.write_text(AGENT.replace("_acme.dev/models", "_acme.dev/others"), encoding="utf-8")
    after = build(config).snapshot
    assert before is not None and after is not None
    [change] = diff(before, after)
    assert (change.area, change.name) == ("connection", "extensions")
    assert "from the next connection on" in change.sentence
