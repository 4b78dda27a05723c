"""R50 to R58: what a reload does to sessions and to the turns that run in them, through real processes."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_process import EVERYTHING, AgentProcess, Frame, agent_process, shown
from agentoml.snapshot.snapshot import Snapshot
from servers import openai
from servers.http_server import Answer, HttpServer, Request
from tools.processes import is_gone
from watched import agent, shows, watched

HEARING = {**EVERYTHING, "_meta": {"agentoml": {"configChanged": {}}}}
MCP_SERVER = Path(__file__).parents[1] / "tools" / "tiny_mcp_server.py"

AGENT = """
schema = 1
[agent]
instructions = "Generation {generation}."
permissions = ["standard"{sets}]
[permissions.no-shell]
kinds = {{ execute = "deny" }}
[providers.p]
adapter = "openai"
base_url = "{url}/v1"
retry = {{ attempts = 1 }}
[models.one]
provider = "p"
capabilities = ["tools"]
{more}
[options.model]
values_from = "models"
"""

TWO = '[models.two]\nprovider = "p"\ncapabilities = ["tools"]\n'
SHELL = ("1", "shell", {"command": "true"})


class Served:
    """An agent whose model is a server of the test, and the file it runs by."""

    def __init__(self, config: Path, server: HttpServer, process: AgentProcess, cwd: Path) -> None:
        self.config, self.server, self.process, self.cwd = config, server, process, cwd
        self.session: Frame = {}

    def write(self, generation: int = 1, sets: str = "", more: str = TWO) -> None:
        text = AGENT.format(url=self.server.url, generation=generation, sets=sets, more=more)
        self.config.write_text(text, encoding="utf-8")

    def records(self) -> list[Frame]:
        frames = self.process.frames
        return [frame["params"] for frame in frames if frame.get("method") == "_agentoml/config_changed"]

    async def save(self, state: str = "applied", **what: Any) -> Frame:
        """Write the file and wait for an attempt that ends so."""
        before = len(self.records())
        self.write(**what)
        await self.process.until(lambda: any(one["state"] == state for one in self.records()[before:]))
        return self.records()[-1]

    def start_turn(self) -> asyncio.Future[Frame]:
        prompt = [{"type": "text", "text": "go"}]
        return self.process.start_request("session/prompt", sessionId=self.session["sessionId"], prompt=prompt)

    async def asked_model(self, times: int) -> Any:
        """Wait until the model was asked so often; return the last request's body."""
        while len(self.server.requests) < times:
            self.server.arrived.clear()
            await asyncio.wait_for(self.server.arrived.wait(), 20)
        return self.server.requests[times - 1].json

    def questions(self) -> list[Frame]:
        """The questions about calls, not those about reloads."""
        frames = [one for one in self.process.frames if one.get("method") == "session/request_permission"]
        return [one for one in frames if one["params"]["toolCall"]["toolCallId"].startswith("call_")]


def yes(params: Frame) -> Frame:
    option = "apply" if params["toolCall"]["toolCallId"].startswith("reload_") else "allow_once"
    return {"outcome": {"outcome": "selected", "optionId": option}}


@asynccontextmanager
async def served(tmp_path: Path, *answers: Answer, **what: Any) -> AsyncIterator[Served]:
    async with HttpServer(*answers) as server:
        config = tmp_path / "agent.toml"
        text = AGENT.format(url=server.url, **{"generation": 1, "sets": "", "more": TWO, **what})
        config.write_text(text, encoding="utf-8")
        asking = {"session/request_permission": yes}
        async with agent_process(config, answers=asking, initialize=False) as process:
            await process.initialize(HEARING)
            found = Served(config, server, process, tmp_path)
            found.session = await process.new_session(tmp_path)
            await process.until(lambda: found.records())
            yield found


def waiting(answer: Answer, until: asyncio.Event) -> Answer:
    return Answer(answer.steps, before=[until])


def system_prompt(request: Mapping[str, Any]) -> str:
    return str(request["messages"][0]["content"])


async def test_r50_a_turn_sees_one_generation_however_often_the_file_changes(tmp_path: Path) -> None:
    gates = [asyncio.Event() for _ in range(3)]
    calls = [waiting(openai.calls((str(number), "list_files", {})), gate) for number, gate in enumerate(gates)]
    async with served(tmp_path, *calls, openai.says("Done."), openai.says("Next.")) as one:
        await one.process.set(one.session, "model", "two")
        turn = one.start_turn()
        for number, gate in enumerate(gates):
            await one.asked_model(number + 1)
            await one.save(generation=number + 2, more="")
            gate.set()
        assert await turn == {"stopReason": "end_turn"}
        told = {(request.json["model"], system_prompt(request.json)) for request in one.server.requests}
        assert len(one.server.requests) == 4
        assert {model for model, _ in told} == {"two"}
        assert all("Generation 1." in prompt for _, prompt in told)
        await one.start_turn()
        assert one.server.requests[4].json["model"] == "one"
        assert "Generation 4." in system_prompt(one.server.requests[4].json)


async def test_r51_a_denial_that_is_added_blocks_the_next_call_of_the_running_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()
    answers = (openai.calls(SHELL), waiting(openai.calls(SHELL), gate), openai.says("Done."))
    async with served(tmp_path, *answers) as one:
        turn = one.start_turn()
        await one.asked_model(2)
        assert len(one.questions()) == 1
        await one.save(sets=', "no-shell"')
        gate.set()
        assert await turn == {"stopReason": "end_turn"}
        assert len(one.questions()) == 1
        assert "Denied by the permission rules" in one.server.requests[2].json["messages"][-1]["content"]


async def test_r52_a_denial_that_is_removed_counts_until_the_turn_is_over(tmp_path: Path) -> None:
    gate = asyncio.Event()
    answers = (waiting(openai.calls(SHELL), gate), openai.says("Done."), openai.calls(SHELL), openai.says("Done."))
    async with served(tmp_path, *answers, sets=', "no-shell"') as one:
        turn = one.start_turn()
        await one.asked_model(1)
        await one.save()  # it widens while a turn runs: the user is asked, and says yes
        assert [record["state"] for record in one.records()] == ["applied", "held", "applied"]
        gate.set()
        await turn
        assert one.questions() == []
        assert "Denied by the permission rules" in one.server.requests[1].json["messages"][-1]["content"]
        await one.start_turn()
        assert len(one.questions()) == 1


async def test_r54_a_model_that_is_removed_ends_its_turn_and_the_default_takes_the_next(tmp_path: Path) -> None:
    gate = asyncio.Event()
    answers = (waiting(openai.calls(("1", "list_files", {})), gate), openai.says("Done."), openai.says("Next."))
    async with served(tmp_path, *answers) as one:
        await one.process.set(one.session, "model", "two")
        turn = one.start_turn()
        await one.asked_model(1)
        await one.save(more="")
        [update] = one.process.updates("config_option_update")
        assert shown(update["configOptions"])["model"] == "one"
        gate.set()
        await turn
        await one.start_turn()
        assert [request.json["model"] for request in one.server.requests] == ["two", "two", "one"]


async def test_r54_a_provider_and_a_mode_that_are_removed_end_their_turn_too(tmp_path: Path) -> None:
    gate = asyncio.Event()
    answers = (waiting(openai.calls(SHELL), gate), openai.says("Done."), openai.says("Next."))
    async with HttpServer() as nowhere:
        other = f'[providers.q]\nadapter = "openai"\nbase_url = "{nowhere.url}/v1"\nretry = {{ attempts = 1 }}\n'
        modes = '[modes.plan]\nset = { permissions = "no-shell" }\n[modes.code]\n'
        more = f"{TWO}{modes}[options.mode]\ndefault = 'code'\n"
        async with served(tmp_path, *answers, more=more + other) as one:
            await one.process.set(one.session, "mode", "plan")
            turn = one.start_turn()
            await one.asked_model(1)
            await one.save(more=TWO + "[modes.code]\n[options.mode]\ndefault = 'code'\n")
            gate.set()
            await turn
            assert one.questions() == []
            assert "Denied by the permission rules" in one.server.requests[1].json["messages"][-1]["content"]


def counted_server(tmp_path: Path, name: str, *arguments: str) -> str:
    """A server that leaves a line with its process id where it starts, in its own process."""
    script = f'echo $$ >> "{tmp_path}/{name}.pids"; exec "$0" "$@"'
    command = ["sh", "-c", script, sys.executable, str(MCP_SERVER), *arguments]
    return f"[mcp.{name}]\ncommand = {command!r}\n"


def pids(tmp_path: Path, name: str) -> list[int]:
    file = tmp_path / f"{name}.pids"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


async def ended(pid: int) -> None:
    """Wait until a process has ended."""
    if is_gone(pid):
        return
    over = asyncio.Event()
    loop, descriptor = asyncio.get_running_loop(), os.pidfd_open(pid)
    loop.add_reader(descriptor, over.set)
    try:
        await asyncio.wait_for(over.wait(), 20)
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def test_r55_an_mcp_server_that_is_declared_as_before_keeps_its_process(tmp_path: Path) -> None:
    kept, changed, gone = (counted_server(tmp_path, name) for name in ("kept", "changed", "gone"))
    gate = asyncio.Event()
    using = waiting(openai.calls(("1", "mcp__gone__echo", {"text": "still there"})), gate)
    async with served(
        tmp_path, using, openai.says("Used."), openai.says("Later."), more=TWO + gone + kept + changed
    ) as one:
        turn = one.start_turn()
        await one.asked_model(1)
        before = {name: pids(tmp_path, name) for name in ("kept", "changed", "gone")}
        assert all(len(found) == 1 for found in before.values())
        anew = counted_server(tmp_path, "changed", "", str(tmp_path))
        await one.save(more=TWO + kept.replace("command", "enabled = true\ncommand") + anew)
        [held] = [record for record in one.records() if record["state"] == "held"]
        assert [change["name"] for change in held["changes"] if change["restarts"]] == ["changed"]
        assert not is_gone(before["gone"][0]), "a turn uses it"
        gate.set()
        await turn
        assert tools_told(one.server.requests[0]) == tools_told(one.server.requests[1]), (
            "those that the turn began with"
        )
        assert "still there" in one.server.requests[1].json["messages"][-1]["content"]
        await one.start_turn()
        assert b"mcp__kept__echo" in tools_told(one.server.requests[2])
        assert b"mcp__gone__echo" not in tools_told(one.server.requests[2])
        assert pids(tmp_path, "kept") == before["kept"]
        assert not is_gone(before["kept"][0])
        assert len(pids(tmp_path, "changed")) == 2
        assert not is_gone(pids(tmp_path, "changed")[1])
        for name in ("changed", "gone"):
            await ended(before[name][0])


async def test_r56_a_storm_of_reloads_leaves_no_snapshot_descriptor_or_watch_behind(config: Path) -> None:
    async with watched(config) as store:
        alive: list[weakref.ref[Snapshot]] = []
        store.subscribe(lambda _before, after: alive.append(weakref.ref(after)) or 0)
        config.write_text(agent("one", "start"))
        await shows(store, "one", "start")
        before = open_descriptors()
        for number in range(30):
            config.write_text(agent("one", f"m{number}"))
            await store.reload("request")
        for thread in threading.enumerate():
            if thread.name == "build":  # it has given its result, and may not have ended yet
                thread.join(20)
        gc.collect()
        assert [one() for one in alive if one() is not None] == [store.current]
        assert len(alive) == store.generation - 1 >= 30
        assert open_descriptors() == before


def open_descriptors() -> dict[str, int]:
    """What this process has open, and how many watches each inotify descriptor has."""
    found: dict[str, int] = {}
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
            info = Path(f"/proc/self/fdinfo/{descriptor.name}").read_text()
        except OSError:
            continue
        if "inotify" in target:
            found["inotify"] = found.get("inotify", 0) + 1
            found["watches"] = found.get("watches", 0) + info.count("inotify wd:")
    return found


@pytest.mark.parametrize("reloads", ["a comment", "another model"])
async def test_r57_a_reload_keeps_the_list_of_tools_byte_for_byte(tmp_path: Path, reloads: str) -> None:
    async with served(tmp_path, openai.says("One."), openai.says("Two.")) as one:
        await one.start_turn()
        before = len(one.records())
        if reloads == "a comment":
            one.config.write_text(one.config.read_text() + "# nothing\n")
            one.process.process.send_signal(1)
        else:
            await one.save(more=TWO + TWO.replace("two", "three"))
            assert len(one.records()) == before + 1
        await one.start_turn()
        first, second = map(tools_told, one.server.requests)
        assert b"write_file" in first
        assert first == second


def tools_told(request: Request) -> bytes:
    """The bytes of the list of tools that the model was told of."""
    body = request.body.partition(b'"tools":')[2]
    depth = 0
    for index, byte in enumerate(body):
        depth += (byte in b"[{") - (byte in b"]}")
        if depth == 0 and index:
            return body[: index + 1]
    raise AssertionError(body)


async def test_r58_a_snapshot_that_a_turn_pinned_goes_with_the_turn(tmp_path: Path) -> None:
    """In this process: whether an object is still there can't be seen from outside."""
    from agentoml.session.sessions import Sessions
    from agentoml.snapshot.build import build
    from agentoml.snapshot.resolve import ClientFacts
    from session.quiet_client import QuietClient

    config = tmp_path / "agent.toml"
    sessions, client = Sessions(), QuietClient()
    config.write_text(agent("one", "two"))
    session = sessions.new(client, fresh(build(config).snapshot), ClientFacts(), {"cwd": str(tmp_path)})
    session.opening()
    session.set_config_option("model", "two")
    pinned = weakref.ref(session.snapshot)
    session.turn = asyncio.create_task(asyncio.Event().wait())  # type: ignore[arg-type]
    for number in range(5):
        config.write_text(agent("one", f"m{number}"))
        sessions.take(fresh(build(config).snapshot), ClientFacts())
        assert session.resolved(pinned()).profile.model == "two"
        assert session.resolved().profile.model == "one"
    session.turn.cancel()
    session.turn = None
    session.end_turn()
    gc.collect()
    assert pinned() is None


def fresh(snapshot: Snapshot | None) -> Snapshot:
    assert snapshot is not None
    return snapshot
