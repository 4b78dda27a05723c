"""One text -> its table. Pure; TOML 1.0 by tomllib, and the same on every Python."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agentoml.config.problems import Problem

if TYPE_CHECKING:
    from agentoml.config.diagnostics.syntax import Fault
    from agentoml.config.layers import Reading

SCHEMA = 1
"""The version of the vocabulary that this program knows."""

DEEPEST = 64
"""How deep values may be nested: whatever reads them afterwards may do so by recursion."""

Layer = Literal["built-in", "user", "project", "named", "set", "policy"]

TEXT_KEYS = frozenset({"instructions", "instructions_append", "reminder", "prompt"})
"""The keys whose value may be `{ file = "..." }`: a text of its own, read with the layers."""

FREE_KEYS = frozenset({"params", "meta", "args"})
"""The keys whose tables hold anything: nothing in them is ours."""


class Text(NamedTuple):
    """One TOML text of a layer, with the text files that it names, and what went wrong while reading them.

    `lineage`: whose `extends` brought it, and by which entry, outermost first; empty for the top of a layer.
    """

    name: str
    content: bytes
    path: Path | None
    layer: Layer = "named"
    included: Mapping[str, str] = {}
    problems: tuple[Problem, ...] = ()
    lineage: tuple[tuple[str, int], ...] = ()


class CatalogText(NamedTuple):
    """What `[catalogs.x]` gives: a TOML text, or a list of models that others keep, as JSON (`text` only names it).

    `include` and `exclude` are globs over the keys. `providers`: who lists a model -> the declared provider that
    serves it. `today` is the date of the reading: what ended before is deprecated.
    """

    catalog: str
    source: Literal["file", "discover", "bundled"]
    text: Text
    listed: bytes = b""
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    providers: tuple[tuple[str, str], ...] = ()
    today: str = ""


class Included(NamedTuple):
    """A text kept in a file of its own, as it stands in a table: the file as written, and its content."""

    file: str
    text: str


class Table(NamedTuple):
    """What one text says. It is shared: never change it. Broken statements are missing and among the problems.

    `catalog` tells whether it is one: it has models alone, and those that are written elsewhere come before them.
    """

    text: Text
    values: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()
    catalog: Literal["", "written", "listed"] = ""


class Document(NamedTuple):
    """What the bytes alone say: the text, the same with its broken statements blanked, the values, the faults."""

    source: str
    readable: str
    values: Mapping[str, Any]
    faults: tuple[Fault, ...] = ()
    problems: tuple[Problem, ...] = ()


def parse_all(reading: Reading) -> tuple[Table, ...]:
    """Return the table of each text, weakest first: catalogs lie beneath everything that is written."""
    tables = tuple(parse(text) for text in reading.texts)
    if not reading.catalogs:
        return tables
    from agentoml.config.catalogs.tables import catalog_table

    return (*(catalog_table(catalog) for catalog in reading.catalogs), *tables)


def parse(text: Text) -> Table:
    """Return the table of a text, its paths settled: a file belongs to the file that names it. Never raises."""
    if not text.content and text.problems:
        return Table(text, {}, text.problems)
    found = document(text.content)
    problems = [problem._replace(file=text.name) for problem in found.problems]
    values = dict(_settled(found.values, text) if b"file" in text.content else found.values)
    own = [*_schema_problems(values), *_extends_problems(values)]
    values.pop("extends", None)
    if own or found.faults:
        from agentoml.config.diagnostics.locate import place, place_fault

        problems += [place_fault(fault, text) for fault in found.faults]
        problems += place(own, text)
    return Table(text, values, (*text.problems, *problems))


@lru_cache(maxsize=256)
def document(content: bytes) -> Document:
    """Return what the bytes say. Remembered, since a reload reads mostly what was there before."""
    unreadable = _unreadable(content)
    if unreadable:
        return Document("", "", {}, (), (unreadable,))
    source = content.decode()
    faults: tuple[Fault, ...] = ()
    readable = source
    try:
        values = tomllib.loads(source)
    except (ValueError, RecursionError):
        from agentoml.config.diagnostics.syntax import recover

        values, readable, faults = recover(source)
    if _deeper_than(DEEPEST, values):
        too_deep = Problem("AGT015", f"values are nested more than {DEEPEST} deep", line=1, column=1)
        return Document(source, readable, {}, faults, (too_deep,))
    return Document(source, readable, values, faults)


def _deeper_than(levels: int, values: Mapping[str, Any]) -> bool:
    inner: list[Any] = [values]
    for _ in range(levels):
        inner = [
            item
            for outer in inner
            for item in (outer.values() if type(outer) is dict else outer)
            if type(item) is dict or type(item) is list
        ]
    return bool(inner)


def _unreadable(content: bytes) -> Problem | None:
    utf8 = "save the file as UTF-8 without a byte order mark"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Problem("AGT002", "the file is UTF-16, not UTF-8", hint=utf8, line=1, column=1)
    if content.startswith(b"\xef\xbb\xbf"):
        return Problem("AGT002", "the file begins with a byte order mark", hint=utf8, line=1, column=1)
    if not content.strip():
        return Problem("AGT003", "the file is empty", hint="write at least `schema = 1`")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1
        message = f"the byte 0x{content[error.start]:02x} is not UTF-8"
        return Problem("AGT002", message, hint="save the file as UTF-8", line=line, column=column)
    return None


def _settled(table: Mapping[str, Any], text: Text) -> Mapping[str, Any]:
    """Return the table with text files in place of what names them, and other files as absolute paths."""
    changed: dict[str, Any] = {}
    for key, value in table.items():
        if not isinstance(value, dict) or key in FREE_KEYS:
            continue
        settled: Any = _settled(value, text)
        file = value.get("file")
        if isinstance(file, str) and key in TEXT_KEYS:
            if len(value) == 1 and file in text.included:
                settled = Included(file, text.included[file])
        elif isinstance(file, str) and text.path is not None:
            settled = {**settled, "file": _beside(text.path, file)}
        elif isinstance(file, list) and text.path is not None:
            settled = {**settled, "file": [_beside(text.path, name) for name in file]}
        if settled is not value:
            changed[key] = settled
    return {**table, **changed} if changed else table


def _beside(path: Path, name: Any) -> Any:
    return str(path.parent / name) if isinstance(name, str) and name and not name.startswith("~") else name


def text_files(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """Return the text files that a table names: (key path, file as written)."""
    found = []
    for key, value in table.items():
        if isinstance(value, dict) and key not in FREE_KEYS:
            file = value.get("file")
            if key in TEXT_KEYS and isinstance(file, str) and len(value) == 1:
                found.append(((*path, key, "file"), file))
            else:
                found += text_files(value, (*path, key))
    return found


def _schema_problems(values: dict[str, Any]) -> list[Problem]:
    """Return what is wrong with `schema`, and drop it then. Each file says for itself what it is written in."""
    version = values.get("schema", SCHEMA)
    if type(version) is int and version == SCHEMA:
        return []
    del values["schema"]
    if type(version) is not int:
        return [Problem("AGT102", "`schema` is a whole number", ("schema",), hint=f"write schema = {SCHEMA}")]
    hint = f"write schema = {SCHEMA}, or use a version of agentoml that knows it" if version > SCHEMA else ""
    message = f"schema {version} is not known here; this program knows {SCHEMA}"
    return [Problem("AGT112", message, ("schema",), hint=hint)]


def _extends_problems(values: Mapping[str, Any]) -> list[Problem]:
    extends = values.get("extends", [])
    if not isinstance(extends, list):
        hint = f'put it in brackets: ["{extends}"]' if isinstance(extends, str) else 'write ["preset:NAME", "FILE"]'
        return [Problem("AGT102", "`extends` is a list of presets and files", ("extends",), hint=hint)]
    return [
        Problem("AGT102", "what is extended is a preset or a file, in quotes", ("extends", index))
        for index, target in enumerate(extends)
        if not isinstance(target, str) or not target
    ]
