"""Whatever a line hides, bash does nothing that the verdict on the line did not allow.

AGENTOML_FUZZ_SECONDS=600 pytest tests/permissions/test_against_bash.py
plays new lines for that long; without it, always the same few. Only lines that were allowed are run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from agentoml.config.schema import PermissionSet, Rule
from agentoml.permissions.calls import Call, World
from agentoml.permissions.sets import compile_sets
from agentoml.permissions.verdict import InForce, verdict
from agentoml.session.world import entries, exists, realpath
from bash_lines import MARKER, Done, Ground, Lines

LONG = float(os.environ.get("AGENTOML_FUZZ_SECONDS", 0))
ALWAYS_THE_SAME = 500

pytestmark = [
    pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash"),
    pytest.mark.timeout(LONG + 120),
]

ALLOWED = ("echo *", "git status *", "ls *", "cat *", "true", "tool a *")
SETS = compile_sets({
    "all": PermissionSet(default="allow"),
    "no-danger": PermissionSet(rules={"no": Rule(command=("danger *", "git push *"), action="deny")}),
    "no-secrets": PermissionSet(rules={"no": Rule(path=("**/*secret*",), action="deny")}),
    "some": PermissionSet(
        default="ask",
        rules={"some": Rule(tool=("shell",), command=ALLOWED, action="allow")},
    ),
})  # fmt: skip


def lines() -> Iterator[str]:
    """Yield random lines: always the same, or new ones as long as there is time."""
    until = time.monotonic() + LONG
    made = Lines(Random(time.time_ns() if LONG else 7))
    for number, line in enumerate(iter(made.line, None)):
        if time.monotonic() > until if LONG else number == ALWAYS_THE_SAME:
            return
        yield line


def played(base: tuple[str, ...], answers: tuple[str, ...], folder: Path) -> Iterator[tuple[str, Done]]:
    """Run the lines that are allowed, and yield what they did."""
    ground = Ground(folder)
    world = World(str(ground.cwd), (), str(ground.home), exists, realpath, entries=entries)
    allowed = 0
    for line in lines():
        call = Call("shell", "execute", {"command": line})
        if verdict(call, InForce(base, auto_answers=answers), SETS, world).verdict == "allow":
            allowed += 1
            yield line, ground.run(line)
    assert allowed > ALWAYS_THE_SAME / 100


def program_of(call: tuple[str, ...]) -> tuple[str, ...]:
    return (Path(call[0]).name, *call[1:])


def test_what_a_command_rule_denies_never_runs(tmp_path: Path) -> None:
    for line, done in played(("all", "no-danger"), ("all",), tmp_path):
        calls = [program_of(call) for call in done.calls]
        assert not [call for call in calls if call[0] == "danger" or call[:2] == ("git", "push")], line


def test_what_a_path_rule_denies_is_neither_read_nor_written_nor_named(tmp_path: Path) -> None:
    for line, done in played(("all", "no-secrets"), ("all",), tmp_path):
        assert not [path for path in done.written if "secret" in path], line
        if any(char in line for char in "$`") or "xargs" in line:
            continue  # a path that comes from a variable, or from a pipe, is no word of the line
        assert MARKER not in done.said, line
        named = {Path(word.rstrip("/.")).name for call in done.calls for word in call[1:]}
        assert named.isdisjoint({"secret.txt", "secret.key", ".secret"}), line


def test_what_commands_allow_is_all_that_runs_and_it_writes_nothing(tmp_path: Path) -> None:
    for line, done in played(("some",), (), tmp_path):
        assert {program_of(call)[:2] for call in done.calls} <= {("git", "status"), ("tool", "a")}, line
        assert not done.written, line
