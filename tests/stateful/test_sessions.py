"""Any configurations, picks, reloads, turns and clients: what every session must be after each step."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import tomli_w
from attrs import define, field
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentoml.errors import InvalidParams, ModelError
from agentoml.models.model import Event, Finished, ModelRequest, TextDelta, ToolRequest
from agentoml.permissions.calls import Call
from agentoml.session import session as session_module
from agentoml.session import sessions as sessions_module
from agentoml.session.permission import judge
from agentoml.session.servers import SessionServers
from agentoml.session.session import Session
from agentoml.session.sessions import Sessions
from agentoml.session.turn import Turn
from agentoml.session.updates import ConfigOptions
from agentoml.snapshot.build import build
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from agentoml.tools.tool import Tool, ToolResult
from agentoml.wire.client import Client
from agentoml.wire.frames import encode
from schema_frames import check_options
from stateful.configurations import ACTIONS, LEVELS, PLAIN, TOOLS, Table, configurations
from stateful.reference import Lists, base_of, patches_of, verdict

Json = dict[str, Any]

CLIENTS: tuple[tuple[str | None, bool], ...] = (("zed", True), ("emacs", False), (None, False))
ANSWERS = ("allow_once", "allow_always", "reject_once")
MOST_SESSIONS = 4

EXAMPLES = int(os.environ.get("AGENTOML_EXAMPLES", "8"))
LONG = EXAMPLES >= 50
"""How many runs are played: few, and always the same ones; `make soak` plays many, longer and others each time."""


@define(eq=False)
class Mirror:
    """What a client shows that does nothing but replace what it has by what it is sent."""

    booleans: bool
    options: list[Json] = field(factory=list)
    modes: list[str] = field(factory=list)
    mode: str | None = None
    commands: list[str] = field(factory=list)
    heard: int = 0

    def hear(self, update: Json) -> None:
        self.heard += 1
        match update["sessionUpdate"]:
            case "config_option_update":
                self.options = update["configOptions"]
            case "current_mode_update":
                assert update["currentModeId"] in self.modes, "a mode that this client was never given"
                assert update["currentModeId"] != self.mode, "nothing changed"
                self.mode = update["currentModeId"]
            case "available_commands_update":
                self.commands = [command["name"] for command in update["availableCommands"]]

    def shown(self) -> dict[str, str | bool]:
        return {option["id"]: option["currentValue"] for option in self.options}

    def offered(self, option_id: str) -> list[str | bool]:
        option = next((option for option in self.options if option["id"] == option_id), None)
        if option is None:
            return []
        if option["type"] == "boolean":
            return [False, True]
        return [value["value"] for entry in option["options"] for value in entry.get("options", [entry])]


class Wire:
    """The connection of one client: what is sent is serialised and read again, as on a pipe."""

    backlog = 0

    def __init__(self, booleans: bool) -> None:
        self.booleans = booleans
        self.mirrors: dict[str, Mirror] = {}
        self.asked: list[str] = []
        self.answer: Callable[[], str] = lambda: "reject_once"

    def notify(self, method: str, params: Json) -> None:
        said = read(params)
        assert method == "session/update"
        self.mirrors[said["sessionId"]].hear(said["update"])

    async def request(self, method: str, params: Json) -> Json:
        assert method == "session/request_permission"
        self.asked.append(params["toolCall"]["toolCallId"])
        wanted = self.answer()
        offered = [option["optionId"] for option in params["options"]]
        return {"outcome": {"outcome": "selected", "optionId": wanted if wanted in offered else "allow_once"}}

    async def drain(self) -> None:
        pass


def read(message: Json) -> Any:
    return json.loads(encode(message))


class NoServers(SessionServers):
    """The MCP servers of a session, of which none is started."""

    def want(self, *_: object) -> None:
        pass


class TurnedByHand(asyncio.SelectorEventLoop):
    """A loop whose time passes only when the test says so."""

    now = 1000.0

    def time(self) -> float:
        return self.now


class Machine(RuleBasedStateMachine):
    """One configuration, its clients and their sessions."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = TurnedByHand()
        self.patches = [
            patch.object(session_module, "time", SimpleNamespace(monotonic=self.loop.time)),
            patch.object(sessions_module, "SessionServers", NoServers),
        ]
        for each in self.patches:
            each.start()
        self.wires = [Wire(booleans) for _, booleans in CLIENTS]
        self.clients = [
            Client(wire, {"session": {"configOptions": {"boolean": {}}}} if booleans else {}, name and {"name": name})
            for wire, (name, booleans) in zip(self.wires, CLIENTS, strict=True)
        ]
        self.all_sessions = [Sessions() for _ in CLIENTS]
        self.sessions: list[tuple[Session, Wire]] = []
        self.tables: dict[Snapshot, Table] = {}
        self.snapshot = self.read_config(PLAIN)

    def teardown(self) -> None:
        for sessions in self.all_sessions:
            self.run(sessions.close())
        for each in self.patches:
            each.stop()
        self.loop.close()
        self.folder.cleanup()

    # ------------------------------------------------------------------------------------------ the machinery

    def run(self, coroutine: Any) -> Any:
        return self.loop.run_until_complete(coroutine)

    async def in_loop(self, function: Callable[[], Any]) -> Any:
        return function()

    def read_config(self, table: Table) -> Snapshot | None:
        file = Path(self.folder.name, "agent.toml")
        file.write_text(tomli_w.dumps(table), encoding="utf-8")
        snapshot = build(file).snapshot
        if snapshot is not None:
            self.tables[snapshot] = table
        return snapshot

    def facts(self, index: int, snapshot: Snapshot) -> ClientFacts:
        name, booleans = CLIENTS[index]
        return ClientFacts(name or "", booleans, credentials=frozenset(snapshot.providers))

    def some_session(self, data: st.DataObject) -> tuple[Session, Wire, Mirror]:
        session, wire = self.sessions[data.draw(st.integers(0, len(self.sessions) - 1), label="session")]
        return session, wire, wire.mirrors[session.id]

    def heard(self) -> dict[str, int]:
        return {session.id: wire.mirrors[session.id].heard for session, wire in self.sessions}

    # ------------------------------------------------------------------------------------------------- rules

    @initialize(config=configurations(), client=st.integers(0, 2))
    def start(self, config: Table, client: int) -> None:
        self.snapshot = self.read_config(config) or self.snapshot
        self.open(client)

    @rule(client=st.integers(0, 2))
    def open(self, client: int) -> None:
        if len(self.sessions) < MOST_SESSIONS:
            self.run(self._open(client))

    async def _open(self, client: int) -> None:
        snapshot, wire = self.snapshot, self.wires[client]
        assert snapshot is not None
        params = {"cwd": self.folder.name, "mcpServers": []}
        session = self.all_sessions[client].new(self.clients[client], snapshot, self.facts(client, snapshot), params)
        opening = read(session.opening())
        mirror = wire.mirrors[session.id] = Mirror(wire.booleans, opening.get("configOptions", []))
        if "modes" in opening:
            mirror.mode = opening["modes"]["currentModeId"]
            mirror.modes = [mode["id"] for mode in opening["modes"]["availableModes"]]
            assert mirror.modes == mirror.offered("mode")
        self.sessions.append((session, wire))
        session.tell_commands()

    @rule(data=st.data())
    def set_an_option(self, data: st.DataObject) -> None:
        self.run(self.in_loop(lambda: self._set(data)))

    def _set(self, data: st.DataObject) -> None:
        session, _, mirror = self.some_session(data)
        if mirror.options:
            option = data.draw(st.sampled_from(list(mirror.shown())), label="option")
            self.set_and_look(
                session, mirror, option, data.draw(st.sampled_from(mirror.offered(option)), label="value")
            )

    def set_and_look(self, session: Session, mirror: Mirror, option: str, value: str | bool) -> None:
        before, heard = mirror.shown(), self.heard()
        try:
            mirror.options = read({"configOptions": session.set_config_option(option, value)})["configOptions"]
        except InvalidParams as refused:
            assert refused.data is not None
            assert isinstance(value, bool), "a boolean can't show that one of its values is forced, or not there"
            assert refused.data["reason"] in ("forced", "unavailable_value")
            assert self.heard() == heard
            return
        assert mirror.shown()[option] == value, "what was accepted is shown"
        told = {id for id, number in self.heard().items() if number != heard[id]}
        assert told <= {session.id}, "only its own client is told"
        if before[option] == value and before == mirror.shown():
            assert not told, "nothing changed"

    @rule(data=st.data(), value=st.sampled_from(("nonsense", "", "on", "ant", True, False)))
    def set_what_is_not_there(self, data: st.DataObject, value: str | bool) -> None:
        session, _, mirror = self.some_session(data)
        option = data.draw(st.sampled_from(["nothing", *mirror.shown()]), label="option")
        declared = session.snapshot.options.get(option)
        is_boolean = declared is not None and declared.kind == "boolean"
        if value in mirror.offered(option) or (is_boolean and isinstance(value, bool)):
            return
        before, heard = session.selections, self.heard()
        with pytest.raises(InvalidParams) as refused:
            self.run(self.in_loop(lambda: session.set_config_option(option, value)))
        assert refused.value.data is not None
        assert refused.value.data["configId"] == option
        assert (session.selections, self.heard()) == (before, heard), "a refusal changes nothing"

    @rule(data=st.data())
    def set_a_mode(self, data: st.DataObject) -> None:
        session, _, mirror = self.some_session(data)
        if not mirror.offered("mode"):
            return
        mode = data.draw(st.sampled_from(mirror.offered("mode")), label="mode")
        before = mirror.options
        heard = mirror.heard
        if mode in mirror.modes:
            mirror.mode = str(mode)
        commands = mirror.commands
        self.run(self.in_loop(lambda: session.set_mode(str(mode))))
        assert mirror.shown()["mode"] == mode
        assert (mirror.heard > heard) == ((mirror.options, mirror.commands) != (before, commands)), "told what changed"

    @rule(data=st.data())
    def switch_there_and_back(self, data: st.DataObject) -> None:
        session, _, mirror = self.some_session(data)
        if not mirror.options or session.snapshot.forgetful or session.selections.temporary or lasts(session):
            return
        option = data.draw(st.sampled_from(list(mirror.shown())), label="option")
        there = data.draw(st.sampled_from(mirror.offered(option)), label="there")
        before, back = mirror.options, mirror.shown()[option]
        self.run(self.in_loop(lambda: self.set_and_look(session, mirror, option, there)))
        if back in mirror.offered(option):
            self.run(self.in_loop(lambda: self.set_and_look(session, mirror, option, back)))
            assert mirror.options == before

    @rule(config=configurations())
    def reload(self, config: Table) -> None:
        self.run(self.in_loop(lambda: self._reload(config)))

    def _reload(self, config: Table) -> None:
        snapshot = self.read_config(config)
        if snapshot is None:
            return
        self.snapshot = snapshot
        for index, sessions in enumerate(self.all_sessions):
            before = {session.id: self.wires[index].mirrors[session.id].options for session in sessions}
            heard = self.heard()
            told = sessions.take(snapshot, self.facts(index, snapshot))
            really = [id for id in before if self.heard()[id] != heard[id]]
            assert told == len(really)

    @rule(seconds=st.sampled_from((1.0, 9.0, 60.0, 300.0)))
    def time_passes(self, seconds: float) -> None:
        self.loop.now += seconds
        self.run(asyncio.sleep(0))
        self.run(asyncio.sleep(0))

    @rule(data=st.data(), words=st.sampled_from(("hello", "/go", "/turn on")))
    def play_a_turn(self, data: st.DataObject, words: str) -> None:
        session, wire, _ = self.some_session(data)
        wire.answer = lambda: data.draw(st.sampled_from(ANSWERS), label="answer")
        self.run(self._play(data, session, wire, words))

    async def _play(self, data: st.DataObject, session: Session, wire: Wire, words: str) -> None:
        provider = Provider(self, data, session, wire.mirrors[session.id])
        turn = Turn(session, session.snapshot, SimpleNamespace(adapter=lambda *_: provider), self.tools(session, wire))
        session.turn = asyncio.ensure_future(turn.run([{"type": "text", "text": words}]))
        try:
            await session.turn
        except InvalidParams as refused:
            assert words.startswith("/"), refused
        finally:
            session.turn = None
        assert session.selections.turn is None

    # -------------------------------------------------------------------------------------------- tool calls

    def tools(self, session: Session, wire: Wire) -> Mapping[str, Tool]:
        def tool(name: str, kind: str) -> Tool:
            async def run(_: Mapping[str, Any], context: Any) -> ToolResult:
                self.check_that_it_may_run(name, session, asked=context.tool_call_id in wire.asked)
                return ToolResult("done")

            return Tool(name, name, {"type": "object", "properties": {}}, run, kind)

        return {name: tool(name, kind) for name, kind in TOOLS.items()}

    def check_that_it_may_run(self, name: str, session: Session, *, asked: bool) -> None:
        found = self.verdict(name, session)
        assert found != "deny", f"{name} ran, though it is denied"
        assert found == "allow" or asked, f"{name} ran unasked, though it is {found}"

    def verdict(self, name: str, session: Session) -> str:
        """What the tables say of a call: the strictest of what a running turn goes by and the newest ones."""
        always = [tool for rule in session.remembered for tool in rule.tool or ()]
        found = []
        for standing in session.standings():
            profile = standing.resolved().profile
            lists = (profile.permissions_base, profile.permissions_patches, profile.auto_answers)
            found.append(verdict(self.tables[standing.snapshot], Lists(*lists, always), name))
        return max(found, key=ACTIONS.index)

    # -------------------------------------------------------------------------------- what always holds

    @invariant()
    def every_session_is_whole(self) -> None:
        for session, wire in self.sessions:
            self.check_session(session, wire.mirrors[session.id])

    def check_session(self, session: Session, mirror: Mirror) -> None:
        assert session.snapshot is self.snapshot
        table, resolved = self.tables[session.snapshot], session.resolved()
        assert mirror.options == read({"list": ConfigOptions().of(resolved)})["list"], (
            "the client shows what resolve says"
        )
        check_options(mirror.options)
        for option in mirror.options:
            assert option["type"] == "select" or mirror.booleans, "a boolean for a client that can't show one"
            assert option["name"] and option.get("category") in (None, *CATEGORIES)
            assert len({"group" in entry for entry in option.get("options", ())}) <= 1, "all in groups or none"
        shown = mirror.shown()
        if shown.get("mode") in mirror.modes:
            assert mirror.mode == shown["mode"], "both views say the same"
        assert mirror.commands == list(resolved.commands)
        if not session.kept:
            for name, kind in TOOLS.items():
                assert judge(session, Call(name, kind, {})).verdict == self.verdict(name, session)

        turn = session.selections.turn
        if turn is not None and (turn.waiting or turn.command):
            return  # what is shown is in force at the next turn, and what a command sets is no option's
        profile = resolved.profile
        if "model" in shown:
            assert profile.model == shown["model"]
        if shown.get("level") in LEVELS:
            assert profile.reasoning == shown["level"]
        assert profile.summary_model == shown.get("summary"), "no option: no summary model"
        assert list(profile.permissions_base) == base_of(table)
        if {option.id for option in resolved.shown.snapshot.options.values()} - {"provider"} <= set(shown):
            assert [list(names) for names in profile.permissions_patches] == patches_of(table, shown)


CATEGORIES = ("mode", "model", "model_config", "thought_level", "_tone")


def lasts(session: Session) -> bool:
    """Whether a pick may end by itself."""
    options = session.snapshot.options.values()
    return any(option.lasts or any(value.lasts for value in option.known.values()) for option in options)


@define(eq=False)
class Provider:
    """A model that calls tools while its user and the author of its configuration do other things."""

    machine: Machine
    data: st.DataObject
    session: Session
    mirror: Mirror
    answers: int = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        self.answers += 1
        if self.session.pinned is None and not self.waits():
            assert request.model_id == self.mirror.shown().get("model", request.model_id), "the model that is shown"
        self.meanwhile()
        if self.data.draw(st.integers(0, 9), label="overloaded") == 0:
            raise ModelError("overloaded", "try another")
        if self.answers > 2:
            yield TextDelta("done")
            yield Finished("end_turn")
            return
        names = self.data.draw(st.lists(st.sampled_from(list(TOOLS)), min_size=1, max_size=3), label="calls")
        yield Finished(
            "tool_use", tuple(ToolRequest(f"{self.answers}-{at}", name, "{}") for at, name in enumerate(names))
        )

    def waits(self) -> bool:
        turn = self.session.selections.turn
        return turn is not None and bool(turn.waiting)

    def meanwhile(self) -> None:
        self.machine.every_session_is_whole()
        match self.data.draw(st.sampled_from(("nothing", "set", "set", "reload")), label="meanwhile"):
            case "set":
                self.machine._set(self.data)
            case "reload":
                self.machine._reload(self.data.draw(configurations()))
        self.machine.every_session_is_whole()


TestSessions = Machine.TestCase
TestSessions.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=40 if LONG else 15,
    derandomize=not LONG,
    deadline=None,
    phases=[phase for phase in Phase if phase is not Phase.explain],
    suppress_health_check=list(HealthCheck),
)
