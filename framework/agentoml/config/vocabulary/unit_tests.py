"""`[tests.x]`: unit tests of a configuration, as attrs classes. snapshot/unit_tests.py plays them."""

# ruff: noqa: RUF009 - `key` and `table` are field specifiers, as attrs.field is
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from agentoml.config.vocabulary.notation import Action, OptionValue, Patterns
from agentoml.config.vocabulary.profile import key, table


@frozen
class GivenClient:
    """The client that a test imagines."""

    name: str | None = key("what it calls itself in clientInfo")
    booleans: bool = key("it can show boolean options", default=True)
    trusted: bool = key("its user trusts the project", default=True)
    providers: tuple[str, ...] | None = key("those whose credentials are there; left out: all of them")


@frozen
class Given:
    """What a test begins with. The mode is picked first, then the options in the order in which they are written."""

    mode: str | None = key("the mode; the same as an entry `mode` in `options`")
    options: Mapping[str, OptionValue] = table("option -> value that the user picks")
    client: GivenClient = key("who asks", default=GivenClient())
    tool: str | None = key("a tool that is called, in an empty project, without running it")
    args: Mapping[str, Any] = table("the arguments of the call")


@frozen
class Expected:
    """What must come out of a test."""

    verdict: Action | None = key("what becomes of the call")
    model: str | None = key("the model in force")
    options: Mapping[str, OptionValue] = table("option -> its value in force")
    values: Mapping[str, tuple[str, ...]] = table(
        "option -> all values that are offered, in order; [] while it is not there"
    )
    tools: Patterns | None = key("tools that are visible; `!` before a name: that are not")
    instructions: Patterns | None = key("texts in the system prompt; `!` before a text: that are not in it")


@frozen
class UnitTest:
    """`[tests.x]`: what must come out of this configuration; `agentoml test` looks, without a model or a network."""

    gate: bool = key("a configuration in which this does not hold is refused, by a reload too", default=False)
    given: Given = key("what it begins with", default=Given())
    expect: Expected = key("what must come out", default=Expected())
