"""A session's directory -> the project that it is in, and the configuration that lies there."""

from __future__ import annotations

import os
from pathlib import Path

from agentoml.config.layering.files import real

FILES = (".agentoml/agent.toml", "agent.toml")
"""Where a project may have its configuration; the first that is there counts."""


def project_root(cwd: Path) -> Path | None:
    """Return the nearest directory from `cwd` up to the top of its repository that has a configuration.

    Outside of a repository only `cwd` itself is looked at: what lies above it may be anybody's. `a/../b` is in `b`.
    """
    for directory in _within_repository(real(cwd) if ".." in cwd.parts else cwd):
        if project_file(directory) is not None:
            return directory
    return None


def project_file(root: Path) -> Path | None:
    """Return the configuration of a project, or None where it has none."""
    return next((root / name for name in FILES if os.path.lexists(root / name)), None)


def is_within(path: Path, root: Path) -> bool:
    """Return whether a file lies in a project, links followed."""
    return real(path).is_relative_to(real(root))


def _within_repository(cwd: Path) -> tuple[Path, ...]:
    above = (cwd, *cwd.parents)
    for index, directory in enumerate(above):
        if os.path.lexists(directory / ".git"):
            return above[: index + 1]
    return above[:1]
