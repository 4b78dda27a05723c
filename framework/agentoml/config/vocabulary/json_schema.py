"""The vocabulary as JSON Schema (draft-07), for editors: from the same classes that structure.py reads by.

It takes whatever the loader takes, and refuses as much of the rest as types and words tell: what depends on other keys
or files is left to `agentoml check`. A file stands above others, so any key may also be an edit of what is inherited:
`{ add = [...] }` of a list, `{ remove = true }` of anything (L3, L4).
"""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs

from agentoml.config.schema import Config
from agentoml.config.structuring.converter import members
from agentoml.config.structuring.hooks import DURATION
from agentoml.config.vocabulary.notation import Duration, ListEdit, Patterns, Secret, TextFile

FILE = "agentoml.schema.json"
"""How the file is called that `#:schema` in the first line of a configuration names."""

Schema = dict[str, Any]

REMOVED: Schema = {"remove": True}
STRING: Schema = {"type": "string"}
STRINGS: Schema = {"type": "array", "items": STRING}


def json_schema() -> Schema:
    """Return the schema of a whole configuration file."""
    definitions: Schema = {}
    root = _table(Config, definitions)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Agentoml configuration",
        **root,
        "definitions": dict(sorted(definitions.items())),
    }


def _table(kind: type, definitions: Schema) -> Schema:
    """Return the schema of a class of the vocabulary; those it mentions are put among the definitions."""
    types = get_type_hints(kind)
    properties = {
        attribute.name: _key(attribute, types[attribute.name], definitions)
        for attribute in attrs.fields(kind)
        if not attribute.metadata["later"]
    }
    return {"description": inspect.getdoc(kind), **_object(properties, additional=False)}


def _key(attribute: attrs.Attribute[Any], kind: Any, definitions: Schema) -> Schema:
    found = _removable(_with_words(_schema(kind, definitions), attribute.metadata["words"]))
    if "$ref" in found:
        found = {"allOf": [found]}  # beside a reference draft-07 reads nothing else
    default = attribute.default
    shown = {"default": default} if type(default) in (str, bool, int) else {}
    return {"description": attribute.metadata["doc"], **found, **shown}


def _schema(kind: Any, definitions: Schema) -> Schema:
    """Return the schema of a type of the vocabulary."""
    alternatives = members(kind)
    if len(alternatives) > 1:
        return _either([_schema(member, definitions) for member in alternatives])
    (kind,) = alternatives
    if kind in NOTATIONS:
        return dict(NOTATIONS[kind])
    if attrs.has(kind):
        name = kind.__name__
        if name not in definitions:
            definitions[name] = {}  # so that a class that mentions itself ends here
            definitions[name] = _table(kind, definitions)
        return {"$ref": f"#/definitions/{name}"}
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    if get_origin(kind) is Mapping:
        entry = get_args(kind)[1]
        return {"type": "object"} if entry is Any else _entries(_schema(entry, definitions))
    return _list(_schema(get_args(kind)[0], definitions))


def _object(properties: Schema, *, additional: bool | Schema) -> Schema:
    return {"type": "object", "properties": properties | {"remove": _REMOVE}, "additionalProperties": additional}


_REMOVE: Schema = {"description": "deletes the inherited table; stands alone in it", "const": True}


def _entries(entry: Schema) -> Schema:
    """Return a table of named entries; one of them may be called `remove`."""
    entry = _removable(entry)
    return {
        "type": "object",
        "properties": {"remove": {"anyOf": [{"const": True}, entry]}},
        "additionalProperties": entry,
    }


def _list(item: Schema) -> Schema:
    """Return a list, or an edit of an inherited one."""
    items = {"type": "array", "items": item}
    removed = {"type": ["array", "boolean"], "items": item}
    return {
        "type": ["array", "object"],
        "items": item,
        "properties": {"add": items, "remove": removed},
        "additionalProperties": False,
    }


def _either(alternatives: list[Schema]) -> Schema:
    """Return what takes each of several schemas: in one where their types differ, which editors explain better."""
    types = [name for one in alternatives for name in _types(one)]
    if all("type" in one for one in alternatives) and len(set(types)) == len(types):
        together: Schema = {}
        for one in alternatives:
            together |= one
        return together | {"type": types}
    return {"anyOf": alternatives}


def _types(schema: Schema) -> list[str]:
    found = schema.get("type", [])
    return [found] if isinstance(found, str) else list(found)


def _with_words(schema: Schema, words: tuple[str, ...]) -> Schema:
    """Return the schema of a string or a list of strings of which editors know some; others may stand there too."""
    known: Schema = {"anyOf": [{"enum": list(words)}, STRING]}
    if not words:
        return schema
    return known if schema == STRING else _list(known)


def _removable(schema: Schema) -> Schema:
    """Return the schema of what may also be written as `{ remove = true }`."""
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], REMOVED]}
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"enum": [REMOVED]}]}
    types = _types(schema)
    if not types or "object" in types:
        return schema
    return schema | {
        "type": [*types, "object"],
        "properties": {"remove": _REMOVE},
        "required": ["remove"],
        "additionalProperties": False,
    }


NOTATIONS: Mapping[Any, Schema] = {
    Any: {},
    str: STRING,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime.date: STRING,
    Duration: {"type": "string", "pattern": f"^(?:{DURATION.pattern})$"},
    Patterns: _either([STRING, _list(STRING)]),
    ListEdit: _either([STRING, _list(STRING)]),
    TextFile: _object({"file": STRING}, additional=False),
    Secret: _object({"env": STRING, "file": STRING, "command": STRINGS, "keyring": STRING}, additional=False),
}
"""The notations of hooks.py. What JSON Schema calls a string may be a date in TOML."""
