from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentoml.config import layers, merge, parse
from agentoml.config.structure import structure
from agentoml.errors import ConfigError
from agentoml.snapshot.compile import compile_
from agentoml.snapshot.link import link
from agentoml.snapshot.unit_tests import failures, hold_gates, mismatches

AGENT = """schema = 1
[agent]
instructions = "You are kind."
tools = ["!fetch_url"]
permissions.add = ["team"]
[providers.one]
adapter = "scripted"
[providers.two]
adapter = "scripted"
[models.opus]
provider = "one"
aliases = ["big"]
reasoning = { values = ["low", "high"] }
[models.haiku]
provider = "two"
[modes.code]
[modes.plan]
set = { permissions = "no-changes", instructions_append = "Only plan." }
preselect = { model = "haiku" }
[modes.quick]
when = { client = "!zed*", trusted = true }
set = { auto_answers.add = ["everything"] }
[options.model]
values_from = "models"
[options.effort]
values_from = "model.reasoning"
[options.fast]
type = "boolean"
on.set.params.tier = "fast"
[permissions.team]
rules.push = { tool = "shell", command = "git push *", action = "always_ask" }
rules.secrets = { path = "**/.env", action = "deny" }
"""

Found = Callable[[str], list[str]]


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[str], Any]:
    def compiled(text: str) -> Any:
        file = tmp_path / "agent.toml"
        file.write_text(AGENT + text, encoding="utf-8")
        linked = link(structure(merge.merge(parse.parse_all(layers.read(file)))))
        return compile_(linked), linked.config.tests

    return compiled


@pytest.fixture
def found(compiled: Callable[[str], Any]) -> Found:
    """Play one test; return the place and what was found instead of what is expected."""

    def found(test: str) -> list[str]:
        snapshot, tests = compiled(f"[tests.it]\n{test}")
        return [f"{wrong.path[-1]}: {wrong.found}" for wrong in mismatches(snapshot, tests["it"])]

    return found


@pytest.mark.parametrize(
    "test",
    [
        'given.mode = "plan"\nexpect = { model = "haiku", instructions = ["kind", "Only plan."] }',
        'given.options = { mode = "plan", model = "big" }\nexpect.model = "opus"',
        'expect = { model = "big", instructions = "!Only plan." }',
        'expect.options = { model = "opus", effort = "low", fast = false, mode = "code" }',
        "given.options.fast = true\ngiven.client.booleans = false\nexpect.options.fast = true",
        'given.mode = "plan"\nexpect.values = { effort = [], model = ["opus", "haiku"] }',
        'expect.tools = ["read_file", "!fetch_url"]',
        'given.client.name = "zed"\nexpect.values.mode = ["code", "plan"]',
        'given.client = { trusted = false }\nexpect.values.mode = ["code", "plan"]',
        'given.client.providers = ["two"]\nexpect.model = "haiku"',
        'given = { mode = "plan", tool = "write_file", args = { path = "a" } }\nexpect.verdict = "deny"',
        'given = { mode = "quick", tool = "shell", args = { command = "make" } }\nexpect.verdict = "allow"',
        'given = { mode = "quick", tool = "shell", args.command = "ls && git push" }\nexpect.verdict = "always_ask"',
        'given = { tool = "read_file", args.path = ".env" }\nexpect.verdict = "deny"',
        'given = { tool = "read_file", args.path = "/etc/passwd" }\nexpect.verdict = "ask"',
    ],
)
def test_what_holds_holds(found: Found, test: str) -> None:
    assert found(test) == []


@pytest.mark.parametrize(
    ("test", "told"),
    [
        (
            'given.tool = "shell"\ngiven.args.command = "git push"\nexpect.verdict = "deny"',
            ['verdict: "always_ask" because of team.rules.push: git push'],
        ),
        ('expect.model = "haiku"', ['model: "opus"']),
        ("expect.options.fast = true", ["fast: false"]),
        (
            'given.mode = "plan"\nexpect.options.effort = "high"',
            ["effort: no such option now: there is nothing to choose from"],
        ),
        ('expect.values.effort = ["low"]', ['effort: ["low", "high"]']),
        ('expect.tools = ["fetch_url", "!shell"]', ["0: none", "1: one"]),
        ('expect.instructions = ["Only plan.", "!kind"]', ["0: no such text", "1: the text in them"]),
        (
            'given.client.name = "zed"\ngiven.mode = "quick"\nexpect.model = "opus"',
            ['mode: a refusal: "quick" is not offered now by the option mode'],
        ),
    ],
)
def test_what_does_not_hold_says_what_there_is(found: Found, test: str, told: list[str]) -> None:
    assert found(test) == told


def test_a_gate_refuses_with_every_failure_of_gated_tests_alone(compiled: Callable[[str], Any]) -> None:
    snapshot, tests = compiled(
        '[tests.gated]\ngate = true\nexpect = { model = "haiku", tools = ["fetch_url"] }\n'
        '[tests.open]\nexpect.model = "haiku"\n'
    )
    with pytest.raises(ConfigError) as refused:
        hold_gates(snapshot, tests)
    assert [problem.key for problem in refused.value.problems] == [
        "tests.gated.expect.model",
        "tests.gated.expect.tools[0]",
    ]
    assert len(failures(snapshot, tests)) == 3
