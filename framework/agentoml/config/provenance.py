"""Each leaf of the merged table, with everybody who said something about it (L10). Secrets are masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agentoml.config.diagnostics.locate import is_secret, place
from agentoml.config.origins import Origin, origins
from agentoml.config.problems import Path, Problem
from agentoml.config.texts import Layer, Merged, Text

MASK = "(not shown)"


class Said(NamedTuple):
    """What one text says about a key, and where. A value that nobody wrote there is None."""

    layer: Layer
    file: str
    line: int
    column: int
    value: Any


class Leaf(NamedTuple):
    """One key of the effective configuration: the value that is in force, and who said something, the winner first."""

    path: Path
    value: Any
    said: tuple[Said, ...]


def provenance(merged: Merged, under: Path = ()) -> list[Leaf]:
    """Return the leaves of the effective configuration that lie at or under a key, in order."""
    wanted = ((path, value) for path, value in leaves(merged.table) if path[: len(under)] == under)
    found = [(path, value, origins(merged, path)) for path, value in wanted]
    places = _places(origin for _, _, said in found for origin in said)
    values = {table.text.name: table.values for table in merged.tables}
    return [
        Leaf(path, _masked(path, value), tuple(_said(one, path, values[one.text.name], places) for one in said))
        for path, value, said in found
    ]


def leaves(table: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield what is no table itself, and tables without anything in them, each with its key path."""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _said(origin: Origin, path: Path, values: Mapping[str, Any], places: Mapping[Any, tuple[int, int]]) -> Said:
    value: Any = values
    for part in origin.path:
        value = value[part]
    return Said(origin.text.layer, origin.text.name, *places[origin.text.name, origin.path], _masked(path, value))


def _places(wanted: Iterable[Origin]) -> dict[tuple[str, Path], tuple[int, int]]:
    """Return line and column of each origin, all of a text at once."""
    by_text: dict[str, dict[Path, Text]] = {}
    for origin in wanted:
        by_text.setdefault(origin.text.name, {})[origin.path] = origin.text
    found = {}
    for name, here in by_text.items():
        problems = place([Problem("", "", path, at="key") for path in here], next(iter(here.values())))
        found.update({(name, path): (one.line, one.column) for path, one in zip(here, problems, strict=True)})
    return found


def _masked(path: Path, value: Any) -> Any:
    """Return a value without what may be a secret."""
    if isinstance(value, str):
        user = value.partition("://")[2].partition("/")[0]
        return MASK if is_secret(path) or "@" in user else value
    if isinstance(value, list):
        return [_masked(path, item) for item in value]
    if isinstance(value, dict):
        return {key: _masked((*path, key), inner) for key, inner in value.items()}
    return value
