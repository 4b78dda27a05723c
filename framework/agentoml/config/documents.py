"""Bytes -> what they say: TOML 1.0 by tomllib, the same on every Python, without its broken statements. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from agentoml.config.nesting import deeper_than
from agentoml.config.problems import Problem
from agentoml.config.texts import FREE_KEYS, TEXT_KEYS

if TYPE_CHECKING:
    from agentoml.config.diagnostics.syntax import Fault

DEEPEST = 64
"""How deep values may be nested: whatever reads them afterwards may do so by recursion."""

LONG = 8_192
"""From so many bytes on a text is read table by table, and few such texts are remembered: their tables are."""


class Document(NamedTuple):
    """What the bytes alone say: the text, the same with its broken statements blanked, the values, the faults."""

    source: str
    readable: str
    values: Mapping[str, Any]
    faults: tuple[Fault, ...] = ()
    problems: tuple[Problem, ...] = ()


def document(content: bytes) -> Document:
    """Return what the bytes say. Remembered, since a reload reads mostly what was there before."""
    return _short(content) if len(content) < LONG else _long(content)


def _read(content: bytes) -> Document:
    unreadable = _unreadable(content)
    if unreadable:
        return Document("", "", {}, (), (unreadable,))
    source = content.decode()
    faults: tuple[Fault, ...] = ()
    readable = source
    if len(content) >= LONG:
        from agentoml.config import blocks

        by_blocks = blocks.loads(source, DEEPEST)
        if by_blocks is not None:
            return Document(source, readable, by_blocks)
    try:
        values = tomllib.loads(source)
    except (ValueError, RecursionError):
        from agentoml.config.diagnostics.syntax import recover

        values, readable, faults = recover(source)
    if deeper_than(DEEPEST, values):
        too_deep = Problem("AGT015", f"values are nested more than {DEEPEST} deep", line=1, column=1)
        return Document(source, readable, {}, faults, (too_deep,))
    return Document(source, readable, values, faults)


_short = lru_cache(maxsize=256)(_read)
_long = lru_cache(maxsize=16)(_read)


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
