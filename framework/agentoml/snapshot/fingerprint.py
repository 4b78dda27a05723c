"""What tells that a file changed: the truth behind the watcher's hints, by stat alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

YOUNG_SECONDS = 0.02
"""A file younger than this may still be being written."""


class Mark(NamedTuple):
    """One file at one moment. The real path is part of it: a symlink swap may keep every other figure."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int
    real_path: str


Fingerprint = dict[Path, Mark | None]
"""Each file and its mark; None where there is no such file."""


def fingerprint(files: Iterable[Path]) -> Fingerprint:
    """Return the marks of `files`, which need not exist."""
    return {file: _mark(file) for file in files}


def settles_in(marks: Fingerprint) -> float:
    """Return the seconds until the youngest file is so old that its writer is taken to be done; 0 if all are."""
    now = time.time_ns()
    ages = ((now - mark.modified_ns) / 1e9 for mark in marks.values() if mark is not None)
    return max((YOUNG_SECONDS - age for age in ages if 0 <= age < YOUNG_SECONDS), default=0.0)


def _mark(file: Path) -> Mark | None:
    try:
        found = file.stat()
        real_path = os.path.realpath(file)
    except (OSError, ValueError):
        return None
    return Mark(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, real_path)
