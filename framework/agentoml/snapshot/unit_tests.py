"""(snapshot, unit test) -> what does not come out as the test expects: pure, and as the agent itself would do it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from agentoml.config.globs import EXCLUDES
from agentoml.config.problems import Path, Problem, quoted
from agentoml.config.vocabulary.unit_tests import Expected, Given, UnitTest
from agentoml.errors import ConfigError
from agentoml.permissions.examples import IMAGINED
from agentoml.permissions.verdict import InForce, verdict
from agentoml.snapshot.resolve import Resolved, resolve
from agentoml.snapshot.resolving.state import ClientFacts
from agentoml.snapshot.selections import Refused, Selections, pick
from agentoml.snapshot.snapshot import OFF, ON, Snapshot
from agentoml.snapshot.tool_names import ToolTables


@frozen
class Mismatch:
    """One expectation that does not hold, in words. `path` leads to it from the table of its test."""

    path: Path
    expected: str
    found: str


Mismatches = Iterator[Mismatch]


def mismatches(snapshot: Snapshot, test: UnitTest) -> tuple[Mismatch, ...]:
    """Return every expectation of a test that does not hold; nothing where it passes."""
    given, expect = test.given, test.expect
    client = _client(snapshot, given)
    selections = Selections()
    for path, option, value in _picks(given):
        try:
            selections = pick(snapshot, client, selections, option, value)
        except Refused as refused:
            return (Mismatch(path, f"{option} = {_said(value)}", f"a refusal: {refused}"),)
    resolved = resolve(snapshot, client, selections)
    return (
        *_verdict(snapshot, resolved, given, expect),
        *_model(snapshot, resolved, expect),
        *_options(resolved, expect),
        *_values(resolved, expect),
        *_tools(snapshot, resolved, expect),
        *_instructions(resolved, expect),
    )


def failures(snapshot: Snapshot, tests: Mapping[str, UnitTest]) -> tuple[Problem, ...]:
    """Return a problem for each expectation that does not hold."""
    return tuple(
        Problem(
            "AGT208",
            f"the test {quoted(name)} expects {mismatch.expected}, but there is {mismatch.found}",
            ("tests", name, *mismatch.path),
            hint="change what it tests, or what it expects",
        )
        for name, test in tests.items()
        for mismatch in mismatches(snapshot, test)
    )


def hold_gates(snapshot: Snapshot, tests: Mapping[str, UnitTest]) -> None:
    """Refuse a snapshot in which a test with `gate = true` does not hold.

    Raises:
        ConfigError: every expectation of such a test that does not hold.
    """
    problems = failures(snapshot, {name: test for name, test in tests.items() if test.gate})
    if problems:
        raise ConfigError(problems)


# ------------------------------------------------------------------------------------------------- what is given


def _client(snapshot: Snapshot, given: Given) -> ClientFacts:
    client = given.client
    known: Iterable[str] = snapshot.providers if client.providers is None else client.providers
    return ClientFacts(client.name, client.booleans, client.trusted, frozenset(known))


def _picks(given: Given) -> Iterator[tuple[Path, str, str | bool]]:
    if given.mode is not None:
        yield ("given", "mode"), "mode", given.mode
    for option, value in given.options.items():
        yield ("given", "options", option), option, value


# ----------------------------------------------------------------------------------------------- what is expected


def _verdict(snapshot: Snapshot, resolved: Resolved, given: Given, expect: Expected) -> Mismatches:
    if expect.verdict is None or given.tool is None:
        return
    profile = resolved.profile
    in_force = InForce(profile.permissions_base, profile.permissions_patches, profile.auto_answers)
    call = ToolTables(snapshot.tools, snapshot.tool_kinds).call(given.tool, given.args)
    judged = verdict(call, in_force, snapshot.permissions, IMAGINED)
    if judged.verdict != expect.verdict:
        found = f"{quoted(judged.verdict)} because of {judged.answered_by or judged.reason}"
        yield Mismatch(("expect", "verdict"), quoted(expect.verdict), found)


def _model(snapshot: Snapshot, resolved: Resolved, expect: Expected) -> Mismatches:
    found = resolved.profile.model
    if expect.model is not None and snapshot.models.key_of(expect.model) != found:
        yield Mismatch(("expect", "model"), f"the model {quoted(expect.model)}", quoted(found) if found else "none")


def _options(resolved: Resolved, expect: Expected) -> Mismatches:
    for option, value in expect.options.items():
        active = resolved.shown.active.get(option)
        wanted = (ON if value else OFF) if isinstance(value, bool) else value
        if active is None:
            why = resolved.shown.missing[option]
            yield Mismatch(("expect", "options", option), f"{option} = {_said(value)}", f"no such option now: {why}")
        elif active.value.id != wanted:
            found = active.value.id == ON if active.option.kind == "boolean" else active.value.id
            yield Mismatch(("expect", "options", option), f"{option} = {_said(value)}", _said(found))


def _values(resolved: Resolved, expect: Expected) -> Mismatches:
    for option, values in expect.values.items():
        rendered = resolved.option(option)
        offered = tuple(value.value for value in rendered.values) if rendered is not None else ()
        if offered != values:
            yield Mismatch(("expect", "values", option), f"the values {_listed(values)}", _listed(offered))


def _tools(snapshot: Snapshot, resolved: Resolved, expect: Expected) -> Mismatches:
    tables = ToolTables(snapshot.tools, snapshot.tool_kinds)
    for index, written in enumerate(expect.tools or ()):
        tool = written.removeprefix(EXCLUDES)
        visible = resolved.profile.shows(tool, tables.kind(tool))
        if visible == written.startswith(EXCLUDES):
            which, found = ("no tool", "one") if visible else ("the tool", "none")
            yield Mismatch(("expect", "tools", index), f"{which} {quoted(tool)}", found)


def _instructions(resolved: Resolved, expect: Expected) -> Mismatches:
    prompt = "\n\n".join(resolved.profile.instructions_paragraphs)
    for index, written in enumerate(expect.instructions or ()):
        text = written.removeprefix(EXCLUDES)
        if (text in prompt) == written.startswith(EXCLUDES):
            which, found = ("without", "the text in them") if text in prompt else ("with", "no such text")
            yield Mismatch(("expect", "instructions", index), f"instructions {which} {quoted(text)}", found)


def _said(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else quoted(value)


def _listed(values: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, values))}]"
