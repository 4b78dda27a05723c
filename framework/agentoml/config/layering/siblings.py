"""Files that are extended side by side and disagree, with nothing above them that decides (L7). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentoml.config.edits import is_edit
from agentoml.config.origins import Origin, origins
from agentoml.config.problems import Path, Problem, Related, shown
from agentoml.config.texts import Merged, Text


def disagreements(merged: Merged) -> Iterator[Problem]:
    """Yield a warning for each key that two siblings set to different values, where one of them wins."""
    if any(len(set(_entries(merged, table.text))) > 1 for table in merged.tables):
        values = {table.text.name: table.values for table in merged.tables}
        for path, value in _leaves(merged.table):
            won, *lost = origins(merged, path)
            for other in lost:
                if _are_siblings(won.text, other.text) and _value(values, other) != value:
                    yield Problem(
                        "AGT351",
                        f"{won.text.name} and {other.text.name} disagree about {shown(str(path[-1]))}: the later wins",
                        path,
                        hint="write it in the file that extends both",
                        severity="warning",
                        related=(Related("the other value", path, *_place(other)),),
                    )


def _entries(merged: Merged, parent: Text) -> Iterator[int]:
    for table in merged.tables:
        yield from (entry for name, entry in table.text.lineage if name == parent.name)


def _leaves(table: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for key, value in table.items():
        if not isinstance(value, dict):
            yield (*path, key), value
        elif not is_edit(value):
            yield from _leaves(value, (*path, key))


def _are_siblings(one: Text, other: Text) -> bool:
    """Return whether two texts come from different entries of one `extends`."""
    for mine, theirs in zip(one.lineage, other.lineage, strict=False):
        if mine != theirs:
            return one.layer == other.layer and mine[0] == theirs[0]
    return False


def _value(values: Mapping[str, Any], origin: Origin) -> Any:
    found: Any = values[origin.text.name]
    for part in origin.path:
        found = found[part]
    return found


def _place(origin: Origin) -> tuple[str, int, int]:
    from agentoml.config.diagnostics.locate import place

    (found,) = place([Problem("", "", origin.path, at="key")], origin.text)
    return found.file, found.line, found.column
