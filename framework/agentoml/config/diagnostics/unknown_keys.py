"""A key that does not exist where it stands -> what was probably meant, and where that is written."""

from __future__ import annotations

import attrs

from agentoml.config.problems import Problem, closest, shown
from agentoml.config.schema import (
    Agent,
    Command,
    Config,
    McpServer,
    Model,
    Option,
    PermissionSet,
    Provider,
    ToolDefinition,
)
from agentoml.config.vocabulary.profile import PROFILE_KEYS, Value

ANYWHERE = object
ALWAYS_ASK = 'write a rule with action = "always_ask" in a set of [agent] permissions'

ELSEWHERE: tuple[tuple[type, tuple[str, ...], str], ...] = (
    (Agent, ("mode", "default_mode"), "the mode of the start is `default` in [options.mode]"),
    (Agent, ("system_prompt", "system"), "the system prompt is `instructions`"),
    (Agent, ("temperature", "top_p", "max_tokens"), "request parameters stand in `params`"),
    (ToolDefinition, ("permission", "permissions"), ALWAYS_ASK),
    (McpServer, ("permission", "permissions"), ALWAYS_ASK),
    (McpServer, ("args",), "`command` is the whole command line: the program, then its arguments"),
    (McpServer, ("type",), "this is `transport`"),
    (Command, ("mode", "model"), "a command chooses along with `preselect`: preselect = { mode = \"...\" }"),
    (Option, ("fallback",), "for clients without booleans: `if_unsupported`"),
    (Option, ("options", "choices"), "what can be chosen is `values`, or comes from `values_from`"),
    (Provider, ("type", "api", "kind"), "the wire protocol is `adapter`"),
    (Provider, ("url", "endpoint"), "this is `base_url`"),
    (Provider, ("key", "token", "api_key_env"), 'write api_key = { env = "NAME" }'),
    (Provider, ("models",), "models stand at the top: [models.NAME] with `provider`"),
    (Model, ("context", "context_window", "context_length"), "write limit = { context = ... }"),
    (Model, ("max_tokens", "max_output_tokens", "output"), "write limit = { output = ... }"),
    (Model, ("temperature", "top_p"), "request parameters stand in `params`"),
    (PermissionSet, ("allow", "ask", "deny", "always_ask"), 'write rules.NAME = { tool = "...", action = "..." }'),
    (Config, ("model",), "a model is [models.NAME]; the one to begin with is `model` in [agent]"),
    (Config, ("config_options",), "these are [options.NAME]"),
    (Config, ("mcp_servers", "mcpServers"), "these are [mcp.NAME]"),
    (Config, ("slash_commands",), "these are [commands.NAME]"),
    (Config, ("system_prompt",), "this is `instructions` in [agent]"),
    (ANYWHERE, ("lock", "locked"), "`set` forces: what it says is so while the value is active"),
    (ANYWHERE, ("select", "pick"), "`preselect` chooses along while this is active, `switch_to` for good"),
    (ANYWHERE, ("unless",), 'conditions stand in `when`, and `!` excludes: when = { mode = "!plan" }'),
    (ANYWHERE, ("if",), "conditions stand in `when`"),
    (ANYWHERE, ("loosens",), "what asks less is `auto_answers`"),
    (ANYWHERE, ("sort",), "this is `order`"),
    (ANYWHERE, ("remove",), "`remove = true` deletes an inherited entry; nothing else is written so"),
)  # fmt: skip
"""Where (a table, or anywhere), what people write there, and what is written instead."""


def unknown_key(table: type, key: str, value: object) -> Problem:
    """Return that a table has no such key, with what was probably meant."""
    return Problem("AGT101", f"there is no key {shown(key)} here", (key,), hint=_hint(table, key, value), at="key")


def _hint(table: type, key: str, value: object) -> str:
    own = [attribute.name for attribute in attrs.fields(table) if not attribute.metadata["later"]]
    for where, words, hint in ELSEWHERE:
        if key in words and issubclass(table, where):
            return hint
    top = [attribute.name for attribute in attrs.fields(Config)]
    if issubclass(table, Value) and key in PROFILE_KEYS:
        return f"write it inside `set`: set = {{ {key} = ... }}"
    if table is Config and key in [attribute.name for attribute in attrs.fields(Agent)]:
        return "it stands in [agent]"
    if table is not Config and key in top:
        if isinstance(value, dict):
            return f"this table stands at the top: [{key}]"
        return f"write `{key}` at the top of the file, before the first [table]"
    nearest = closest(key, own)
    if nearest:
        return f"did you mean `{nearest}`?"
    if len(own) <= 8:
        return f"there are: {', '.join(own)}"
    return ""
