"""All that a TOML file may say, as attrs classes: the reference of the vocabulary (version 1)."""

# ruff: noqa: RUF009 - `key` and `table` are field specifiers, as attrs.field is
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from agentoml.config.vocabulary.notation import (
    ADAPTERS,
    CAPABILITIES,
    CATEGORIES,
    Action,
    Condition,
    Duration,
    Kind,
    OptionValue,
    Patterns,
    Scalar,
    Secret,
    TextFile,
)
from agentoml.config.vocabulary.profile import LATER, Limits, ProfileKeys, Value, key, table
from agentoml.config.vocabulary.unit_tests import UnitTest

# ---------------------------------------------------------------------------------------- agent and options


@frozen
class Agent(ProfileKeys):
    """`[agent]`: who the agent is, and the base of its profile."""

    name: str | None = key("agentInfo.name")
    title: str | None = key("agentInfo.title")
    version: str | None = key("agentInfo.version")
    description: str | None = key("what the agent is for")
    prompt: tuple[Literal["image", "audio", "embedded"], ...] = key("prompt capabilities", default=())
    option_order: tuple[str, ...] = key("the order in which options are shown", default=())


@frozen
class ConditionalDefault:
    """One entry of a default chain that counts only under a condition."""

    value: OptionValue | None = key("a value or glob")
    when: Condition = table("conditions")


SetKey = Literal["model", "summary_model", "reasoning", "variant", "permissions", "auto_answers"]
Source = Literal["models", "model.reasoning", "model.variants", "modes", "providers", "permissions", "mcp"]


@frozen
class Option:
    """`[options.x]`: something the user can switch."""

    type: Literal["select", "boolean"] = key("what it is", default="select")
    name: str | None = key("what users see; the id where left out")
    description: str | None = key("one sentence for users")
    category: str | None = key(
        "mode, model, model_config, thought_level, or one of your own that begins with _", words=CATEGORIES
    )
    meta: Mapping[str, Any] = table("sent as _meta")
    values: Mapping[str, Value] = table("the values, or what is written beside a source")
    values_from: Source | None = key("where the values come from")
    sets: SetKey | None = key("the profile key that the value goes into")
    each: Literal["mcp"] | None = key("one boolean option for each entry")
    filter: Mapping[str, Patterns] = table("field of an entry -> glob")
    order: Literal["declared", "name", "newest"] = key("how values are ordered", default="declared")
    group_by: str | None = key("the field of the source that values are grouped by")
    default: OptionValue | tuple[OptionValue | ConditionalDefault, ...] | ConditionalDefault | None = key(
        "a value, a glob, or a list of those; the first that fits"
    )
    when: Condition = table("conditions; where they do not hold, the option is not there")
    hidden: bool | Condition = key("in force, but not offered", default=False)
    forget: bool = key("drop its picks while it is not there", default=False)
    lasts: Literal["turn"] | Duration | None = key("a pick ends by itself")
    applies: Literal["now", "next_turn"] = key("when a pick binds", default="now")
    open: bool = key("the client may set what is not listed", default=False)
    other: Value | None = key("the patch of values that are not listed")
    on: Value = key("what a boolean's on does", default=Value())
    off: Value = key("what a boolean's off does", default=Value())
    if_unsupported: Literal["select", "omit"] = key("for clients without booleans", default="select")


@frozen
class Mode(Value):
    """`[modes.x]`: a value of the option `mode`."""


# --------------------------------------------------------------------------------------- models, providers


@frozen
class Timeout:
    """How long to wait for a provider."""

    connect: Duration = key("for the connection", default=Duration(10.0))
    idle: Duration = key("between two pieces of an answer", default=Duration(300.0))


@frozen
class Retry:
    """How often and when to try again; a rate limit, an overload, a timeout or a lost connection is retried."""

    attempts: int = key("tries in all", default=4)
    base: Duration = key("the first wait; doubled each time", default=Duration(0.5))
    max: Duration = key("the longest wait", default=Duration(30.0))


Failure = Literal[
    "rate_limit", "overloaded", "timeout", "connection", "auth", "bad_request", "context_length", "protocol"
]


@frozen
class ScriptStep:
    """One step of a scripted reply: exactly one of text, thought, tool, error or stop."""

    text: str | None = key("said to the user; {input} is the last message, {result} the last tool result")
    thought: str | None = key("thought aloud")
    tool: str | None = key("a tool that is called; neighbours are called in parallel, then the reply goes on")
    args: Mapping[str, Any] = table("the arguments of the tool call")
    error: Failure | None = key("fail as a provider does")
    stop: Literal["end_turn", "max_tokens", "refusal"] | None = key("why the reply ends")
    wait: Duration | None = key("a pause before this step")


@frozen
class ScriptReply:
    """What a scripted model plays for a message."""

    match: Patterns | None = key("globs over the user's message, letter case ignored; left out: any")
    steps: tuple[ScriptStep, ...] = key("what is played, in order", default=())
    usage: Mapping[str, int] = table("tokens reported: input, output, cached_read")


@frozen
class Provider(Value):
    """`[providers.x]`: where requests go. Credentials are resolved here, never on the wire."""

    adapter: str | None = key("openai, openai-responses, anthropic, litellm/NAME or scripted", words=ADAPTERS)
    base_url: str | None = key("where the provider is")
    api_key: Secret | None = key("the credential")
    headers: Mapping[str, str] = table("sent with each request")
    params: Mapping[str, Any] = table("request parameters of every model here")
    timeout: Timeout = key("how long to wait", default=Timeout())
    retry: Retry = key("how often to try again", default=Retry())
    concurrency: int | None = key("requests at one time")
    replies: Mapping[str, ScriptReply] = table("what the adapter `scripted` plays; the first that matches")


@frozen
class ModelLimit:
    """Sizes in tokens."""

    context: int | None = key("the context window")
    output: int | None = key("the longest answer")


@frozen
class Cost:
    """USD per million tokens."""

    input: float | None = key("of the prompt")
    output: float | None = key("of the answer")
    cache_read: float | None = key("of a prompt read from the cache")
    cache_write: float | None = key("of a prompt written to the cache")


@frozen
class Reasoning:
    """The reasoning levels of a model."""

    kind: Literal["effort", "budget"] = key("how the provider is told", default="effort")
    values: tuple[str, ...] = key("the levels", default=())
    default: str | None = key("the level that an option of its levels begins with; without such an option none counts")
    budgets: Mapping[str, int] = table("level -> tokens, for the kind budget")


@frozen
class Variant(Value):
    """`[models.x.variants.y]`: the same model with other parameters."""

    params: Mapping[str, Any] = table("request parameters")


@frozen
class Model(Value):
    """`[models.x]`: one entry of the catalog."""

    provider: str | None = key("the provider it is asked at")
    id: str | None = key("what the provider calls it; the table key where left out")
    limit: ModelLimit = key("sizes in tokens", default=ModelLimit())
    cost: Cost = key("USD per million tokens", default=Cost())
    capabilities: tuple[str, ...] | None = key(
        "tools, images, documents, audio, reasoning, or words that begin with _", words=CAPABILITIES
    )
    reasoning: Reasoning | None = key("its reasoning levels")
    params: Mapping[str, Any] = table("request parameters")
    variants: Mapping[str, Variant] = table("the same model with other parameters")
    fallback: tuple[str, ...] = key("tried when it is overloaded or unreachable", default=())
    aliases: tuple[str, ...] = key("old keys that still resolve", default=())
    status: Literal["alpha", "beta", "stable", "deprecated", "hidden"] | None = key("how settled it is")
    released: datetime.date | None = key("for order = newest")


@frozen
class Catalog:
    """`[catalogs.x]`: more models, from somewhere else."""

    file: str | tuple[str, ...] | None = key(
        "a TOML file of models, or several; beside a list: the file that `agentoml catalog sync` writes it into"
    )
    discover: str | None = key("a provider whose model list is read")
    bundled: Literal["litellm"] | None = key("a list that ships with a library")
    models_dev: str | None = key("a file in the format of models.dev", later=LATER)
    include: Patterns | None = key("globs over the keys: what is taken of what is read")
    exclude: Patterns | None = key("globs over the keys: what is left out of what is read")


# ------------------------------------------------------------------------------------- permissions, tools


@frozen
class Rule:
    """One rule of a permission set; it matches when all its keys do."""

    tool: Patterns | None = key("tool names, globs, kind:KIND or mcp:server/tool")
    kind: Patterns | None = key("kinds of tools")
    path: Patterns | None = key("globs over the paths that are touched")
    command: Patterns | None = key("patterns of a command line, word by word")
    args: Mapping[str, Patterns] = table("argument -> globs over its text")
    host: Patterns | None = key("globs over the host that is asked")
    action: Action | None = key("what the rule says")


@frozen
class Example:
    """A call and what its own set must say of it."""

    tool: str | None = key("the tool")
    args: Mapping[str, Any] = table("its arguments")
    expect: Literal["allow", "ask", "always_ask", "deny", "silent"] | None = key("what must come out")


@frozen
class PermissionSet(Value):
    """`[permissions.x]`: rules, then kinds, then a default; silent where none speaks."""

    default: Action | None = key("where no rule and no kind speaks")
    kinds: Mapping[str, Action] = table("kind of tool -> what is said")
    rules: Mapping[str, Rule] = table("rules; the strictest that matches counts")
    examples: Mapping[str, Example] = table("calls that are checked at load time")


@frozen
class ToolKind:
    """`[tool_kinds]`: what a tool is, as the user sees it and permissions judge it."""

    kind: Kind | None = key("an ACP tool kind")
    title: str | None = key("the title of a call; {name} is an argument")
    locations: tuple[str, ...] = key("arguments that name the paths it touches", default=())


@frozen
class Parameter:
    """One parameter of a tool without code."""

    type: Literal["string", "integer", "number", "boolean"] = key("its type", default="string")
    description: str | None = key("told to the model")
    default: Scalar | None = key("where the model gives none")
    values: tuple[str, ...] = key("the only ones allowed", default=())


@frozen
class Choice:
    """One answer of a tool that asks the user."""

    name: str | None = key("what the user sees")
    switch_to: Mapping[str, OptionValue] = table("option -> value that is picked")
    reject: bool = key("the answer is a no", default=False)


@frozen
class ToolDefinition:
    """`[tools.x]`: a tool without code."""

    description: str | None = key("told to the model")
    kind: Kind | None = key("an ACP tool kind")
    title: str | None = key("the title of a call")
    locations: tuple[str, ...] = key("arguments that name the paths it touches", default=())
    command: tuple[str, ...] | None = key("argv in the session's cwd, no shell")
    parameters: Mapping[str, Parameter] = table("what the model may give")
    timeout: Duration | None = key("how long it may take")
    choices: tuple[Choice, ...] = key("a question with these answers", default=())


@frozen
class McpServer(Value):
    """`[mcp.x]`: an MCP server. One that ends by itself is started again with the next prompt."""

    enabled: bool = key("on unless a patch says otherwise", default=True)
    command: tuple[str, ...] | None = key("argv of a server on stdio")
    url: str | None = key("where a server is")
    transport: Literal["stdio", "http", "sse"] | None = key("how it is spoken to")
    headers: Mapping[str, str | Secret] = table("sent with each request")
    env: Mapping[str, str | Secret] = table("its environment, beside ours without secrets")
    tools: Patterns | None = key("globs over the tools that are taken")
    startup_timeout: Duration = key("how long it may take to start", default=Duration(20.0))


@frozen
class Command(Value):
    """`[commands.x]`: a slash command, a prompt template and a value for the turn it starts."""

    hint: str | None = key("what may follow it")
    prompt: str | TextFile | None = key("the template; {input} is what follows the command")
    switch_to: Mapping[str, OptionValue] = table("option -> value that is picked for good")


@frozen
class Extension:
    """`[extensions."_x"]`: an extension method of ACP that picks options of the session that it names."""

    params: Mapping[str, str] = table("field of its params, beside sessionId -> option that it sets where it is given")
    result: Mapping[str, Any] = table(
        'what is answered: "{OPTION}" is the value in force, "{OPTION.values}" all offered'
    )


# -------------------------------------------------------------------------------------------------- the file


@frozen
class Reload:
    """`[reload]`: how a saved file takes effect."""

    widening: Literal["ask", "apply"] = key("what to do when a reload widens permissions during a turn", default="ask")


@frozen
class Policy:
    """`[policy]`: a ceiling over everything that was merged; it only narrows, and several count all."""

    permissions: tuple[str, ...] = key("sets whose rules that deny, always ask or ask no mode lifts", default=())
    models: Patterns | None = key("globs of the models that remain")
    providers: Patterns | None = key("globs of the providers that remain")
    mcp: Patterns | None = key("globs of the MCP servers that remain")
    hosts: Patterns | None = key("globs of the hosts that may be reached")
    limits: Limits | None = key("budgets that nothing exceeds")


@frozen
class Config:
    """One whole configuration."""

    schema: int = key("the version of this vocabulary", default=1)
    extends: tuple[str, ...] = key("presets and files beneath this one", default=())
    agent: Agent = key("the agent and the base of its profile", default=Agent())
    providers: Mapping[str, Provider] = table("where requests go")
    models: Mapping[str, Model] = table("the catalog")
    catalogs: Mapping[str, Catalog] = table("more models, from somewhere else")
    modes: Mapping[str, Mode] = table("the values of the option mode")
    options: Mapping[str, Option] = table("what users can switch")
    permissions: Mapping[str, PermissionSet] = table("permission sets")
    tool_kinds: Mapping[str, Kind | ToolKind] = table("tool name or glob -> kind, title, locations")
    tools: Mapping[str, ToolDefinition] = table("tools without code")
    mcp: Mapping[str, McpServer] = table("MCP servers")
    commands: Mapping[str, Command] = table("slash commands")
    reload: Reload = key("how a saved file takes effect", default=Reload())
    policy: Policy | None = key("a ceiling over everything; in your own configuration alone")
    extensions: Mapping[str, Extension] = table("extension methods that are picks")
    tests: Mapping[str, UnitTest] = table("unit tests of this configuration")
    hooks: Mapping[str, Any] = table("reserved", later=LATER)
    agents: Mapping[str, Any] = table("reserved", later=LATER)
    auth: Mapping[str, Any] = table("reserved", later=LATER)
    sessions: Mapping[str, Any] = table("reserved", later=LATER)
