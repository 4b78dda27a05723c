"""Paths of tool calls: where a written path is, globs over paths, and walking a directory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from agentoml.errors import ToolError

SKIPPED_DIRECTORIES = frozenset({".git"})


def absolute(path: str, cwd: str) -> str:
    """Return the absolute path: relative ones count from `cwd`, `~` is as written.

    What permissions judge and what is opened are both this path, so `..` is taken away by text alone.

    Raises:
        ToolError: no path can be written like this.
    """
    if not path or "\0" in path:
        raise ToolError("a path is empty or holds a NUL character")
    return os.path.normpath(Path(cwd, path))


def is_inside(path: str, roots: tuple[str, ...]) -> bool:
    """Tell whether the absolute path is one of the directories or beneath one."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def glob_regex(pattern: str) -> re.Pattern[str]:
    """Return the regex of a glob over a relative path: `*` and `?` stop at `/`, `**` does not.

    A pattern without `/` matches the last name at any depth.

    Raises:
        ToolError: it is no glob, as in "[z-a]".
    """
    anywhere = pattern if "/" in pattern else f"**/{pattern}"
    try:
        return re.compile("".join(_glob_pieces(anywhere.removeprefix("./"))) + r"\Z", re.DOTALL)
    except re.error as error:
        raise ToolError(f"{pattern} is no glob: {error}") from None


def _glob_pieces(pattern: str) -> Iterator[str]:
    for token in re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^\]/]+\]|.", pattern, re.DOTALL):
        if token == "**/":
            yield "(?:[^/]+/)*"
        elif token == "**":
            yield ".*"
        elif token == "*":
            yield "[^/]*"
        elif token == "?":
            yield "[^/]"
        elif len(token) > 1:
            negated = "^" if token[1] == "!" else ""
            yield f"[{negated}{re.escape(token[1 + len(negated) : -1]).replace(chr(92) + '-', '-')}]"
        else:
            yield re.escape(token)


def walk(top: str, depth: int | None) -> Iterator[tuple[str, bool]]:
    """Yield (path relative to `top`, whether it is a directory), sorted by name, `depth` levels deep.

    Symbolic links are not followed; what can't be read is left out; `.git` is skipped.
    """
    levels = [_entries(top, "")]
    while levels:
        entry = next(levels[-1], None)
        if entry is None:
            levels.pop()
            continue
        yield entry
        relative, is_directory = entry
        if is_directory and (depth is None or len(levels) < depth):
            levels.append(_entries(f"{top}/{relative}", relative + "/"))


def _entries(directory: str, prefix: str) -> Iterator[tuple[str, bool]]:
    try:
        with os.scandir(directory) as found:
            entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)
    except OSError:
        entries = []
    return iter([(prefix + name, folder) for name, folder in entries if not (folder and name in SKIPPED_DIRECTORIES)])
