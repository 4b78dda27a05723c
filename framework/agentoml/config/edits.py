"""`x.add` and `x.remove`: edits of a list that is inherited. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

EDITS = frozenset({"add", "remove"})


def is_edit(value: object) -> bool:
    """Tell whether this is `x.add = [...]`, `x.remove = [...]` or both."""
    return isinstance(value, dict) and bool(value) and value.keys() <= EDITS and _all_lists(value.values())


def _all_lists(values: Any) -> bool:
    return all(isinstance(value, list) for value in values)


def edited(below: Sequence[Any], edit: Mapping[str, Any]) -> list[Any]:
    """Return a list after an edit, everything in it once."""
    removed = edit.get("remove", ())
    kept = [item for item in (*below, *edit.get("add", ())) if item not in removed]
    return [item for index, item in enumerate(kept) if item not in kept[:index]]


def both_edits(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return one edit that does what the two do one after the other."""
    add = edited(below.get("add", []), {"add": above.get("add", []), "remove": above.get("remove", [])})
    remove = [item for item in below.get("remove", []) if item not in above.get("add", [])]
    remove = edited(remove, {"add": above.get("remove", [])})
    return {key: items for key, items in (("add", add), ("remove", remove)) if items}
