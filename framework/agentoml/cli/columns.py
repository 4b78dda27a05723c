"""Rows -> lines of text in columns, as wide as what stands in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

GAP = "  "


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> str:
    """Return a head and rows of as many texts each, aligned; the columns in `right` at their right side.

    Columns in which nothing stands are left out.
    """
    lines = [list(head), *([_printable(text) for text in row] for row in rows)]
    kept = [column for column in range(len(head)) if any(line[column] for line in lines[1:])]
    widths = {column: max(_width(line[column]) for line in lines) for column in kept}
    return "\n".join(
        GAP.join(_padded(line[column], widths[column], right=column in right) for column in kept).rstrip()
        for line in lines
    )


def _padded(text: str, width: int, *, right: bool) -> str:
    room = " " * (width - _width(text))
    return room + text if right else text + room


def _width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    seen = (char for char in text if not unicodedata.combining(char))
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in seen)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
