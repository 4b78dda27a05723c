"""What is handed on from file to configuration: texts as read, tables as parsed, one table as merged. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agentoml.config.problems import Problem

SCHEMA = 1
"""The version of the vocabulary that this program knows."""

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

    def may_have_key(self, key: bytes) -> bool:
        """Return whether a key may stand anywhere in it, written plainly or with escapes: most texts need no look."""
        return key in self.content or b"\\u" in self.content or b"\\U" in self.content


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


class Merged(NamedTuple):
    """All texts as one table. It is shared: never change it.

    Where `problems` has errors, the table lacks what is broken, and `structure` refuses it. `ceilings` are the texts
    with a `[policy]` that counts, each for itself: none is merged with anything.
    """

    table: Mapping[str, Any]
    tables: tuple[Table, ...]
    problems: tuple[Problem, ...]
    ceilings: tuple[Table, ...] = ()

    @property
    def everything(self) -> Mapping[str, Any]:
        """All that was said, the ceilings too: what is compared to tell whether anything changed."""
        return {**self.table, "policy": [table.values for table in self.ceilings]} if self.ceilings else self.table
