"""Token counts as providers tell them: whatever is not a count is 0, for usage never makes an answer fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def count(table: Any, *names: str) -> int:
    """Return the first count under one of the names that is not 0."""
    if isinstance(table, Mapping):
        for name in names:
            value = table.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                return int(value)
    return 0
