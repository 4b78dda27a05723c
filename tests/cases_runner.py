"""Plays cases: a folder with an agent.toml and a case.toml that says what is done and what must then hold.

`play` walks through the steps and asks a `Driver` what is shown, in force and decided. `ResolvedDriver` answers from
the compiled configuration; another driver may ask a running agent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs
from attrs import define, field, frozen

from agentoml.config import layers
from agentoml.config.findings import Findings
from agentoml.config.locate import locate
from agentoml.config.merge import merge
from agentoml.config.parse import parse_all
from agentoml.config.problems import Problem
from agentoml.config.schema import Config
from agentoml.config.structure import converter
from agentoml.errors import ConfigError
from agentoml.permissions.calls import World
from agentoml.permissions.verdict import InForce, verdict
from agentoml.snapshot.compile import compile_
from agentoml.snapshot.link import link
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
    """One session with one client. Answers are as `case.toml` writes them; what is refused raises `NotAccepted`."""

    def set(self, option: str, value: str | bool) -> None: ...
    def command(self, name: str) -> None: ...
    def end_turn(self) -> None: ...
    def wait(self, seconds: float) -> None: ...
    def shown(self) -> Mapping[str, str | bool]: ...
    def listed(self, option: str) -> Sequence[str]: ...
    def profile(self, key: str) -> Any: ...
    def request(self) -> Mapping[str, Any]: ...
    def instructions(self) -> Sequence[str]: ...
    def shows_tool(self, name: str) -> bool: ...
    def verdict(self, call: Mapping[str, Any]) -> str: ...


def load(file: Path) -> Snapshot:
    """Compile a configuration as the agent does, but without the gates of what is not supported yet.

    Raises:
        ConfigError: it can't be used.
    """
    merged = merge(parse_all(layers.read(file)))
    if merged.problems:
        raise ConfigError(merged.problems)
    try:
        return compile_(link(converter(gates=False).structure(dict(merged.table), Config)))
    except Findings as findings:
        raise ConfigError(locate(findings.problems, merged)) from None
    except ConfigError as error:
        raise ConfigError(locate(error.problems, merged)) from None


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
        snapshot = load(case.agent)
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

    def set(self, option: str, value: str | bool) -> None:
        try:
            self.selections = pick(self.snapshot, self.client, self.selections, option, value, now=self.now)
        except Refused as refused:
            raise NotAccepted(f"{refused} {refused.data}") from None

    def command(self, name: str) -> None:
        try:
            self.selections = start_command(self.snapshot, self.client, self.selections, name, now=self.now)
        except Refused as refused:
            raise NotAccepted(f"{refused} {refused.data}") from None

    def end_turn(self) -> None:
        self.selections = end_turn(self.snapshot, self.client, self.selections)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.selections = expire(self.snapshot, self.client, self.selections, self.now)

    def shown(self) -> Mapping[str, str | bool]:
        return {option.id: option.current for option in self.resolved.options}

    def listed(self, option: str) -> Sequence[str]:
        rendered = self.resolved.option(option)
        return [value.value for value in rendered.values] if rendered else []

    def profile(self, key: str) -> Any:
        value = getattr(self.resolved.profile, key)
        if key == "limits":
            plain = attrs.asdict(value, filter=lambda _, said: said is not None)
            return {name: budget for name, budget in plain.items() if budget}
        if isinstance(value, Mapping):
            return request_like(value)
        return list(value) if isinstance(value, tuple) else "" if value is None else value

    def request(self) -> Mapping[str, Any]:
        return request_params(self.snapshot, self.resolved.profile)

    def instructions(self) -> Sequence[str]:
        return list(self.resolved.profile.instructions_append)

    def shows_tool(self, name: str) -> bool:
        return self.resolved.profile.shows(name, self.tools.kind(name))

    def verdict(self, call: Mapping[str, Any]) -> str:
        profile = self.resolved.profile
        in_force = InForce(profile.permissions_base, profile.permissions_patches, profile.auto_answers)
        judged = verdict(
            self.tools.call(call["tool"], call.get("args", {})),
            in_force,
            self.snapshot.permissions,
            world_of(self.case),
        )
        return judged.verdict


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


def play(case: Case, driver: Driver, *, looks: Sequence[str] = ()) -> list[str]:
    """Play every step; return what does not hold. `looks` limits what is looked at; empty: everything."""
    wrong: list[str] = []
    for number, step in enumerate(case.steps, 1):
        wrong += [f"step {number}: {text}" for text in (*_act(step, driver), *_look(case, step, driver, looks))]
    return wrong


def _act(step: Mapping[str, Any], driver: Driver) -> list[str]:
    expected = step.get("error")
    try:
        if "set" in step:
            driver.set(step["set"]["option"], step["set"]["value"])
        elif "command" in step:
            driver.command(step["command"])
        elif step.get("end_turn"):
            driver.end_turn()
        elif "wait" in step:
            driver.wait(float(step["wait"][:-1]) * SECONDS[step["wait"][-1]])
    except NotAccepted as refused:
        if expected is None:
            return [f"refused: {refused}"]
        return [] if expected.lower() in str(refused).lower() else [f"{expected!r} is not in: {refused}"]
    return [] if expected is None else [f"accepted, though it should have been refused because of {expected!r}"]


def _look(case: Case, step: Mapping[str, Any], driver: Driver, looks: Sequence[str]) -> list[str]:
    wrong: list[str] = []

    def same(what: str, expected: Any, found: Any) -> None:
        if expected != found:
            wrong.append(f"{what} should be {expected!r}, is {found!r}")

    def asked(key: str) -> Any:
        return step.get(key, {}) if not looks or key in looks else {}

    if "shown" in step and (not looks or "shown" in looks):
        same("shown", step["shown"], dict(driver.shown()))
    for option, values in asked("lists").items():
        same(f"the list of {option}", values, list(driver.listed(option)))
    for key, value in asked("profile").items():
        found = driver.profile(key)
        same(f"profile.{key}", value, {name: found.get(name) for name in value} if key == "mcp" else found)
    if "request" in step and (not looks or "request" in looks):
        same("request", step["request"], driver.request())
    if "instructions" in step and (not looks or "instructions" in looks):
        same("instructions", step["instructions"], list(driver.instructions()))
    for tool, visible in asked("tools").items():
        same(f"the tool {tool} is visible", visible, driver.shows_tool(tool))
    for name, expected in asked("verdicts").items():
        same(f"verdict on {name}", expected, driver.verdict(case.calls[name]))
    return wrong


def refusal(case: Case) -> tuple[Problem, ...]:
    """Return the problems for which a configuration is refused, none where it is not."""
    try:
        load(case.agent)
    except ConfigError as error:
        return error.problems
    return ()
