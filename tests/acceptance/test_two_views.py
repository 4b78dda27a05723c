"""Options and modes as a client meets them: two views of one thing, in step whoever switches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess, Frame, RequestFailed, agent_process, choose, offered, shown, text
from fork_server import ForkServer
from servers import http_server, openai

DEMO = """
schema = 1
[providers.offline]
adapter = "scripted"
[providers.offline.replies.long]
match = "long job"
steps = [{ text = "Working." }, { wait = "10m", text = "Never." }]
[models.m1]
provider = "offline"
group = "Vendor A"
reasoning = { values = ["low", "high"], default = "low" }
[models.m2]
provider = "offline"
group = "Vendor B"
[modes.ask]
name = "Ask"
[modes.code]
name = "Code"
[options.mode]
category = "mode"
[options.model]
category = "model"
values_from = "models"
[options.effort]
category = "thought_level"
values_from = "model.reasoning"
[options.brave]
type = "boolean"
name = "Brave mode"
[commands.plan]
description = "Make a plan"
hint = "topic"
prompt = "Plan {input}"
"""

Said = tuple[str, Any]


def said(frames: list[Frame]) -> list[Said]:
    """What an agent sent, in a few words each."""
    return [_said(frame) for frame in frames]


def _said(frame: Frame) -> Said:
    if "method" in frame:
        update = frame["params"]["update"]
        kind = update["sessionUpdate"]
        match kind:
            case "config_option_update":
                return kind, shown(update["configOptions"])
            case "current_mode_update":
                return kind, update["currentModeId"]
            case "available_commands_update":
                return kind, [command["name"] for command in update["availableCommands"]]
        return kind, None
    if "error" in frame:
        return "error", frame["error"]["code"]
    options = frame["result"].get("configOptions")
    return "answer", frame["result"] if options is None else shown(options)


async def in_turn(agent: AgentProcess, request: Callable[[], Any]) -> list[Said]:
    """Return all that is sent until a request is answered, refused or not."""
    before = len(agent.frames)
    with suppress(RequestFailed):
        await request()
    return said(agent.frames[before:])


@pytest.fixture
def start(processes: ForkServer, tmp_path: Path) -> Callable[..., Any]:
    @asynccontextmanager
    async def started(config: str, **settings: Any) -> AsyncIterator[tuple[AgentProcess, Frame]]:
        file = tmp_path / "agent.toml"
        file.write_text(config, encoding="utf-8")
        async with agent_process(file, start=processes.start, **settings) as agent:
            yield agent, await agent.new_session(tmp_path)

    return started


async def test_the_reference_transcript(start: Callable[..., Any], tmp_path: Path) -> None:
    """acp.md, appendix A."""
    async with start(DEMO) as (agent, session):
        told = await agent.until(lambda: agent.updates("available_commands_update"))
        assert told[0]["availableCommands"] == [
            {"name": "plan", "description": "Make a plan", "input": {"hint": "topic"}}
        ]
        assert session["modes"] == {
            "currentModeId": "ask",
            "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
        }
        mode, model, effort, brave = session["configOptions"]
        assert (mode["category"], mode["currentValue"], offered(mode)) == ("mode", "ask", ["ask", "code"])
        assert [(group["name"], [value["value"] for value in group["options"]]) for group in model["options"]] == [
            ("Vendor A", ["m1"]),
            ("Vendor B", ["m2"]),
        ]
        assert (effort["category"], effort["currentValue"], offered(effort)) == (
            "thought_level",
            "low",
            ["low", "high"],
        )
        assert brave == {"id": "brave", "name": "Brave mode", "type": "boolean", "currentValue": False}

        # a dependent change: m2 has no levels
        now = {"mode": "ask", "model": "m2", "brave": False}
        assert await in_turn(agent, lambda: agent.set(session, "model", "m2")) == [("answer", now)]
        # the option sets the mode: the legacy view is told before the answer
        now = {**now, "mode": "code"}
        assert await in_turn(agent, lambda: agent.set(session, "mode", "code")) == [
            ("current_mode_update", "code"),
            ("answer", now),
        ]
        # the legacy view sets it: the options are told before the answer
        now = {**now, "mode": "ask"}
        assert await in_turn(agent, lambda: set_mode(agent, session, "ask")) == [
            ("config_option_update", now),
            ("answer", {}),
        ]
        # what is already so: nothing but the answer
        assert await in_turn(agent, lambda: agent.set(session, "mode", "ask")) == [("answer", now)]
        assert await in_turn(agent, lambda: set_mode(agent, session, "ask")) == [("answer", {})]

        # a reload: m2 goes, m3 comes; m2 was current
        (tmp_path / "agent.toml").write_text(DEMO.replace("m2", "m3"), encoding="utf-8")
        updates = await agent.until(lambda: agent.updates("config_option_update")[1:])
        assert shown(updates[0]["configOptions"]) == {"mode": "ask", "model": "m1", "effort": "low", "brave": False}
        assert offered(updates[0]["configOptions"][1]) == ["m1", "m3"]

        # a cancelled turn
        turn = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[text("long job")])
        await agent.until(lambda: agent.said())
        agent.notify("session/cancel", sessionId=session["sessionId"])
        assert await turn == {"stopReason": "cancelled"}
        assert agent.frames[-1]["result"] == {"stopReason": "cancelled"}


async def set_mode(agent: AgentProcess, session: Frame, mode: str) -> Frame:
    return await agent.request("session/set_mode", sessionId=session["sessionId"], modeId=mode)


REFUSALS: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = [
    (
        {"configId": "nothing", "value": "x"},
        {"reason": "unknown_option", "available": ["mode", "model", "effort", "brave"]},
    ),
    ({"configId": "model", "value": "m9"}, {"reason": "unknown_value", "available": ["m1", "m2"]}),
    ({"configId": "effort", "value": ""}, {"reason": "unknown_value", "available": ["low", "high"]}),
    (
        {"configId": "brave", "type": "boolean", "value": "true"},
        {"reason": "expected_boolean", "available": [False, True]},
    ),
    ({"configId": "model", "type": "boolean", "value": True}, {"reason": "expected_string"}),
]


async def test_what_can_not_be_set_is_refused_with_what_can_be(start: Callable[..., Any]) -> None:
    async with start(DEMO) as (agent, session):
        for asked, data in REFUSALS:
            with pytest.raises(RequestFailed) as refused:
                await agent.request("session/set_config_option", sessionId=session["sessionId"], **asked)
            assert refused.value.code == -32602
            assert {**refused.value.data, **data, "configId": asked["configId"]} == refused.value.data
        with pytest.raises(RequestFailed) as refused:
            await set_mode(agent, session, "yolo")
        assert (refused.value.code, refused.value.data["modeId"]) == (-32602, "yolo")
        assert refused.value.data["available"] == ["ask", "code"]
        for method, asked in (
            ("set_mode", {"modeId": "ask"}),
            ("set_config_option", {"configId": "mode", "value": "ask"}),
        ):
            with pytest.raises(RequestFailed) as refused:
                await agent.request(f"session/{method}", sessionId="nope", **asked)
            assert (refused.value.code, refused.value.data) == (-32002, {"sessionId": "nope"})
        assert agent.updates("config_option_update") == agent.updates("current_mode_update") == []
        assert await agent.set(session, "brave", True) == {"mode": "ask", "model": "m1", "effort": "low", "brave": True}


FORCING = """
[modes.audit]
set = { model = "m2", params = { deep = true } }
[options.deep]
type = "boolean"
on = { set = { params = { deep = true } } }
[options.steer]
type = "boolean"
on = { preselect = { mode = "code" } }
[commands.audit]
description = "Only looks"
when = { mode = "audit" }
prompt = "Look."
"""


async def test_a_forced_option_has_one_value_and_says_who_forces_it(start: Callable[..., Any]) -> None:
    async with start(DEMO + FORCING) as (agent, session):
        answer = await agent.request(
            "session/set_config_option", sessionId=session["sessionId"], configId="mode", value="audit"
        )
        model = next(option for option in answer["configOptions"] if option["id"] == "model")
        assert (model["currentValue"], offered(model)) == ("m2", ["m2"])
        for option, value in (("model", "m1"), ("deep", False)):
            with pytest.raises(RequestFailed) as refused:
                await agent.set(session, option, value)
            assert refused.value.data["forcedBy"] == {"configId": "mode", "value": "audit"}
        assert (await agent.set(session, "model", "m2"))["model"] == "m2", "what it is forced to is accepted"


async def test_a_pick_that_changes_the_mode_and_the_commands_along_tells_them_first(start: Callable[..., Any]) -> None:
    async with start(DEMO + FORCING) as (agent, session):
        await agent.until(lambda: agent.updates("available_commands_update"))
        heard = await in_turn(agent, lambda: agent.set(session, "mode", "audit"))
        assert [kind for kind, _ in heard] == ["current_mode_update", "available_commands_update", "answer"]
        assert heard[1] == ("available_commands_update", ["plan", "audit"])
        heard = await in_turn(agent, lambda: set_mode(agent, session, "ask"))
        assert [kind for kind, _ in heard] == ["config_option_update", "available_commands_update", "answer"]
        heard = await in_turn(agent, lambda: agent.set(session, "steer", True))
        assert heard[0] == ("current_mode_update", "code"), "another option brings another mode"


async def test_setting_while_a_turn_runs_does_not_wait_and_binds_at_the_next_model_call(
    start: Callable[..., Any],
) -> None:
    gate = asyncio.Event()
    first = openai.answer(openai.text("One"), gate, *openai.calls(("1", "list_files", {"path": "."})).steps[:-1])
    async with http_server.HttpServer(first, openai.says("Two.")) as server:
        loopback = DEMO.replace('adapter = "scripted"', f'adapter = "openai"\nbase_url = "{server.url}/v1"')
        loopback = loopback[: loopback.index("[providers.offline.replies")] + loopback[loopback.index("[models.m1]") :]
        async with start(loopback) as (agent, session):
            turn = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[text("go")])
            await agent.until(lambda: agent.said())
            assert (await agent.set(session, "model", "m2"))["model"] == "m2"
            await set_mode(agent, session, "code")
            assert not turn.done(), "the model has not even gone on"
            gate.set()
            assert (await turn)["stopReason"] == "end_turn"
    assert [request.json["model"] for request in server.requests] == ["m1", "m2"]


LASTING = """
[options.pace]
default = "slow"
[options.pace.values.slow]
[options.pace.values.sprint]
lasts = "300ms"
preselect = { mode = "code" }
[options.approve]
values.ask = {}
values.prompt = { lasts = "turn", preselect = { mode = "code" } }
"""


async def test_what_ends_by_itself_is_told_in_both_views(start: Callable[..., Any]) -> None:
    async with start(DEMO + LASTING) as (agent, session):
        assert (await agent.set(session, "pace", "sprint"))["mode"] == "code"
        await agent.until(lambda: len(agent.updates("current_mode_update")) == 2)
        assert shown(agent.updates("config_option_update")[-1]["configOptions"])["pace"] == "slow"
        assert [update["currentModeId"] for update in agent.updates("current_mode_update")] == ["code", "ask"]

        await agent.set(session, "approve", "prompt")
        heard = await in_turn(agent, lambda: agent.prompt(session, "hello"))
        assert [kind for kind, _ in heard][-3:] == ["config_option_update", "current_mode_update", "answer"]
        assert heard[-3][1]["approve"] == "ask"


CHOICES = """
[tools.exit_plan]
description = "Plan is ready"
choices = [{ name = "Yes", switch_to = { mode = "code", brave = true } }, { name = "No", reject = true }]
[providers.offline.replies.plan]
match = "plan it"
steps = [{ tool = "exit_plan" }, { text = "Done." }]
"""


async def test_what_the_agent_switches_is_told_in_both_views(start: Callable[..., Any]) -> None:
    demo = DEMO.replace("[providers.offline.replies.long]", CHOICES + "[providers.offline.replies.long]")
    async with start(demo, answers={"session/request_permission": choose("0")}) as (agent, session):
        await agent.prompt(session, "plan it")
        (options,) = agent.updates("config_option_update")
        assert shown(options["configOptions"])["brave"] is True
        assert [update["currentModeId"] for update in agent.updates("current_mode_update")] == ["code"]


async def test_a_client_that_knows_only_modes_is_never_told_of_one_it_was_not_given(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start(DEMO) as (agent, session):
        assert [mode["id"] for mode in session["modes"]["availableModes"]] == ["ask", "code"]
        await set_mode(agent, session, "code")
        edited = DEMO.replace("[modes.code]", "[modes.ship]").replace('"Code"', '"Ship"')
        (tmp_path / "agent.toml").write_text(edited, encoding="utf-8")
        await agent.until(lambda: "ask" in [update["currentModeId"] for update in agent.updates("current_mode_update")])
        with pytest.raises(RequestFailed) as refused:
            await set_mode(agent, session, "code")
        assert (refused.value.code, refused.value.data["available"]) == (-32602, ["ask", "ship"])
        assert await set_mode(agent, session, "ship") == {}, "by the other view it may know this one"
        assert [update["currentModeId"] for update in agent.updates("current_mode_update")] == ["ask"]
