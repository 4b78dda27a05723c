"""Plays cases: a folder with an agent.toml and a case.toml that says what is done and what must then hold.

`play` walks through the steps and asks a `Driver` what is shown, in force and decided. `ResolvedDriver` answers from
the compiled configuration; `ProcessDriver` (cases_process.py) asks a running agent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs
from attrs import define, field, frozen

from agentoml.config.problems import Problem
from agentoml.permissions.calls import World
from agentoml.permissions.verdict import InForce, verdict
from agentoml.snapshot.build import build
from agentoml.snapshot.params import request_params
from agentoml.snapshot.resolve import ClientFacts, Resolved, resolve
from agentoml.snapshot.selections import Refused, Selections, pick
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.tool_names import ToolTables
from agentoml.snapshot.turns import end_turn, expire, start_command

REPOSITORY = Path(__file__).parents[1]
OWN_CASES = Path(__file__).parent / "data" / "cases"
SHARED_CASES = REPOSITORY.parent / "shared" / "cases"

CWD, HOME = "/home/u/proj", "/home/u"
EVERYTHING = ("shown", "lists", "profile", "request", "instructions", "tools", "verdicts")
"""What can be looked at after a step."""

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@frozen
class Case:
    """One case. `steps` are played in order; where `load_error` is given, the configuration must be refused."""

    name: str
    agent: Path
    about: str
    rules: tuple[str, ...]
    client: Mapping[str, Any]
    trusted: bool
    credentials: bool | tuple[str, ...]
    files: tuple[str, ...]
    calls: Mapping[str, Any]
    steps: tuple[Mapping[str, Any], ...]
    load_error: tuple[str, ...]


def read_case(folder: Path) -> Case:
    """Read one case."""
    said = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    credentials = said.get("credentials", True)
    return Case(
        name=folder.name,
        agent=folder / "agent.toml",
        about=said["about"],
        rules=tuple(said["rules"]),
        client=said["client"],
        trusted=said.get("trusted", True),
        credentials=credentials if isinstance(credentials, bool) else tuple(credentials),
        files=tuple(said.get("files", ())),
        calls=said.get("calls", {}),
        steps=tuple(said.get("step", ())),
        load_error=tuple(said.get("load_error", ())),
    )


def cases() -> list[Path]:
    """Return every case there is: those of this repository, and the shared ones where they are."""
    folders = [*OWN_CASES.glob("*"), *SHARED_CASES.glob("*")]
    return sorted(folder for folder in folders if (folder / "case.toml").is_file())


# ------------------------------------------------------------------------------------------------- drivers


class NotAccepted(Exception):
    """What a step did was refused; the text is all that the client is told."""


class Driver(Protocol):
    """One session with one client. Answers are as `case.toml` writes them; what is refused raises `NotAccepted`.

    None stands for what this driver can't see; it may not be able to tell some verdicts apart.
    """

    async def set(self, option: str, value: str | bool) -> None: ...
    async def command(self, name: str) -> None: ...
    async def end_turn(self) -> None: ...
    async def wait(self, seconds: float) -> None: ...
    async def shown(self) -> Mapping[str, str | bool]: ...
    async def listed(self, option: str) -> Sequence[str]: ...
    async def profile(self, key: str) -> Any: ...
    async def request(self) -> Mapping[str, Any] | None: ...
    async def instructions(self) -> Sequence[str] | None: ...
    async def shows_tool(self, name: str) -> bool | None: ...
    async def verdict(self, call: Mapping[str, Any]) -> Collection[str] | None: ...


@define
class ResolvedDriver:
    """Answers from the compiled configuration alone."""

    case: Case
    snapshot: Snapshot
    client: ClientFacts
    selections: Selections = field(factory=Selections)
    now: float = 0.0

    @classmethod
    def of(cls, case: Case) -> ResolvedDriver:
        snapshot = build(case.agent).snapshot
        assert snapshot is not None
        credentials = case.credentials
        names = snapshot.providers if credentials is True else () if credentials is False else credentials
        client = ClientFacts(
            name=case.client.get("name"),
            booleans=case.client["boolean"],
            trusted=case.trusted,
            credentials=frozenset(names),
        )
        return cls(case, snapshot, client)

    @property
    def tools(self) -> ToolTables:
        return ToolTables(self.snapshot.tools, self.snapshot.tool_kinds)

    @property
    def resolved(self) -> Resolved:
        return resolve(self.snapshot, self.client, self.selections)

    async def set(self, option: str, value: str | bool) -> None:
        try:
            self.selections = pick(self.snapshot, self.client, self.selections, option, value, now=self.now)
        except Refused as refused:
            raise NotAccepted(f"{refused} {refused.data}") from None

    async def command(self, name: str) -> None:
        try:
            self.selections = start_command(self.snapshot, self.client, self.selections, name, now=self.now)
        except Refused as refused:
            raise NotAccepted(f"{refused} {refused.data}") from None

    async def end_turn(self) -> None:
        self.selections = end_turn(self.snapshot, self.client, self.selections)

    async def wait(self, seconds: float) -> None:
        self.now += seconds
        self.selections = expire(self.snapshot, self.client, self.selections, self.now)

    async def shown(self) -> Mapping[str, str | bool]:
        return {option.id: option.current for option in self.resolved.options}

    async def listed(self, option: str) -> Sequence[str]:
        rendered = self.resolved.option(option)
        return [value.value for value in rendered.values] if rendered else []

    async def profile(self, key: str) -> Any:
        value = getattr(self.resolved.profile, key)
        if key == "limits":
            plain = attrs.asdict(value, filter=lambda _, said: said is not None)
            return {name: budget for name, budget in plain.items() if budget}
        if isinstance(value, Mapping):
            return request_like(value)
        return list(value) if isinstance(value, tuple) else "" if value is None else value

    async def request(self) -> Mapping[str, Any]:
        return request_params(self.snapshot, self.resolved.profile)

    async def instructions(self) -> Sequence[str]:
        return list(self.resolved.profile.instructions_append)

    async def shows_tool(self, name: str) -> bool:
        return self.resolved.profile.shows(name, self.tools.kind(name))

    async def verdict(self, call: Mapping[str, Any]) -> tuple[str, ...]:
        profile = self.resolved.profile
        in_force = InForce(profile.permissions_base, profile.permissions_patches, profile.auto_answers)
        judged = verdict(
            self.tools.call(call["tool"], call.get("args", {})),
            in_force,
            self.snapshot.permissions,
            world_of(self.case),
        )
        return (judged.verdict,)


def request_like(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested tables as plain dicts and lists."""
    return {
        name: request_like(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
        for name, value in params.items()
    }


# -------------------------------------------------------------------------------------------------- verdicts


def world_of(case: Case) -> World:
    """Return the file system of a case: its files and no symlinks."""
    files = {f"{CWD}/{name}" for name in case.files}
    return World(CWD, (CWD,), HOME, exists=files.__contains__, realpath=lambda path: path)


# ------------------------------------------------------------------------------------------------- playing


async def play(case: Case, driver: Driver, *, looks: Collection[str] = EVERYTHING) -> list[str]:
    """Play every step; return what does not hold. `looks` limits what is looked at."""
    wrong: list[str] = []
    for number, step in enumerate(case.steps, 1):
        found = [*await _act(step, driver), *await _look(case, step, driver, looks)]
        wrong += [f"step {number}: {text}" for text in found]
    return wrong


async def _act(step: Mapping[str, Any], driver: Driver) -> list[str]:
    expected = step.get("error")
    try:
        if "set" in step:
            await driver.set(step["set"]["option"], step["set"]["value"])
        elif "command" in step:
            await driver.command(step["command"])
        elif step.get("end_turn"):
            await driver.end_turn()
        elif "wait" in step:
            await driver.wait(float(step["wait"][:-1]) * SECONDS[step["wait"][-1]])
    except NotAccepted as refused:
        if expected is None:
            return [f"refused: {refused}"]
        return [] if expected.lower() in str(refused).lower() else [f"{expected!r} is not in: {refused}"]
    return [] if expected is None else [f"accepted, though it should have been refused because of {expected!r}"]


async def _look(case: Case, step: Mapping[str, Any], driver: Driver, looks: Collection[str]) -> list[str]:
    wrong: list[str] = []

    def same(what: str, expected: Any, found: Any) -> None:
        if found is not None and expected != found:
            wrong.append(f"{what} should be {expected!r}, is {found!r}")

    def asked(key: str) -> Mapping[str, Any]:
        return step.get(key, {}) if key in looks else {}

    if "shown" in step and "shown" in looks:
        same("shown", step["shown"], dict(await driver.shown()))
    for option, values in asked("lists").items():
        same(f"the list of {option}", values, list(await driver.listed(option)))
    for key, value in asked("profile").items():
        found = await driver.profile(key)
        same(f"profile.{key}", value, {name: found.get(name) for name in value} if key == "mcp" and found else found)
    if "request" in step and "request" in looks:
        same("request", step["request"], await driver.request())
    if "instructions" in step and "instructions" in looks:
        same("instructions", step["instructions"], await driver.instructions())
    for tool, visible in asked("tools").items():
        same(f"the tool {tool} is visible", visible, await driver.shows_tool(tool))
    for name, expected in asked("verdicts").items():
        possible = await driver.verdict(case.calls[name])
        if possible is not None and expected not in possible:
            wrong.append(f"verdict on {name} should be {expected}, is {' or '.join(possible)}")
    return wrong


def refusal(case: Case) -> tuple[Problem, ...]:
    """Return the problems for which a configuration is refused, none where it is not."""
    return build(case.agent).problems
