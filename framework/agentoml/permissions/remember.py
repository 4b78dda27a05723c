"""What a user's "always" remembers (E51): rules that join `auto_answers`."""

from __future__ import annotations

from agentoml.config.notation import Patterns
from agentoml.config.schema import Rule
from agentoml.permissions.calls import Call


def remember(call: Call) -> tuple[Rule, ...]:
    """Return the rules that answer calls like this one from now on; empty where nothing can be remembered."""
    return (Rule(tool=Patterns((call.tool,)), action="allow"),)


def describe(call: Call) -> str:
    """Return what `remember` would remember, in a few words for the user."""
    return call.tool
