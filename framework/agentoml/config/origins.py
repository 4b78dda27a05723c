"""Key path -> the texts that say something about it. Nothing is recorded while merging: it is worked out when asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentoml.config.edits import is_edit
from agentoml.config.problems import Path
from agentoml.config.texts import Merged, Text


class Origin(NamedTuple):
    """One text that says something about a key, and the key path there."""

    text: Text
    path: Path


def origins(merged: Merged, path: Path) -> tuple[Origin, ...]:
    """Return who says something about a key path: the winner, then the losers, strongest first.

    Where no text has the whole path, those are returned that have the longest part of it: the table in which a key
    is missing, the list that an item came from.
    """
    for length in range(len(path), 0, -1):
        found = tuple(_origins(merged, path[:length]))
        if found:
            return found
    return ()


def _origins(merged: Merged, path: Path) -> Iterator[Origin]:
    for table in reversed(merged.tables):
        found, final = _lookup(table.values, path, merged.table)
        if found is not None:
            yield Origin(table.text, found)
        if final:
            return


def _lookup(values: Mapping[str, Any], path: Path, merged: Mapping[str, Any]) -> tuple[Path | None, bool]:
    """Return the path of this key in one text, and whether nothing beneath this text counts any more."""
    here: Any = values
    whole: Any = merged
    found: Path = ()
    for part in path:
        whole = _child(whole, part)
        if isinstance(part, int):
            place = _item(here, whole)
            if place is None:
                return None, False
            found += place
            here = whole
        elif isinstance(here, dict) and part in here:
            found += (part,)
            here = here[part]
            if isinstance(here, dict) and here.get("remove") is True:
                return None, True
        else:
            return None, not isinstance(here, dict)
    return found, False


def _child(value: Any, part: str | int) -> Any:
    if isinstance(part, int):
        return value[part] if isinstance(value, list) and part < len(value) else None
    return value.get(part) if isinstance(value, dict) else None


def _item(here: Any, item: Any) -> Path | None:
    """Return where a list, or an edit of it, has the item."""
    if isinstance(here, list):
        return (here.index(item),) if item in here else None
    if is_edit(here) and item in here.get("add", ()):
        return ("add", here["add"].index(item))
    return () if isinstance(here, str) and here == item else None
