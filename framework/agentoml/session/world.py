"""The world that a session's calls are judged in: its directories, and how their file system is asked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from agentoml.permissions.calls import World


def world_of(cwd: str, roots: tuple[str, ...]) -> World:
    """Return where a session works. Relative paths count from its cwd, also where our own is another."""
    return World(
        cwd=cwd,
        roots=roots,
        home=str(Path.home()),
        exists=exists,
        realpath=realpath,
        case_sensitive=all(is_case_sensitive(root) for root in {cwd, *roots}),
        entries=entries,
    )


def exists(path: str) -> bool:
    """Return whether there is something at a path, be it a symlink to nothing."""
    try:
        return os.path.lexists(path)
    except ValueError:  # a NUL, or a lone surrogate: no file system has that
        return False


def realpath(path: str) -> str:
    """Return what is behind the symlinks of a path; of one that can't be, the path."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def entries(directory: str) -> Iterator[str]:
    """Yield the names in a directory, one by one; none where it can't be read."""
    try:
        with os.scandir(directory) as found:
            for entry in found:
                yield entry.name
    except (OSError, ValueError):
        return


@lru_cache(maxsize=256)
def is_case_sensitive(directory: str) -> bool:
    """Return whether letter case counts in a directory, as far as the names in it, or its own, can tell."""
    names = (name for name in entries(directory) if name.swapcase() != name)
    name = next(names, None)
    path = Path(directory) / name if name is not None else Path(directory)
    try:
        return not path.with_name(path.name.swapcase()).samefile(path)
    except (OSError, ValueError):
        return True
