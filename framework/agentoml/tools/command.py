"""`[tools.x]` with `command`: a tool without code, an argv with places for its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentoml.config.schema import Parameter, ToolDefinition
from agentoml.config.vocabulary.notation import Scalar
from agentoml.errors import ToolError
from agentoml.tools.terminal import run_here
from agentoml.tools.tool import Tool, ToolContext, ToolResult

PLACE = re.compile(r"\{([A-Za-z_][\w-]*)\}")
DEFAULT_SECONDS = 600.0


def command_tool(name: str, definition: ToolDefinition) -> Tool:
    """Return the tool that a table with `command` describes."""
    template = definition.command or ()
    seconds = definition.timeout or DEFAULT_SECONDS

    async def run(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return await run_here(filled(template, definition.parameters, args), context, seconds)

    return Tool(
        name,
        definition.description or f"Run {' '.join(template)}",
        parameters_schema(definition.parameters),
        run,
        definition.kind or "execute",
        definition.title or name,
        definition.locations,
    )


def parameters_schema(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's parameters; one without a default is required."""
    return {
        "type": "object",
        "properties": {name: _schema(parameter) for name, parameter in parameters.items()},
        "required": [name for name, parameter in parameters.items() if parameter.default is None],
        "additionalProperties": False,
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.type}
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.default is not None:
        schema["default"] = parameter.default
    if parameter.values:
        schema["enum"] = list(parameter.values)
    return schema


def unknown_places(definition: ToolDefinition) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the places that no parameter fills, each behind the key of the table where it stands."""
    named: list[tuple[tuple[str | int, ...], list[str]]] = [(("title",), PLACE.findall(definition.title or ""))]
    named += [(("command", index), PLACE.findall(word)) for index, word in enumerate(definition.command or ())]
    named += [(("locations", index), [name.strip("{}")]) for index, name in enumerate(definition.locations)]
    for where, places in named:
        yield from ((where, place) for place in places if place not in definition.parameters)


def unused_parameters(definition: ToolDefinition) -> Iterator[str]:
    """Yield the parameters that reach neither the program nor the eyes of whoever is asked: its argv is all it gets."""
    shown = {place for text in (*(definition.command or ()), definition.title or "") for place in PLACE.findall(text)}
    yield from (name for name in definition.parameters if name not in shown)


def filled(template: tuple[str, ...], parameters: Mapping[str, Parameter], args: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the argv of a call: each place of the template with its argument, every word staying one word.

    Raises:
        ToolError: an argument would be read as an option, because it begins with `-`, stands at the start of a word
            and no `--` comes before it.
    """
    for index, word in enumerate(template):
        first = _first_given(word, parameters, args)
        given = args[first] if first is not None else None
        if isinstance(given, str) and given.startswith("-") and "--" not in template[:index]:
            raise ToolError(f"{first} can't begin with -")
    return tuple(PLACE.sub(lambda found: _text(_value(found, parameters, args)), word) for word in template)


def _first_given(word: str, parameters: Mapping[str, Parameter], args: Mapping[str, Any]) -> str | None:
    """Return the argument that a word begins with, if it does; one that is empty is as if its place were not there."""
    while found := PLACE.match(word):
        if _value(found, parameters, args) != "":
            return found[1] if found[1] in args else None
        word = word[found.end() :]
    return None


def _value(found: re.Match[str], parameters: Mapping[str, Parameter], args: Mapping[str, Any]) -> Scalar:
    name = found[1]
    if name not in parameters:
        return found[0]
    value: Scalar | None = args.get(name, parameters[name].default)
    return "" if value is None else value


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
