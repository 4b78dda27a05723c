"""The vocabulary as a page of documentation: every table and key, from the same classes that structure.py reads by."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs

from agentoml.config.schema import Config
from agentoml.config.structuring.converter import members
from agentoml.config.vocabulary.notation import Duration, ListEdit, Patterns, Secret, TextFile
from agentoml.config.vocabulary.profile import ProfileKeys, Value

INTRODUCTION = """# Reference

Every table and key of a configuration. `agentoml schema` gives the same to editors, `agentoml check` looks at what
this page can't say: names that must exist, keys that need or exclude each other. [Problems](problems.md) explains
what it tells.

What is not given has the default; where that is empty, nothing is set. Any list may instead edit the inherited one,
`x.add = [...]` and `x.remove = [...]`; `x.remove = true` deletes what is inherited under `x`. An unknown key is an
error, and so is a value of another type: nothing is converted.
"""

NOTATIONS: Mapping[Any, tuple[str, str]] = {
    Duration: ("a duration", 'a string with a unit: `"500ms"`, `"10s"`, `"5m"`, `"1h"`, `"2d"`'),
    Patterns: (
        "patterns",
        "a glob or a list of globs; `!` before one excludes, exclusions alone start from everything",
    ),
    ListEdit: ("names", "a list of names, or one name; an edit is kept as one: `x.add`, `x.remove`"),
    TextFile: ("a text file", '`{ file = "..." }`, beside the file that names it'),
    Secret: (
        "a secret",
        "the place where it is: `{ env = ... }`, `{ file = ... }`, `{ command = [...] }` or `{ keyring = ... }`",
    ),
}
"""What has a notation of its own: its name, and how it is written."""

PLAIN: Mapping[Any, str] = {
    Any: "anything that JSON has",
    str: "a string",
    bool: "`true` or `false`",
    int: "a whole number",
    float: "a number",
    datetime.date: "a date, `2026-09-29`",
}

SHARED: Mapping[type, str] = {ProfileKeys: "the profile", Value: "a value"}
"""Classes that others extend: each has one section, to which the others refer."""

Sections = dict[type, str]
"""Class -> the heading of its section, in the order of the page."""


def reference_page() -> str:
    """Return the page, as Markdown."""
    sections = _sections()
    notations = [f"- **{name}**: {written}" for name, written in NOTATIONS.values()]
    parts = [INTRODUCTION.strip(), "## Notations", "\n".join(notations)]
    for kind, heading in sections.items():
        parts.append(f"## {heading}\n\n{_about(kind, sections)}")
        rows = [_row(attribute, get_type_hints(kind)[attribute.name], sections) for attribute in _own_keys(kind)]
        if rows:
            parts.append("\n".join(["| key | value | default | |", "|---|---|---|---|", *rows]))
        reserved = [f"`{attribute.name}`" for attribute in attrs.fields(kind) if attribute.metadata["later"]]
        if reserved:
            parts.append(f"Reserved, and not supported yet: {', '.join(reserved)}.")
    return "\n\n".join(parts) + "\n"


def _sections() -> Sections:
    """Return a section for each class: where it stands first, behind the table that mentions it."""
    found: Sections = {}

    def add(kind: type, heading: str, place: str) -> None:
        found[kind] = heading
        types = get_type_hints(kind)
        for attribute in _own_keys(kind):
            for inner, below in _tables(types[attribute.name], f"{place}.{attribute.name}".removeprefix(".")):
                if inner not in found:
                    add(inner, f"[{below}]", below)

    found[Config] = "The file"
    for shared, heading in SHARED.items():
        add(shared, heading.capitalize(), heading.split()[-1])
    add(Config, "The file", "")
    return found


def _tables(kind: Any, place: str) -> Iterator[tuple[type, str]]:
    """Yield each class that a type mentions, with the key path of its table."""
    for member in members(kind):
        if attrs.has(member) and member not in NOTATIONS:
            yield member, place
        elif get_origin(member) is Mapping:
            yield from _tables(get_args(member)[1], f"{place}.NAME")
        elif get_origin(member) is tuple:
            yield from _tables(get_args(member)[0], place)


def _own_keys(kind: type) -> Iterator[attrs.Attribute[Any]]:
    """Yield the keys that a section lists: not those that another section has."""
    elsewhere = {
        attribute.name
        for shared in SHARED
        if issubclass(kind, shared) and kind is not shared
        for attribute in attrs.fields(shared)
    }
    for attribute in attrs.fields(kind):
        if not attribute.metadata["later"] and attribute.name not in elsewhere:
            yield attribute


def _about(kind: type, sections: Sections) -> str:
    about = " ".join((inspect.getdoc(kind) or "").split())
    also = [_link(shared, sections) for shared in SHARED if issubclass(kind, shared) and kind is not shared]
    return about + (f" Every key of {' and of '.join(also)} may stand here too." if also else "")


def _row(attribute: attrs.Attribute[Any], kind: Any, sections: Sections) -> str:
    cells = (f"`{attribute.name}`", _words(kind, sections), _default(attribute.default), attribute.metadata["doc"])
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _words(kind: Any, sections: Sections) -> str:
    """Return in words what a type of the vocabulary is written as."""
    return " or ".join(dict.fromkeys(_word(member, sections) for member in members(kind)))


def _word(kind: Any, sections: Sections) -> str:
    if kind in PLAIN:
        return PLAIN[kind]
    if kind in NOTATIONS:
        return f"[{NOTATIONS[kind][0]}](#notations)"
    if attrs.has(kind):
        return _link(kind, sections)
    if get_origin(kind) is Literal:
        return ", ".join(f'`"{word}"`' for word in get_args(kind))
    if get_origin(kind) is Mapping:
        entry = get_args(kind)[1]
        return "a table" if entry is Any else f"a table: NAME = {_words(entry, sections)}"
    item = get_args(kind)[0]
    return "a list of strings" if item is str else f"a list of ({_words(item, sections)})"


def _link(kind: type, sections: Sections) -> str:
    heading = sections[kind]
    return f"[{heading.lower() if kind in SHARED else heading.strip('[]')}](#{anchor(heading)})"


def anchor(heading: str) -> str:
    """Return the name by which a page refers to a heading of it, as GitHub makes it."""
    return "".join(char for char in heading.lower().replace(" ", "-") if char.isalnum() or char in "-_")


def _default(default: Any) -> str:
    if type(default) is bool:
        return f"`{str(default).lower()}`"
    if type(default) in (int, str):
        return f'`"{default}"`' if isinstance(default, str) else f"`{default}`"
    if type(default) is float:
        return f'`"{default:g}s"`' if default >= 1 else f'`"{default * 1000:g}ms"`'
    return ""
