"""Paths of tool calls: where a written path is, globs over paths, and walking a directory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from agentoml.errors import ToolError

SKIPPED_DIRECTORIES = frozenset({".git"})

GLOB_TOKEN = re.compile(r"(?:(?<=/)|\A)\*\*/|\*\*|\*|\?|\[!?[^\]/]+\]|.", re.DOTALL)
ACROSS = {"**/": "(?:[^/]++/)*?", "**": ".*?"}
"""What crosses `/`: any directories, or anything."""


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

    A pattern without `/` matches the last name at any depth. However many stars there are, a match takes moments: what
    stands between two of them is settled at the first place that fits, as nothing behind it could fit better later.

    Raises:
        ToolError: it is no glob, as in "[z-a]".
    """
    anywhere = pattern if "/" in pattern else f"**/{pattern}"
    *settled, last = _glob_parts(anywhere.removeprefix("./"))
    try:
        return re.compile("".join(f"(?>{part})" for part in settled) + last + r"\Z", re.DOTALL)
    except re.error as error:
        raise ToolError(f"{pattern} is no glob: {error}") from None


def _glob_parts(pattern: str) -> Iterator[str]:
    """Yield the regexes of a glob's parts: all but the first begin with a `**`."""
    pieces = [""]
    for token in GLOB_TOKEN.findall(pattern):
        if token in ACROSS:
            yield _glob_part(pieces)
            pieces = [ACROSS[token]]
        elif token == "*":
            pieces.append("[^/]*?")
        else:
            pieces[-1] += _one_character(token)
    yield _glob_part(pieces)


def _glob_part(pieces: list[str]) -> str:
    head, *starred = pieces
    return head + "".join(f"(?>{piece})" for piece in starred[:-1]) + "".join(starred[-1:])


def _one_character(token: str) -> str:
    if token == "?":
        return "[^/]"
    if len(token) == 1:
        return re.escape(token)
    negated = "^/" if token[1] == "!" else ""
    return f"[{negated}{re.escape(token[2 if negated else 1 : -1]).replace(chr(92) + '-', '-')}]"


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
