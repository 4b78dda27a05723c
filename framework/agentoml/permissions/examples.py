"""Examples of a permission set: calls that must come out as they say, judged by their own set alone (E50)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from attrs import frozen

from agentoml.config.schema import Example
from agentoml.permissions.calls import Call, World
from agentoml.permissions.judging import hear
from agentoml.permissions.parts import parts
from agentoml.permissions.sets import ReadySet, strictness

Outcome = Literal["allow", "ask", "always_ask", "deny", "silent"]

IMAGINED = World(
    cwd="/home/user/project",
    roots=("/home/user/project",),
    home="/home/user",
    exists=lambda path: False,
    realpath=lambda path: path,
)
"""The world that examples play in: an empty project, no symlinks."""


@frozen
class Failure:
    """An example that does not hold."""

    name: str
    expected: Outcome
    found: Outcome


def failures(
    ready: ReadySet, examples: Mapping[str, Example], call_of: Callable[[str, Mapping[str, Any]], Call]
) -> tuple[Failure, ...]:
    """Return the examples of a set that do not hold. `call_of` gives a tool's call its kind, its paths and its host.

    Examples without a tool or an expectation are left to the check of their shape.
    """
    found = (
        (name, example.expect, outcome(ready, call_of(example.tool, example.args)))
        for name, example in examples.items()
        if example.tool is not None and example.expect is not None
    )
    return tuple(Failure(name, expected, came) for name, expected, came in found if expected != came)


def outcome(ready: ReadySet, call: Call, world: World = IMAGINED) -> Outcome:
    """Return what one set alone says of a call; of a command line, the strictest about its parts.

    Where it allows one part and is silent about another, it is silent about the whole. What can't be seen in full it
    does not allow.
    """
    outcomes: list[Outcome] = []
    for part in parts(call, world):
        hearing = hear((ready,), part, world, answering=False)
        said: Outcome = hearing.said.action if hearing.said else "silent"
        unseen = (said == "allow" and part.hidden) or (said in ("allow", "silent") and hearing.doubts)
        outcomes.append("ask" if unseen else said)
    return max(outcomes, key=lambda each: 0.5 if each == "silent" else strictness(each))
