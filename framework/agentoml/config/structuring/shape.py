"""What one table must look like beyond the types of its keys: keys that need or exclude each other, words, ranges.

Nothing here looks beyond its own table: names that must exist elsewhere are the business of snapshot/link.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from agentoml.config import schema
from agentoml.config.problems import Problem, did_you_mean, quoted, shown
from agentoml.config.vocabulary.notation import ADAPTERS, CAPABILITIES, CATEGORIES, Kind
from agentoml.config.vocabulary.profile import LATER, Budget
from agentoml.config.vocabulary.unit_tests import Given, UnitTest

KINDS: tuple[str, ...] = get_args(Kind)

LATER_ADAPTERS = {"replay": LATER}
"""Adapters that wait for the work named, as keys do by `later`."""

_THERE_ARE = f"there are: {', '.join(ADAPTERS)}, litellm/NAME"

Found = Iterator[Problem]


def shape_problems(table: object, raw: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with a structured table; `raw` tells which keys are given. Paths begin at the table."""
    check = _CHECKS.get(type(table))
    return list(check(table, raw)) if check is not None else []


def _problem(code: str, message: str, key: str | tuple[str | int, ...] = (), hint: str = "") -> Problem:
    path = (key,) if isinstance(key, str) else key
    return Problem(code, message, path, hint=hint, at="value" if path else "key")


def _exactly_one(raw: Mapping[str, Any], keys: tuple[str, ...], what: str) -> Found:
    given = [key for key in raw if key in keys]
    names = ", ".join(f"`{key}`" for key in keys[:-1]) + f" or `{keys[-1]}`"
    if not given:
        yield _problem("AGT104", f"{what} needs one of {names}")
    for key in given[1:]:
        yield Problem(
            "AGT105", f"{what} has exactly one of {names}", (key,), hint=f"remove `{given[0]}` or `{key}`", at="key"
        )


def _needs(raw: Mapping[str, Any], key: str, what: str, hint: str = "") -> Found:
    if key not in raw:
        yield _problem("AGT104", f"{what} needs `{key}`", hint=hint)


def _useless(raw: Mapping[str, Any], keys: tuple[str, ...], why: str, hint: str = "") -> Found:
    for key in raw:
        if key in keys:
            yield Problem("AGT111", f"`{key}` has no effect {why}", (key,), hint=hint, at="key")


def _word(word: str, path: tuple[str | int, ...], words: tuple[str, ...], own: str) -> Found:
    if word not in words and not (word.startswith("_") and len(word) > 1):
        hint = did_you_mean(word, words) or f"{own} begin with _: {quoted('_' + word)}"
        yield _problem("AGT103", f"{quoted(word)} is not known here", path, hint)


def _url(url: str | None, key: str) -> Found:
    if url is None:
        return
    from urllib.parse import urlsplit

    hint = 'write "https://HOST/PATH"'
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
        _ = parts.port  # a ValueError where it is none
    except ValueError:
        yield _problem("AGT110", "this is not a URL", key, hint)
        return
    if not usable:
        yield _problem("AGT110", "this is not a URL of the web", key, hint)
    elif "@" in parts.netloc:
        better = "api_key" if key == "base_url" else "headers.Authorization"
        yield _problem("AGT113", "credentials must not stand in a URL", key, f'write {better} = {{ env = "NAME" }}')


def _positive(table: Any, keys: tuple[str, ...], *, zero: bool = False) -> Found:
    for key in keys:
        number = getattr(table, key)
        if number is not None and (number < 0 or (number == 0 and not zero)):
            yield _problem("AGT109", f"`{key}` must be {'0 or more' if zero else 'more than 0'}", key)


# -------------------------------------------------------------------------------------------- agent and options


def _agent(agent: schema.Agent, raw: Mapping[str, Any]) -> Found:
    for key in ("name", "title", "version"):
        value = getattr(agent, key)
        if value is not None and not value.strip():
            yield _problem("AGT107", f"`{key}` is empty", key, "leave it out, or say what it is")
    for index, word in enumerate(agent.prompt):
        if word == "audio":
            hint = "leave it out: no adapter passes audio on to a model"
            yield _problem("AGT108", f"{quoted(word)} is not supported yet", ("prompt", index), hint)


def _option(option: schema.Option, raw: Mapping[str, Any]) -> Found:
    if option.category is not None:
        yield from _word(option.category, ("category",), CATEGORIES, "categories of your own")
    boolean = option.type == "boolean" or option.each is not None
    if boolean:
        yield from _useless(raw, ("values", "values_from", "sets", "filter", "order", "group_by", "open", "other"),
                            "for a boolean", "a boolean has `on` and `off`")  # fmt: skip
    else:
        yield from _useless(raw, ("on", "off", "if_unsupported"), 'without type = "boolean"', 'write type = "boolean"')
        yield from _useless(raw if option.values_from is None else {}, ("sets", "filter", "order", "group_by"),
                            "without `values_from`")  # fmt: skip
        yield from _useless(raw if not option.open else {}, ("other",), "without open = true")
    yield from _option_default(option, boolean=boolean)


def _option_default(option: schema.Option, *, boolean: bool) -> Found:
    chain = option.default if isinstance(option.default, tuple) else (option.default,)
    for index, entry in enumerate(chain):
        value = entry.value if isinstance(entry, schema.ConditionalDefault) else entry
        path: tuple[str | int, ...] = ("default", index) if isinstance(option.default, tuple) else ("default",)
        path = (*path, "value") if isinstance(entry, schema.ConditionalDefault) else path
        if boolean and isinstance(value, str):
            hint = f"remove the quotes: {value}" if value in ("true", "false") else ""
            yield _problem("AGT102", "the default of a boolean is true or false", path, hint)
        elif not boolean and isinstance(value, bool):
            hint = 'write the id of a value; or type = "boolean"'
            yield _problem("AGT102", "the default of a select is one of its values", path, hint)
        elif value == "":
            yield _problem("AGT107", "a default needs a name", path)


def _conditional_default(entry: schema.ConditionalDefault, raw: Mapping[str, Any]) -> Found:
    yield from _needs(raw, "value", "an entry of `default`", 'write { when = { ... }, value = "..." }')


# --------------------------------------------------------------------------------------------- providers, models


def _provider(provider: schema.Provider, raw: Mapping[str, Any]) -> Found:
    if provider.adapter is None:
        yield from _needs(raw, "adapter", "a provider", _THERE_ARE)
    else:
        yield from _adapter(provider.adapter, raw)
    yield from _url(provider.base_url, "base_url")
    yield from _positive(provider, ("concurrency",))
    for name, value in provider.headers.items():
        yield from _header(name, value)


def _adapter(adapter: str, raw: Mapping[str, Any]) -> Found:
    if adapter not in (*ADAPTERS, *LATER_ADAPTERS) and not re.fullmatch(r"litellm/\S+", adapter):
        hint = did_you_mean(adapter, ADAPTERS) or _THERE_ARE
        yield _problem("AGT103", f"{quoted(adapter)} is not an adapter", "adapter", hint)
    elif adapter.partition("/")[0] in LATER_ADAPTERS:
        yield _problem("AGT108", f"the adapter {quoted(adapter)} is not supported yet", "adapter")
    elif adapter != "scripted":
        yield from _useless(raw, ("replies",), 'without adapter = "scripted"')


def _header(name: str, value: object) -> Found:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        yield Problem("AGT110", f"{quoted(name)} is not a name of an HTTP header", ("headers", name), at="key")
    if isinstance(value, str) and not value.isprintable():
        yield _problem("AGT110", "a header stands on one line of printable text", ("headers", name))


def _retry(retry: schema.Retry, raw: Mapping[str, Any]) -> Found:
    yield from _positive(retry, ("attempts",))


def _script_step(step: schema.ScriptStep, raw: Mapping[str, Any]) -> Found:
    yield from _exactly_one(raw, ("text", "thought", "tool", "error", "stop"), "a step")
    if step.tool is None and len(raw) > 1:
        yield from _useless(raw, ("args",), "without `tool`")


def _script_reply(reply: schema.ScriptReply, raw: Mapping[str, Any]) -> Found:
    yield from _needs(raw, "steps", "a reply", 'write steps = [{ text = "..." }]')
    for name, count in reply.usage.items():
        if name not in ("input", "output", "cached_read"):
            hint = did_you_mean(name, ("input", "output", "cached_read")) or "there are: input, output, cached_read"
            yield Problem("AGT101", f"there is no key {shown(name)} here", ("usage", name), hint=hint, at="key")
        elif count < 0:
            yield _problem("AGT109", f"`{name}` must be 0 or more", ("usage", name))


def _model(model: schema.Model, raw: Mapping[str, Any]) -> Found:
    if model.id is not None and not model.id.strip():
        yield _problem("AGT107", "a model needs an id", "id", "leave it out where it is the name of the table")
    for index, word in enumerate(model.capabilities or ()):
        yield from _word(word, ("capabilities", index), CAPABILITIES, "capabilities of your own")


def _model_limit(limit: schema.ModelLimit, raw: Mapping[str, Any]) -> Found:
    yield from _positive(limit, ("context", "output"))


def _cost(cost: schema.Cost, raw: Mapping[str, Any]) -> Found:
    yield from _positive(cost, ("input", "output", "cache_read", "cache_write"), zero=True)


def _reasoning(reasoning: schema.Reasoning, raw: Mapping[str, Any]) -> Found:
    if not reasoning.values:
        yield _problem("AGT104", "`reasoning` needs `values`", hint='write values = ["low", "high"]')
    elif reasoning.default is not None and reasoning.default not in reasoning.values:
        hint = did_you_mean(reasoning.default, reasoning.values) or f"there are: {', '.join(reasoning.values)}"
        yield _problem("AGT103", f"{quoted(reasoning.default)} is not among `values`", "default", hint)
    if reasoning.kind == "effort":
        yield from _useless(raw, ("budgets",), 'without kind = "budget"')
        return
    for level, tokens in reasoning.budgets.items():
        if level not in reasoning.values:
            hint = did_you_mean(level, reasoning.values)
            yield Problem("AGT103", f"{quoted(level)} is not among `values`", ("budgets", level), hint=hint, at="key")
        elif tokens < 0:
            yield _problem("AGT109", "a budget must be 0 or more", ("budgets", level))
    for index, level in enumerate(reasoning.values):
        if level not in reasoning.budgets and reasoning.budgets.keys() <= set(reasoning.values):
            yield _problem("AGT104", f"the level {quoted(level)} has no entry in `budgets`", ("values", index))


def _catalog(catalog: schema.Catalog, raw: Mapping[str, Any]) -> Found:
    lists = ("discover", "bundled", "models_dev")
    if "file" not in raw or isinstance(raw["file"], list):
        yield from _exactly_one(raw, ("file", *lists), "a catalog")
    elif raw.keys() & {*lists}:  # a list, and the file that `agentoml catalog sync` writes it into
        yield from _exactly_one(raw, lists, "a catalog")
    files = (catalog.file,) if isinstance(catalog.file, str) else catalog.file or ()
    if catalog.file is not None and not all(files or ("",)):
        yield _problem("AGT107", "a catalog needs the name of its file", "file")


def _budget(budget: Budget, raw: Mapping[str, Any]) -> Found:
    yield from _positive(budget, ("model_calls", "tool_calls", "tokens", "cost_usd", "time"))


# ------------------------------------------------------------------------------------------- permissions, tools


def _rule(rule: schema.Rule, raw: Mapping[str, Any]) -> Found:
    yield from _needs(raw, "action", "a rule", "there are: allow, ask, always_ask, deny")
    if not raw.keys() & {"tool", "kind", "path", "command", "args", "host"}:
        yield _problem("AGT104", "a rule needs something to match", hint="for every call write `default` in its set")
    for index, kind in enumerate(rule.kind or ()):
        yield from _kind(kind, ("kind", index) if isinstance(raw["kind"], list) else ("kind",))
    for index, selector in enumerate(rule.tool or ()):
        if selector.removeprefix("!").startswith("kind:"):
            path: tuple[str | int, ...] = ("tool", index) if isinstance(raw["tool"], list) else ("tool",)
            yield from _kind(selector.removeprefix("!").removeprefix("kind:"), path)


def _kind(kind: str, path: tuple[str | int, ...], *, at_key: bool = False) -> Found:
    plain = kind.removeprefix("!")
    if plain not in KINDS and not set(plain) & set("*?["):
        hint = did_you_mean(plain, KINDS) or f"there are: {', '.join(KINDS)}"
        problem = _problem("AGT103", f"{quoted(plain)} is not a kind of tool", path, hint)
        yield problem._replace(at="key") if at_key else problem


def _permission_set(permissions: schema.PermissionSet, raw: Mapping[str, Any]) -> Found:
    for kind in permissions.kinds:
        yield from _kind(kind, ("kinds", kind), at_key=True)


def _example(example: schema.Example, raw: Mapping[str, Any]) -> Found:
    yield from _needs(raw, "tool", "an example")
    yield from _needs(raw, "expect", "an example", "there are: allow, ask, always_ask, deny, silent")


def _tool(tool: schema.ToolDefinition, raw: Mapping[str, Any]) -> Found:
    yield from _exactly_one(raw, ("command", "choices"), "a tool")
    if tool.command is not None and not (tool.command and tool.command[0]):
        yield _problem("AGT107", "a command needs a program", "command")
    if "choices" in raw:
        yield from _useless(raw, ("parameters", "timeout"), "for a question")


def _choice(choice: schema.Choice, raw: Mapping[str, Any]) -> Found:
    yield from _needs(raw, "name", "a choice")


def _parameter(parameter: schema.Parameter, raw: Mapping[str, Any]) -> Found:
    kinds: dict[str, tuple[type, ...]] = {
        "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    }  # fmt: skip
    default = parameter.default
    if default is not None and type(default) not in kinds[parameter.type]:
        yield _problem("AGT102", f'the default is not of type = "{parameter.type}"', "default")
    if parameter.type != "string":
        yield from _useless(raw, ("values",), 'without type = "string"')


def _mcp_server(server: schema.McpServer, raw: Mapping[str, Any]) -> Found:
    yield from _exactly_one(raw, ("command", "url"), "an MCP server")
    yield from _url(server.url, "url")
    if server.command is not None:
        if not (server.command and server.command[0]):
            yield _problem("AGT107", "a command needs a program", "command")
        if server.transport not in (None, "stdio"):
            yield _problem("AGT105", "a server with `command` speaks over stdio", "transport", "write `url` instead")
        yield from _useless(raw, ("headers",), "without `url`")
    elif server.url is not None:
        if server.transport == "stdio":
            yield _problem("AGT105", "a server with `url` speaks over http or sse", "transport")
        yield from _useless(raw, ("env",), "without `command`")
    for name, value in server.headers.items():
        yield from _header(name, value)


def _command(command: schema.Command, raw: Mapping[str, Any]) -> Found:
    if not raw.keys() & {"prompt", "switch_to"}:
        yield _problem("AGT104", "a command needs `prompt` or `switch_to`")


def _given(given: Given, raw: Mapping[str, Any]) -> Found:
    if "tool" not in raw:
        yield from _useless(raw, ("args",), "without `tool`")
    if given.mode is not None and "mode" in given.options:
        yield Problem("AGT105", "the mode is given twice", ("mode",), hint="keep one of the two", at="key")


def _unit_test(test: UnitTest, raw: Mapping[str, Any]) -> Found:
    if not raw.get("expect"):
        yield _problem("AGT104", "a test needs to expect something", hint='write expect.verdict = "deny"')
    if test.expect.verdict is not None and test.given.tool is None:
        yield _problem("AGT104", "a verdict is that on a call: `given.tool` is missing", ("expect", "verdict"))
    if test.expect.verdict is None and test.given.tool is not None:
        yield _problem("AGT104", "a call needs `expect.verdict`", ("given", "tool"))


def _config(config: schema.Config, raw: Mapping[str, Any]) -> Found:
    if "policy" in raw:  # those that count have been taken out before
        hint = "write it in your own configuration, or in a file that AGENTOML_POLICY names"
        yield Problem("AGT310", "a policy does not count here", ("policy",), hint=hint, at="key")
    for method in config.extensions:
        if not method.startswith("_"):
            hint = f"call it {quoted('_' + method)}"
            yield Problem("AGT110", "an extension method begins with _", ("extensions", method), hint=hint, at="key")


def _extension(extension: schema.Extension, raw: Mapping[str, Any]) -> Found:
    for field in extension.params:
        if field in ("sessionId", "_meta"):
            yield Problem("AGT110", f"{shown(field)} is there anyway, and no option", ("params", field), at="key")


Check = Callable[[Any, Mapping[str, Any]], Found]

_CHECKS: Mapping[type, Check] = {
    schema.Config: _config,
    schema.Agent: _agent,
    schema.Option: _option,
    schema.ConditionalDefault: _conditional_default,
    schema.Provider: _provider,
    schema.Retry: _retry,
    schema.ScriptStep: _script_step,
    schema.ScriptReply: _script_reply,
    schema.Model: _model,
    schema.ModelLimit: _model_limit,
    schema.Cost: _cost,
    schema.Reasoning: _reasoning,
    schema.Catalog: _catalog,
    Budget: _budget,
    schema.Rule: _rule,
    schema.PermissionSet: _permission_set,
    schema.Example: _example,
    schema.ToolDefinition: _tool,
    schema.Choice: _choice,
    schema.Parameter: _parameter,
    schema.McpServer: _mcp_server,
    schema.Command: _command,
    schema.Extension: _extension,
    Given: _given,
    UnitTest: _unit_test,
}
