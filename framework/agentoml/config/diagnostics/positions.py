"""Where every key and value of a TOML text stands: a scanner of our own, run only when something is reported.

It trusts the text to be TOML that tomllib accepts. Where it is not, it goes as far as it can and stops: what it
has found by then is right, and the last statement it began is the one that is broken.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentoml.config.problems import Path


class Span(NamedTuple):
    """A piece of the text: offsets, and the line and columns of its first line, which count from 1."""

    start: int
    end: int
    line: int
    column: int
    end_column: int


class Where(NamedTuple):
    """A key and its value. Items of lists have no key; tables that a header or a dotted key makes have no value."""

    key: Span | None
    value: Span | None


class Positions(NamedTuple):
    """What the scanner found: the first place of each path, later places of the same path, begun statements."""

    places: dict[Path, Where]
    repeated: tuple[tuple[Path, Where], ...]
    statements: tuple[Span, ...]
    whole: bool


def positions(source: str) -> Positions:
    """Return the places of all keys and values; never raises. `whole` is False where the text is broken."""
    scanner = _Scanner(source)
    try:
        scanner.scan()
        whole = True
    except (_Broken, RecursionError):
        whole = False
    return Positions(scanner.places, tuple(scanner.repeated), tuple(scanner.statements), whole)


class _Broken(Exception):
    """The text is not TOML from here on."""


_SPACE = re.compile(r"[ \t]*")
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    "|".join(
        (
            r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*""""{0,2}',
            r"'''(?:[^']|'(?!''))*''''{0,2}",
            r'"(?:[^"\\\n]|\\[^\n])*"',
            r"'[^'\n]*'",
        )
    )
)
_OTHER = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d[^\s,\]}#]*|[^\s,\[\]{}#=\"']+")

_Key = tuple[tuple[str, int, int], ...]


class _Scanner:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.places: dict[Path, Where] = {}
        self.repeated: list[tuple[Path, Where]] = []
        self.statements: list[Span] = []
        self._lists_of_tables: dict[Path, int] = {}
        self._line = 1
        self._line_start = 0

    def scan(self) -> None:
        table: Path = ()
        while True:
            self._skip(_TRIVIA)
            if self.at >= len(self.source):
                return
            begin = self.at
            self.statements.append(self._span(begin, begin + 1))
            if self.source.startswith("[[", begin):
                table = self._header(2)
            elif self.source[begin] == "[":
                table = self._header(1)
            else:
                self._pair(table)
            self._end_of_statement()

    def _header(self, brackets: int) -> Path:
        self.at += brackets
        key = self._key()
        self._expect("]" * brackets)
        path: Path = ()
        for index, (part, start, end) in enumerate(key):
            path += (part,)
            span = self._span(start, end)
            last = index == len(key) - 1
            if last and brackets == 1 and path in self.places:
                self.repeated.append((path, Where(span, None)))
            self.places.setdefault(path, Where(span, None))
            if last and brackets == 2:
                self._lists_of_tables[path] = self._lists_of_tables.get(path, -1) + 1
            if path in self._lists_of_tables:
                path += (self._lists_of_tables[path],)
                self.places.setdefault(path, Where(span, None))
        return path

    def _pair(self, table: Path) -> None:
        key = self._key()
        self._expect("=")
        self._skip(_SPACE)
        path = table
        for part, start, end in key[:-1]:
            path += (part,)
            self.places.setdefault(path, Where(self._span(start, end), None))
        name, start, end = key[-1]
        span = self._span(start, end)
        path += (name,)
        if path in self.places:
            self.repeated.append((path, Where(span, None)))
            path += ("",)  # what it holds must not blur what stands there first
        self.places[path] = Where(span, None)  # before its items, so that places are in the order of the text
        self.places[path] = Where(span, self._value(path))

    def _key(self) -> _Key:
        parts = []
        while True:
            self._skip(_SPACE)
            start = self.at
            match = _BARE_KEY.match(self.source, start) or _STRING.match(self.source, start)
            if match is None:
                raise _Broken
            self.at = match.end()
            parts.append((_unquoted(match.group()), start, self.at))
            self._skip(_SPACE)
            if not self.source.startswith(".", self.at):
                return tuple(parts)
            self.at += 1

    def _value(self, path: Path) -> Span:
        start = self.at
        first = self.source[start : start + 1]
        if first == "[":
            self._list(path)
        elif first == "{":
            self._inline_table(path)
        else:
            match = _STRING.match(self.source, start) or _OTHER.match(self.source, start)
            if match is None:
                raise _Broken
            self.at = match.end()
        return self._span(start, self.at)

    def _list(self, path: Path) -> None:
        self.at += 1
        index = 0
        while True:
            self._skip(_TRIVIA)
            if self.source.startswith("]", self.at):
                self.at += 1
                return
            item = (*path, index)
            self.places[item] = Where(None, None)
            self.places[item] = Where(None, self._value(item))
            index += 1
            self._skip(_TRIVIA)
            if self.source.startswith(",", self.at):
                self.at += 1
            elif not self.source.startswith("]", self.at):
                raise _Broken

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        self._skip(_SPACE)
        if self.source.startswith("}", self.at):
            self.at += 1
            return
        while True:
            self._pair(path)
            self._skip(_SPACE)
            if self.source.startswith("}", self.at):
                self.at += 1
                return
            self._expect(",")

    def _end_of_statement(self) -> None:
        self._skip(_SPACE)
        if self.at < len(self.source) and self.source[self.at] not in "#\r\n":
            raise _Broken

    def _expect(self, token: str) -> None:
        self._skip(_SPACE)
        if not self.source.startswith(token, self.at):
            raise _Broken
        self.at += len(token)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.source, self.at)
        if match is not None:
            self.at = match.end()

    def _span(self, start: int, end: int) -> Span:
        """Return the span; lines are counted onwards from the last one asked for, backwards only within a value."""
        if start < self._line_start:
            self._line -= self.source.count("\n", start, self._line_start)
        else:
            self._line += self.source.count("\n", self._line_start, start)
        self._line_start = self.source.rfind("\n", 0, start) + 1
        line_end = self.source.find("\n", start)
        last = end if line_end == -1 else min(end, line_end)
        return Span(start, end, self._line, start - self._line_start + 1, last - self._line_start + 1)


def _unquoted(part: str) -> str:
    if part[0] not in "\"'":
        return part
    if "\\" not in part:
        return part[1:-1]
    import tomllib

    try:
        text: str = tomllib.loads(f"key = {part}")["key"]
    except tomllib.TOMLDecodeError:
        raise _Broken from None
    return text
