"""Files as configurations name them: their content, or in a few words why it can't be had. Never raises."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agentoml.config.problems import Problem, closest

USUAL = "agent.toml"
"""What the file of a configuration is called in its directory."""

LARGEST = 32 * 1024 * 1024


def absolute(name: str) -> Path:
    """Return a path that does not depend on the working directory; links stay links."""
    return Path(os.path.abspath(os.path.expanduser(name)))  # noqa: PTH100, PTH111 - these never fail


def beside(file: str, name: str) -> str:
    """Return what a file calls `name`: relative names count from the file that writes them (L9)."""
    return os.path.normpath(os.path.join(os.path.dirname(file), os.path.expanduser(name)))  # noqa: PTH111, PTH118, PTH120


def configuration_file(path: Path) -> Path:
    """Return the file of a configuration: of a directory its agent.toml."""
    return path / USUAL if os.path.isdir(path) else path  # noqa: PTH112 - never fails


def real(path: Path) -> Path:
    """Return the path behind all links; what can't be a path is returned as it is."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def content_of(path: Path) -> bytes | str:
    """Return the bytes of a file, or in a few words why they can't be had."""
    reason = unreadable(path)
    if reason:
        return reason
    try:
        return path.read_bytes()
    except OSError as error:
        return _reason(error)


def text_of(path: Path, name: str) -> str | Problem:
    """Return the text of a file that others name, or what is wrong with it."""
    content = content_of(path)
    if isinstance(content, str):
        return Problem("AGT306", f"{name} can't be read: {content}", hint=similar(path))
    try:
        return content.decode()
    except UnicodeDecodeError:
        return Problem("AGT306", f"{name} is not UTF-8 text", hint="save the file as UTF-8")


def unreadable(path: Path) -> str:
    """Return in a few words why a file can't be read, nothing where it can."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        return _reason(error)
    if stat.S_ISDIR(status.st_mode):
        return "it is a directory"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_size > LARGEST:
        return f"it has more than {LARGEST // 1024 // 1024} MiB"
    return ""


def similar(path: Path) -> str:
    """Return a hint for a file that is not there: the one beside it that has almost this name. A suffix that is left
    out or misspelt is .toml.
    """
    suffix = ".toml" if not path.suffix or closest(path.suffix, [".toml"]) else path.suffix
    try:
        neighbours = {file.stem: file.name for file in path.parent.iterdir() if file.suffix == suffix}
        nearest = None if os.path.lexists(path) else closest(path.stem, neighbours)
    except (OSError, ValueError):
        return ""
    return f"did you mean `{neighbours[nearest]}`?" if nearest else ""


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (error.strerror or type(error).__name__).lower() if isinstance(error, OSError) else "no such name"
