"""The eight promises of a reload (DESIGN.md section 5), one test each and more beside where it says; real processes."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_process import EVERYTHING, AgentProcess, Frame, RequestFailed, agent_process, choose, offered, shown

HEARING = {
    **EVERYTHING,
    "session": {"configOptions": {"boolean": {}}, "notices": {}},
    "_meta": {"agentoml": {"configChanged": {}}},
}

AGENT = """
schema = 1
extends = ["base.toml"]
[options.model]
values_from = "models"
[modes.code]
"""
BASE = """
schema = 1
[providers.offline]
adapter = "scripted"
[models.one]
provider = "offline"
"""
TWO = '[models.two]\nprovider = "offline"\n'
PLAN = '[modes.plan]\nname = "Plan"\n'


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "base.toml").write_text(BASE, encoding="utf-8")
    (folder / "agent.toml").write_text(AGENT, encoding="utf-8")
    return folder / "agent.toml"


@asynccontextmanager
async def hearing(config: Path) -> AsyncIterator[AgentProcess]:
    """An agent whose client asks for all that can be told of reloads."""
    async with agent_process(config, initialize=False) as agent:
        await agent.initialize(HEARING)
        yield agent


def attempts(agent: AgentProcess) -> list[Frame]:
    return [frame["params"] for frame in agent.frames if frame.get("method") == "_agentoml/config_changed"]


async def attempt(agent: AgentProcess, state: str, after: int = 0) -> Frame:
    """Wait until the client is told of an attempt that ended so, behind the first `after` ones."""
    await agent.until(lambda: any(one["state"] == state for one in attempts(agent)[after:]))
    return attempts(agent)[-1]


def asked_about(agent: AgentProcess) -> list[Frame]:
    return [frame for frame in agent.frames if frame.get("method") == "session/request_permission"]


def models(update: Frame) -> list[str]:
    return offered(next(option for option in update["configOptions"] if option["id"] == "model"))


async def test_promise_1_all_or_nothing_and_a_restart_serves_the_last_good_one(config: Path, tmp_path: Path) -> None:
    base = config.with_name("base.toml")
    async with hearing(config) as agent:
        await agent.new_session(tmp_path)
        base.write_text(BASE + TWO, encoding="utf-8")
        await attempt(agent, "applied", after=1)
        known = len(attempts(agent))
        base.write_text(BASE + TWO + "[models.three]\nprovidr = 1\n", encoding="utf-8")
        config.write_text(AGENT + "[modes.plan]\nnane = 1\n", encoding="utf-8")
        await agent.until(lambda: len((attempts(agent)[known:] or [{"problems": []}])[-1]["problems"]) >= 2)
        keys = {problem["key"] for problem in attempts(agent)[-1]["problems"]}
        assert {"models.three.providr", "modes.plan.nane"} <= keys
        assert len(agent.updates("config_option_update")) == 1
    async with hearing(config) as agent:
        session = await agent.new_session(tmp_path)
        assert models(session) == ["one", "two"]
        assert attempts(agent)[0]["state"] == "rejected"
        assert any("last good configuration stays in force" in line for line in agent.errors)


async def test_promise_1_without_a_last_good_one_no_session_opens(config: Path, tmp_path: Path) -> None:
    config.write_text("nonsense", encoding="utf-8")
    async with hearing(config) as agent:
        with pytest.raises(RequestFailed) as failed:
            await agent.new_session(tmp_path)
        assert (failed.value.code, failed.value.data["reason"]) == (-32603, "no_valid_configuration")
        config.write_text(AGENT, encoding="utf-8")
        await attempt(agent, "applied")
        assert models(await agent.new_session(tmp_path)) == ["one"]


async def test_promise_2_what_counts_is_what_is_there_however_it_came(config: Path, tmp_path: Path) -> None:
    """Renamed over, deleted and written again, and a swapped link; R01 to R35 in tests/reload are the whole of it."""
    base = config.with_name("base.toml")
    async with hearing(config) as agent:
        await agent.new_session(tmp_path)
        new = base.with_name("new")
        new.write_text(BASE + TWO, encoding="utf-8")
        new.replace(base)
        await agent.until(lambda: [models(one) for one in agent.updates("config_option_update")] == [["one", "two"]])
        base.unlink()
        await attempt(agent, "rejected")
        base.write_text(BASE, encoding="utf-8")
        await agent.until(lambda: models(agent.updates("config_option_update")[-1]) == ["one"])
        (tmp_path / "elsewhere.toml").write_text(BASE + TWO.replace("two", "three"), encoding="utf-8")
        link = base.with_name("link")
        link.symlink_to(tmp_path / "elsewhere.toml")
        link.replace(base)
        await agent.until(lambda: models(agent.updates("config_option_update")[-1]) == ["one", "three"])


async def test_promise_3_every_attempt_leaves_a_record_and_can_be_waited_for(config: Path, tmp_path: Path) -> None:
    async with hearing(config) as agent:
        await agent.new_session(tmp_path)
        config.write_text(AGENT + "nonsense", encoding="utf-8")
        rejected = await attempt(agent, "rejected")
        config.write_text(AGENT + PLAN, encoding="utf-8")
        applied = await attempt(agent, "applied", after=len(attempts(agent)))
        assert 1 < rejected["attempt"] < applied["attempt"]
        assert (rejected["generation"], applied["generation"], applied["sessionsTold"]) == (1, 2, 1)
        assert [change["sentence"] for change in applied["changes"] if change["area"] == "modes"] == [
            'mode "plan" added'
        ]
        assert applied["milliseconds"] > 0


async def test_promise_4_a_pick_stays_an_alias_is_next_then_the_default(config: Path, tmp_path: Path) -> None:
    base = config.with_name("base.toml")
    base.write_text(BASE + TWO, encoding="utf-8")
    async with hearing(config) as agent:
        session = await agent.new_session(tmp_path)
        await agent.set(session, "model", "two")

        async def after(text: str) -> str:
            known = len(agent.updates("config_option_update"))
            base.write_text(text, encoding="utf-8")
            await agent.until(lambda: len(agent.updates("config_option_update")) > known)
            return str(shown(agent.updates("config_option_update")[-1]["configOptions"])["model"])

        assert await after(BASE + TWO + TWO.replace("two", "three")) == "two"
        assert await after(BASE + TWO.replace("two", "second") + 'aliases = ["two"]\n') == "second"
        assert await after(BASE) == "one"


async def test_promise_4_exactly_what_differs_is_told(config: Path, tmp_path: Path) -> None:
    async with hearing(config) as agent:
        await agent.new_session(tmp_path)
        config.write_text(AGENT + '[agent]\ninstructions = "New."\n', encoding="utf-8")
        quiet = await attempt(agent, "applied", after=1)
        assert quiet["sessionsTold"] == 0
        told = len(agent.updates())
        config.write_text(AGENT + '[commands.review]\nprompt = "Review."\n', encoding="utf-8")
        await attempt(agent, "applied", after=2)
        assert [update["sessionUpdate"] for update in agent.updates()[told:]] == ["available_commands_update"]


async def test_promise_5_a_turn_goes_on_by_what_it_began_with(config: Path, tmp_path: Path) -> None:
    """Tests R50 to R54 in tests/reload look at what reaches the model; this at what a user sees."""
    base = config.with_name("base.toml")
    replies = (
        '[providers.offline.replies.talk]\nsteps = [{ tool = "list_files" }, { text = "by {model}" }]\n'
        '[permissions.standard]\nkinds.search = "ask"\n'
    )
    replies = replies.replace("by {model}", "to the end")
    base.write_text(
        BASE + 'capabilities = ["tools"]\n' + TWO + 'capabilities = ["tools"]\n' + replies, encoding="utf-8"
    )

    async with hearing(config) as agent:
        session = await agent.new_session(tmp_path)
        await agent.set(session, "model", "two")

        def reload_then_allow(params: Frame) -> Frame:
            base.write_text(
                BASE + 'capabilities = ["tools"]\n' + replies.replace("to the end", "anew"), encoding="utf-8"
            )
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        agent.answers["session/request_permission"] = reload_then_allow
        await agent.prompt(session, "talk")
        assert agent.said() == "to the end"
        await agent.until(lambda: agent.updates("config_option_update"))
        agent.answers["session/request_permission"] = lambda params: {
            "outcome": {"outcome": "selected", "optionId": "allow_once"}
        }
        await agent.prompt(session, "talk")
        assert agent.said() == "to the endanew"


@pytest.mark.parametrize(("before", "after"), [(9, 1), (1, 9)])
async def test_promise_5_a_lower_limit_binds_at_the_next_step_and_a_higher_one_in_the_next_turn(
    config: Path, tmp_path: Path, before: int, after: int
) -> None:
    base = config.with_name("base.toml")
    written = f"""{BASE}capabilities = ["tools"]
[providers.offline.replies.talk]
steps = [{{ tool = "list_files" }}, {{ text = "to the end" }}]
[permissions.standard]
kinds.search = "ask"
[agent]
limits.turn.model_calls = """
    base.write_text(f"{written}{before}\n", encoding="utf-8")
    asked: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
    async with hearing(config) as agent:
        agent.answers["session/request_permission"] = lambda _: asked
        turn = asyncio.create_task(agent.prompt(await agent.new_session(tmp_path), "talk"))
        question = await agent.until(
            lambda: [one for one in agent.frames if one.get("method") == "session/request_permission"]
        )
        told = len(attempts(agent))
        base.write_text(f"{written}{after}\n", encoding="utf-8")
        await attempt(agent, "applied", told)
        agent.answer(question[0], choose("allow_once")({}))
        assert (await turn)["stopReason"] == "max_turn_requests"
        assert agent.said() == "I stop here: the turn may make 1 model calls."


async def test_promise_6_a_server_that_is_declared_as_before_keeps_its_process(config: Path, tmp_path: Path) -> None:
    """Changed and removed ones, and turns that use them: R55 in tests/reload."""
    server = Path(__file__).parents[1] / "tools" / "tiny_mcp_server.py"
    script = f'echo $$ >> "{tmp_path}/pids"; exec "$0" "$@"'
    declared = f"[mcp.tiny]\ncommand = {json.dumps(['sh', '-c', script, sys.executable, str(server)])}\n"
    config.write_text(AGENT + declared, encoding="utf-8")
    async with hearing(config) as agent:
        session = await agent.new_session(tmp_path)
        await agent.prompt(session, "hello")
        config.write_text(AGENT + declared + PLAN, encoding="utf-8")
        await attempt(agent, "applied", after=1)
        await agent.prompt(session, "hello")
        assert len((tmp_path / "pids").read_text().split()) == 1


async def test_promise_7_what_a_live_connection_can_t_change_is_reported(config: Path, tmp_path: Path) -> None:
    async with hearing(config) as agent:
        await agent.new_session(tmp_path)
        config.write_text(AGENT + PLAN + '[agent]\nname = "renamed"\nprompt = ["image"]\n', encoding="utf-8")
        record = await attempt(agent, "applied", after=1)
        told = {change["name"]: change["sentence"] for change in record["changes"] if change["area"] == "connection"}
        assert set(told) == {"name", "prompt", "modes"}
        assert all("from the next" in sentence for sentence in told.values())
        await agent.until(lambda: any("[agent] name changed" in line for line in agent.errors))


async def test_promise_8_saved_is_soon_told(config: Path, tmp_path: Path) -> None:
    """The figure is the benchmark's (`make bench`); here only that nothing takes seconds on a busy machine."""
    base = config.with_name("base.toml")
    catalog = "".join(f'[models.m{number}]\nprovider = "offline"\n' for number in range(40))
    base.write_text(BASE + catalog, encoding="utf-8")
    async with hearing(config) as agent:
        for _ in range(5):
            await agent.new_session(tmp_path)
        for number in range(3):
            known = len(attempts(agent))
            base.write_text(
                BASE.replace("[models.one]", f'[models.one]\nname = "{number}"') + catalog, encoding="utf-8"
            )
            record = await attempt(agent, "applied", after=known)
            assert record["sessionsTold"] == 5
        durations = [one["milliseconds"] for one in attempts(agent)[1:]]
        assert statistics.median(durations) < 2000
