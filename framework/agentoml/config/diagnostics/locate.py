"""Key paths -> places in the user's own texts. Runs only when something is reported; never shows a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from agentoml.config.diagnostics.positions import Positions, Span, positions
from agentoml.config.diagnostics.syntax import SECRET_KEY, Fault, may_hold_secret
from agentoml.config.documents import document
from agentoml.config.origins import origins
from agentoml.config.problems import Path, Problem, Related
from agentoml.config.texts import Merged, Text
from agentoml.errors import ConfigError


@contextmanager
def located(merged: Merged) -> Iterator[None]:
    """Give every problem that is raised within its place in the texts of `merged`."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(locate(error.problems, merged)) from None


def locate(problems: Iterable[Problem], merged: Merged) -> tuple[Problem, ...]:
    """Return the problems with file, line and column, in the order of the texts. Places already known stay."""
    order = {table.text.name: index for index, table in enumerate(merged.tables)}
    sources: dict[str, _Source] = {}
    found = [problem if problem.file else _locate(problem, merged, sources) for problem in problems]
    return tuple(sorted(found, key=lambda problem: (order.get(problem.file, -1), problem.line, problem.column)))


def place(problems: Sequence[Problem], text: Text) -> list[Problem]:
    """Return problems of one text alone with their places; their paths are paths of this text."""
    source = _source(text) if problems else None
    return [_placed(problem, text, problem.path, source) for problem in problems] if source else []


def place_fault(fault: Fault, text: Text) -> Problem:
    """Return a broken statement as a problem."""
    source = document(text.content).source
    line, column = _line_and_column(source, fault.start)
    related: tuple[Related, ...] = ()
    if fault.related:
        related = (Related(fault.related[0], (), text.name, *_line_and_column(source, fault.related[1])),)
    shown, width = _line_of(source, fault.start), max(1, fault.end - fault.start)
    return Problem(
        fault.code,
        fault.message,
        hint=fault.hint,
        file=text.name,
        line=line,
        column=column,
        end_column=min(column + width, len(shown) + 2),
        source_line=_hidden(shown) if may_hold_secret(source, fault.start) else shown,
        related=related,
    )


class _Source(NamedTuple):
    """One text scanned: where everything is, and the values that must not be shown."""

    text: str
    scanned: Positions
    secrets: tuple[Span, ...]


def _source(text: Text) -> _Source:
    found = document(text.content)
    scanned = positions(found.readable)
    secrets = tuple(
        where.value
        for path, where in scanned.places.items()
        if where.value and found.source[where.value.start] not in "{[" and is_secret(path)
    )
    return _Source(found.source, scanned, secrets)


def is_secret(path: Path) -> bool:
    """Return whether a text that stands here may be a secret, not the place of one."""
    names = [part for part in path if isinstance(part, str)]
    if names[-1] in {"env", "file", "command", "keyring"}:
        return False
    return bool(SECRET_KEY.search(names[-1])) or (len(names) > 1 and names[-2] in {"headers", "env"})


def _locate(problem: Problem, merged: Merged, sources: dict[str, _Source]) -> Problem:
    origin = next(iter(origins(merged, problem.path)), None)
    if origin is None:
        named = merged.tables[-1].text if merged.tables else None
        return problem._replace(file=named.name, line=1, column=1) if named else problem
    source = sources.get(origin.text.name) or sources.setdefault(origin.text.name, _source(origin.text))
    related = tuple(place if place.file else _related(place, merged, sources) for place in problem.related)
    return _placed(problem._replace(related=related), origin.text, origin.path, source)


def _related(place: Related, merged: Merged, sources: dict[str, _Source]) -> Related:
    found = _locate(Problem("", "", place.path, at="key"), merged, sources)
    return place._replace(file=found.file, line=found.line, column=found.column)


def _placed(problem: Problem, text: Text, path: Path, source: _Source) -> Problem:
    """Return the problem with the place of the longest part of the path that the text has."""
    spans = None
    for length in range(len(path), 0, -1):
        spans = source.scanned.places.get(path[:length])
        if spans is not None:
            break
    if spans is None:
        return problem._replace(file=text.name, line=1, column=1)
    exact = spans if length == len(path) else None
    span = (exact and problem.at == "value" and exact.value) or spans.key or spans.value
    if span is None:
        return problem._replace(file=text.name, line=1, column=1)
    shown = _line_of(source.text, span.start)
    return problem._replace(
        hint="" if _tells_secret(problem.hint, span, source) else problem.hint,
        file=text.name,
        line=span.line,
        column=span.column,
        end_column=max(span.end_column, span.column + 1),
        source_line=_masked(shown, span.start - span.column + 1, source.secrets),
    )


def _tells_secret(hint: str, span: Span, source: _Source) -> bool:
    inside = [secret for secret in source.secrets if span.start <= secret.start and secret.end <= span.end]
    return any(source.text[secret.start : secret.end].strip("\"'") in hint for secret in inside)


def _line_and_column(source: str, offset: int) -> tuple[int, int]:
    return source.count("\n", 0, offset) + 1, offset - (source.rfind("\n", 0, offset) + 1) + 1


def _line_of(source: str, offset: int) -> str:
    start = source.rfind("\n", 0, offset) + 1
    end = source.find("\n", start)
    return source[start : len(source) if end == -1 else end].rstrip("\r")


_USER_OF_URL = re.compile(r"(?<=://)[^/\s\"']+(?=@)")


def _masked(line: str, start: int, secrets: Sequence[Span]) -> str:
    """Return a line without secrets, as wide as it was. `start` is the offset of its first character."""
    chars = list(line)
    for secret in secrets:
        if secret.start < start + len(line) and secret.end > start:
            chars = _starred(chars, max(secret.start - start, 0), secret.end - start)
    return _USER_OF_URL.sub(lambda user: "*" * len(user.group()), "".join(chars))


def _hidden(line: str) -> str:
    """Return a broken line that may give a secret without all that follows its key."""
    begin = next((index for index, char in enumerate(line) if char in "=:"), -1) + 1
    return "".join(_starred(list(line), begin, len(line)))


def _starred(chars: list[str], start: int, end: int) -> list[str]:
    return ["*" if start <= index < end and char not in "\"' " else char for index, char in enumerate(chars)]
