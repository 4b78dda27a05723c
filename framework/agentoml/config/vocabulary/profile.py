"""What can be switched: the keys of the profile, and a value, which is a named patch over them.

Every field carries its sentence of documentation; `later` names the work that a key waits for: writing such a
key is a problem ("not supported yet"), never silently ignored. Classes hold no validators: structure.py collects
every problem at once. A field that is not given is None (or empty).
"""

# ruff: noqa: RUF009 - `key` and `table` are field specifiers, as attrs.field is
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs import field, frozen

from agentoml.config.vocabulary.notation import Condition, Duration, ListEdit, OptionValue, TextFile

EMPTY: Mapping[str, Any] = {}

REAL = "Real models, real tools, real presets"
MODES = "Modes, options and hot reload"
LANGUAGE = "The configuration language"
LATER = "a later version"


def key(doc: str, *, default: Any = None, later: str | None = None, words: tuple[str, ...] = ()) -> Any:
    """Return an attrs field with its documentation and what it waits for; its TOML key is its name.

    `words`: those of its strings that are known, where others may stand too.
    """
    return field(default=default, kw_only=True, metadata={"doc": doc, "later": later, "words": words})


def table(doc: str, *, later: str | None = None) -> Any:
    """Return an attrs field for a table of named entries, empty where not given."""
    return key(doc, default=EMPTY, later=later)


@frozen
class Budget:
    """What may be spent before the agent stops."""

    model_calls: int | None = key("requests to the model")
    tool_calls: int | None = key("tool calls")
    tokens: int | None = key("input and output tokens")
    cost_usd: float | None = key("cost in USD, by the prices of the catalog")
    time: Duration | None = key("time")


@frozen
class Limits:
    """Budgets; of several the minimum counts."""

    turn: Budget | None = key("for one turn")
    session: Budget | None = key("for the whole session")


@frozen
class ProfileKeys:
    """The keys of the profile: in `[agent]` its base, in `set` a patch."""

    model: str | None = key("a model of the catalog")
    summary_model: str | None = key("the model that summarises and titles")
    reasoning: str | None = key("a reasoning level of the model")
    variant: str | None = key("a variant of the model")
    params: Mapping[str, Any] = table("request parameters, merged by key")
    instructions: str | TextFile | None = key("the system prompt")
    instructions_append: str | TextFile | None = key("a paragraph of the system prompt")
    reminder: str | TextFile | None = key("a note sent once, beside the next user message, when it comes into force")
    tools: ListEdit | None = key("selectors of the visible tools")
    mcp: Mapping[str, bool] = table("MCP server or glob -> on or off")
    permissions: ListEdit | None = key("permission sets that judge calls")
    auto_answers: ListEdit | None = key("permission sets that answer questions in the user's place")
    commands: ListEdit | None = key("the slash commands that are offered")
    context_files: ListEdit | None = key("files read into the prompt, relative to the session's cwd")
    limits: Limits | None = key("budgets of a turn and of the session")


PROFILE_KEYS: tuple[str, ...] = tuple(attribute.name for attribute in attrs.fields(ProfileKeys))


@frozen
class Value:
    """One entry of something to choose from."""

    name: str | None = key("what users see; the id where left out")
    description: str | None = key("one sentence for users")
    group: str | None = key("the group it stands in")
    meta: Mapping[str, Any] = table("sent as _meta")
    when: Condition = table("conditions; where they do not hold, the value is not there")
    hidden: bool | Condition = key("in force, but not offered", default=False)
    forget: bool = key("drop its picks while it is not there", default=False)
    lasts: Literal["turn"] | Duration | None = key("the pick ends by itself")
    set: ProfileKeys = key("is so while the value is active", default=ProfileKeys())
    preselect: Mapping[str, OptionValue] = table("option -> value that is chosen along")
