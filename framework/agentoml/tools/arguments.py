"""The arguments of a tool call: parsed from what the model wrote, checked, and shown in a title."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from agentoml.errors import ToolError
from agentoml.tools.clipping import clipped
from agentoml.tools.paths import absolute
from agentoml.tools.tool import Tool
from agentoml.tools.urls import host_of

TITLE_LENGTH = 120

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def parse_arguments(text: str) -> dict[str, Any]:
    """Return the arguments that a model wrote as JSON; nothing written means none.

    Raises:
        ToolError: it is not JSON, not an object, or holds a number that JSON does not have.
    """
    if not text.strip():
        return {}
    try:
        arguments = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        where = f": {error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise ToolError(f"the arguments are not JSON{where}; send one complete JSON object") from None
    if not isinstance(arguments, dict):
        raise ToolError("the arguments must be a JSON object")
    return arguments


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _no_number(number)


def _no_number(written: str) -> NoReturn:
    raise ToolError(f"the arguments hold {clipped(written, 20)}, which is no number that JSON has; send a finite one")


def check_arguments(tool: Tool, args: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the arguments, one sentence each, by the keywords of JSON Schema that tools use:
    type, enum, required, properties, additionalProperties, items and minima. Others are not looked at.
    """
    return list(_problems(tool.parameters, args, ""))


def without_nulls(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without optional ones that are null, which is how many models leave one out."""
    required, properties = _listed(tool.parameters, "required"), _properties(tool.parameters)
    return {
        name: value
        for name, value in args.items()
        if value is not None or name in required or "null" in _types(properties.get(name))
    }


def render_title(tool: Tool, args: Mapping[str, Any]) -> str:
    """Return the title of a call: the tool's template with its arguments, else its name, in one short line."""
    return clipped(whole_title(tool, args), TITLE_LENGTH) or tool.name


def whole_title(tool: Tool, args: Mapping[str, Any]) -> str:
    """Return the title of a call as it is before it is made to fit on a line."""
    return re.sub(r"\{([^{}]+)\}", lambda found: _text(_argument(tool, args, found[1])), tool.title)


def locations_of(tool: Tool, args: Mapping[str, Any], cwd: str) -> tuple[str, ...]:
    """Return the absolute paths that a call touches, as far as its tool declares them."""
    given = (_argument(tool, args, name.strip("{}")) for name in tool.locations)
    return tuple(absolute(path, cwd) for path in given if isinstance(path, str) and path)


def host_of_call(tool: Tool, args: Mapping[str, Any]) -> str | None:
    """Return the host that a call asks, as far as its tool declares the argument that is its URL."""
    url = args.get(tool.url)
    return host_of(url) if isinstance(url, str) else None


def _argument(tool: Tool, args: Mapping[str, Any], name: str) -> Any:
    """Return an argument, or the default that its schema names."""
    value = args.get(name)
    schema = _properties(tool.parameters).get(name)
    return schema.get("default") if value is None and isinstance(schema, Mapping) else value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _types(schema: Any) -> tuple[str, ...]:
    written = schema.get("type") if isinstance(schema, Mapping) else None
    listed = written if isinstance(written, list) else [written]
    return tuple(name for name in listed if isinstance(name, str))


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schemas of an object's properties; what a server wrote that is none says nothing."""
    written = schema.get("properties")
    return written if isinstance(written, Mapping) else {}


def _listed(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    written = schema.get(keyword)
    return written if isinstance(written, list) else []


def _bound(schema: Mapping[str, Any], keyword: str) -> float:
    """Return a minimum; without one, anything is enough."""
    written = schema.get(keyword)
    return written if isinstance(written, int | float) else -math.inf


def _is(value: Any, type_name: str) -> bool:
    if isinstance(value, bool):
        return type_name == "boolean"
    if type_name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES.get(type_name, (object,)))


def _problems(schema: Any, value: Any, place: str) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    named = place or "the arguments"
    types = _types(schema)
    if types and not any(_is(value, name) for name in types):
        yield f"{named} must be {' or '.join(types)}"
    elif (allowed := _listed(schema, "enum")) and value not in allowed:
        yield f"{named} must be one of {', '.join(map(_text, allowed))}"
    elif isinstance(value, Mapping):
        yield from _object_problems(schema, value, place)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(schema.get("items"), item, f"{place}[{index}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < _bound(schema, "minimum"):
            yield f"{named} must be at least {schema['minimum']}"
        if value <= _bound(schema, "exclusiveMinimum"):
            yield f"{named} must be more than {schema['exclusiveMinimum']}"


def _object_problems(schema: Mapping[str, Any], value: Mapping[str, Any], place: str) -> Iterator[str]:
    prefix = place and place + "."
    properties = _properties(schema)
    for name in _listed(schema, "required"):
        if isinstance(name, str) and name not in value:
            yield f"{prefix}{name} is missing"
    for name, item in value.items():
        if name in properties:
            yield from _problems(properties[name], item, prefix + name)
        elif schema.get("additionalProperties") is False:
            yield f"{prefix}{name} is not a parameter; there are {', '.join(properties) or 'none'}"
