"""Names and globs with a meaning each: which of those that match a name counts (E29)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from agentoml.config.globs import EXCLUDES, matches

Meaning = TypeVar("Meaning")


def is_glob(text: str) -> bool:
    """Return whether a text is a pattern and not simply a name."""
    return "*" in text or "?" in text or text.startswith(EXCLUDES)


def most_specific(rules: Iterable[tuple[str, Meaning]], name: str) -> Meaning | None:
    """Return the meaning of the rule that counts for a name, None where none matches.

    An exact name beats a glob, a longer glob a shorter one, then the later one (E29).
    """
    best = (-1, 0)
    found: Meaning | None = None
    for pattern, meaning in rules:
        if pattern == name:
            rank = (1, 0)
        elif is_glob(pattern) and matches(pattern, name):
            rank = (0, len(pattern))
        else:
            continue
        if rank >= best:
            best, found = rank, meaning
    return found
