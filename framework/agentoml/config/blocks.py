"""A TOML text, parsed table by table: what an edit left as it was is the same object as before. Pure.

A text is cut before the lines that begin with a header, and each block is parsed by itself. Cutting is safe: a value
that goes on beyond a cut leaves its block unfinished, so that it can't be parsed. Whatever is not plainly a list of
tables, each written in one place, is left to a parser of the whole.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from agentoml.config.nesting import deeper_than

BLOCKS_KEPT = 65_536
"""How many blocks are remembered: more than the tables of the largest catalogs."""

_HEADER = re.compile(r"^(?=\[[^\[])", re.MULTILINE)

_NAME = re.compile(r"""[A-Za-z0-9_-]+|"[^"'\\]*"|'[^"']*'""")
_PLAIN_HEADER = re.compile(rf"\[(?:{_NAME.pattern})(?:\.(?:{_NAME.pattern}))*\]")
"""A header as nearly all are; to have it parsed costs more than its table."""

_Path = tuple[str, ...]


class _Block(NamedTuple):
    """One table with the tables beneath it that follow at once. It is shared: never change it."""

    path: _Path
    values: dict[str, Any]


def loads(source: str, deepest: int) -> dict[str, Any] | None:
    """Return what a text says, as `tomllib.loads` does; None where that can't be told table by table.

    That is so for all that is broken, for tables that are written in several places, and for values that are nested
    more than `deepest` deep.
    """
    source = source.replace("\r\n", "\n")
    before, *pieces = _HEADER.split(source)
    first = _values(before)
    if first is None or "\r" in source or deeper_than(deepest, first):
        return None
    root = dict(first)
    opened: dict[_Path, dict[str, Any]] = {(): root}
    for text in _blocks(pieces):
        block = _block(text, deepest)
        if block is None:
            return None
        *above, name = block.path
        table = _table(tuple(above), opened)
        if table is None or name in table:
            return None
        table[name] = block.values
    return root


def _blocks(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces; those of tables that lie, as it is written, in the one before are joined to it."""
    joined, within = "", ""
    for piece in pieces:
        if within and piece.startswith(within):
            joined += piece
            continue
        if joined:
            yield joined
        header = piece.partition("\n")[0].rstrip()
        joined, within = piece, f"{header[:-1]}." if header.endswith("]") else ""
    if joined:
        yield joined


@lru_cache(maxsize=BLOCKS_KEPT)
def _block(text: str, deepest: int) -> _Block | None:
    """Return one block; None where it can't be read, is nested too deep, or says something outside of its table."""
    path, values = _path(text.partition("\n")[0]), _values(text)
    for name in path:
        if values is None or values.keys() != {name}:
            return None
        values = values[name]
    return None if not path or values is None or deeper_than(deepest - len(path), values) else _Block(path, values)


def _path(header: str) -> _Path:
    """Return what a header names; of a line that is no header, whatever: its block can't be parsed either."""
    if _PLAIN_HEADER.fullmatch(header):
        return tuple(name.strip("\"'") for name in _NAME.findall(header))
    path, values = [], _values(header)
    while values:
        name, values = next(iter(values.items()))
        path.append(name)
    return tuple(path)


def _values(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _table(path: _Path, opened: dict[_Path, dict[str, Any]]) -> dict[str, Any] | None:
    """Return the table of a path that only headers of its inner tables name; None where it was written otherwise."""
    if path in opened:
        return opened[path]
    above = _table(path[:-1], opened)
    if above is None or path[-1] in above:
        return None
    above[path[-1]] = opened[path] = {}
    return opened[path]
