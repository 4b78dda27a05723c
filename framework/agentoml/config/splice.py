"""One key of a user's own text set to a value: every comment stays, and so does every line that need not change. Pure.

What is given is replaced where it stands. What is not goes behind the last line of its table, into its inline table,
or into a table of its own behind those beside it. The first of these whose text says exactly what it should is taken.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentoml.config.diagnostics.positions import Positions, Span, positions
from agentoml.config.inline import inline
from agentoml.config.problems import dotted

Path = tuple[str, ...]


class CannotSplice(Exception):
    """A text in which the key can't be set without touching more; the text says why."""


def with_key(source: str, path: Path, value: Any) -> str:
    """Return a TOML text in which the key of this path has this value, and nothing else is different.

    Raises:
        CannotSplice: the text is not TOML, or something on the way is no table.
    """
    try:
        table = tomllib.loads(source)
    except (ValueError, RecursionError):
        raise CannotSplice("the file is not TOML as it stands") from None
    wanted = _changed(table, path, value)
    if repr(wanted) == repr(table):
        return source
    for text in _candidates(source, positions(source), path, value):
        if _says(text, wanted):
            return text
    raise CannotSplice(f"there is no line where `{dotted(path)}` could be set alone")


def _changed(table: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return the table with one key set, its order as it was."""
    name, *rest = path
    if not rest:
        if isinstance(table.get(name), dict) and not isinstance(value, dict):
            raise CannotSplice(f"`{name}` is a table: set a key of it")
        return {**table, name: value}
    inner = table.get(name, {})
    if not isinstance(inner, dict):
        raise CannotSplice(f"`{name}` is no table, so it has no `{dotted(tuple(rest))}`")
    return {**table, name: _changed(inner, tuple(rest), value)}


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return _sorted(tomllib.loads(text)) == _sorted(wanted)
    except (ValueError, RecursionError):
        return False


def _sorted(value: Any) -> str:
    """Return a value in words that are the same for equal values alone: 1 is not true, nan is nan."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_sorted(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_sorted, value)) + "]"
    return repr(value)


# ------------------------------------------------------------------------------------------------ where it may go


class Section(NamedTuple):
    """A header with the statements beneath it, or what stands before the first header. `end` is behind the last line
    that says something, `indent` that of the last statement.
    """

    path: Path
    begin: int
    end: int
    indent: str = ""


def _candidates(source: str, scanned: Positions, path: Path, value: Any) -> Iterator[str]:
    """Yield texts in which the key is set, the plainest first."""
    written = inline(value)
    there = scanned.places.get(path)
    if there is not None and there.value is not None:
        yield source[: there.value.start] + written + source[there.value.end :]
    sections = _sections(source, scanned)
    for length in range(len(path) - 1, -1, -1):
        above = path[:length]
        where = scanned.places.get(above)
        if where is not None and where.value is not None:
            yield _into_inline_table(source, where.value, f"{dotted(path[length:])} = {written}")
        for section in _sections_of(above, scanned, sections):
            if section.path or len(path) == 1 or above:
                yield _behind(source, section, f"{section.indent}{dotted(path[len(section.path) :])} = {written}")
        beside = [section for section in sections if above and section.path[:length] == above]
        if beside:
            yield _behind(source, beside[-1], *_table(path, written))
    yield _behind(source, sections[-1], *_table(path, written))


def _sections_of(above: Path, scanned: Positions, sections: list[Section]) -> Iterator[Section]:
    """Yield the section that a table has of its own, and that in which dotted keys make it."""
    yield from (section for section in sections if section.path == above)
    where = scanned.places.get(above)
    if where is not None and where.key is not None:
        begin = where.key.start
        yield from [section for section in sections if section.begin <= begin][-1:]


def _sections(source: str, scanned: Positions) -> list[Section]:
    """Return the sections of a text in their order; the first one has no header."""
    begins = [span.start for span in scanned.statements]
    ends = dict(zip(begins, begins, strict=True))
    for where in (*scanned.places.values(), *(where for _, where in scanned.repeated)):
        for span in where:
            if span is not None:
                statement = begins[bisect_right(begins, span.start) - 1]
                ends[statement] = max(ends[statement], span.end)
    sections = [Section((), 0, 0)]
    for begin, last in ends.items():
        end = _line_end(source, last)
        if source[begin] == "[":
            sections.append(Section(_header(source[begin:end]), begin, end))
        else:
            indent = source[source.rfind("\n", 0, begin) + 1 : begin]
            sections[-1] = sections[-1]._replace(end=end, indent=indent)
    return sections


def _header(line: str) -> Path:
    """Return the path of a table's header; of a list of tables, one that no key has."""
    path: Path = ()
    table: Any = tomllib.loads(line)
    while isinstance(table, dict) and table:
        ((name, table),) = table.items()
        path += (name,)
    return path if isinstance(table, dict) else ("", *path)


# --------------------------------------------------------------------------------------------------- how it is put


def _into_inline_table(source: str, table: Span, pair: str) -> str:
    inside = source[table.start + 1 : table.end - 1].rstrip()
    comma = "," if inside else ""
    return f"{source[: table.start + 1]}{inside}{comma} {pair} {source[table.end - 1 :]}"


def _table(path: Path, written: str) -> tuple[str, ...]:
    """Return the lines of a table with this one key."""
    pair = f"{dotted(path[-1:])} = {written}"
    return ("", f"[{dotted(path[:-1])}]", pair) if len(path) > 1 else (pair,)


def _behind(source: str, section: Section, *lines: str) -> str:
    """Put lines behind a section; where nothing stands in it, before everything."""
    newline = "\r\n" if "\r\n" in source else "\n"
    if section.end == 0:
        return newline.join(lines).lstrip() + newline + source
    return source[: section.end] + "".join(newline + line for line in lines) + source[section.end :]


def _line_end(source: str, offset: int) -> int:
    """Return where a line ends, its comment included."""
    found = re.compile(r"\r?\n").search(source, offset)
    return found.start() if found else len(source)
