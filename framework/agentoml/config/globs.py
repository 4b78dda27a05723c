"""Globs over names: `*` is any text, also with `/` in it, `?` is one character, and everything else is itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

EXCLUDES = "!"
"""What a pattern begins with that takes away instead of choosing."""


def matches(glob: str, text: str, *, ignore_case: bool = False) -> bool:
    """Return whether the whole text is what one glob describes."""
    return _compiled(glob, ignore_case).fullmatch(text) is not None


def selects(patterns: Sequence[str], text: str, *, ignore_case: bool = False) -> bool:
    """Return whether a list of globs selects the text: one that chooses matches, and no `!` does.

    A list of exclusions alone starts from everything; an empty list selects nothing.
    """
    chosen, excluded = divided(patterns)
    if not any(matches(glob, text, ignore_case=ignore_case) for glob in chosen):
        return False
    return not any(matches(glob, text, ignore_case=ignore_case) for glob in excluded)


def divided(patterns: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the globs that choose and, without their `!`, those that exclude; exclusions alone choose `*` first."""
    chosen = tuple(pattern for pattern in patterns if not pattern.startswith(EXCLUDES))
    excluded = tuple(pattern[len(EXCLUDES) :] for pattern in patterns if pattern.startswith(EXCLUDES))
    return (chosen or ("*",) if patterns else (), excluded)


@lru_cache(maxsize=4096)
def _compiled(glob: str, ignore_case: bool) -> re.Pattern[str]:
    pieces = (".*" if char == "*" else "." if char == "?" else re.escape(char) for char in re.sub(r"\*+", "*", glob))
    return re.compile("".join(pieces), re.DOTALL | (re.IGNORECASE if ignore_case else 0))
