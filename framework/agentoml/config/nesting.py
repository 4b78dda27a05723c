"""How deep tables and lists lie in one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def deeper_than(levels: int, values: Mapping[str, Any]) -> bool:
    """Tell whether tables and lists are nested more than so many levels deep."""
    inner: list[Any] = [values]
    for _ in range(levels):
        inner = [
            item
            for outer in inner
            for item in (outer.values() if type(outer) is dict else outer)
            if type(item) is dict or type(item) is list
        ]
        if not inner:
            return False
    return True
