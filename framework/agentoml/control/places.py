"""Where the sockets of running agents are: in a directory that its user alone can enter, one socket a process."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agentoml.config.layering.files import configuration_file, real
from agentoml.config.layers import own_config

SUFFIX = ".sock"

LONGEST = 103
"""Bytes that the path of a socket may have on every system."""


class Place(NamedTuple):
    """A socket: whose it is, and the mark of the configuration that this process runs."""

    pid: int
    mark: str
    path: Path


def mark_of(config: str | Path | None) -> str:
    """Return what stands for a configuration in the name of a socket, by whatever path it is named."""
    return hashlib.blake2b(os.fsencode(file_of(config)), digest_size=6).hexdigest()


def file_of(config: str | Path | None) -> str:
    """Return the file behind a configuration: of a directory its agent.toml, of None the user's own."""
    return str(real(configuration_file(Path(config) if config is not None else own_config())))


def folders() -> tuple[Path, ...]:
    """Return the directories that sockets may be in, the preferred one first."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    preferred = (Path(runtime) / "agentoml",) if Path(runtime).is_absolute() else ()
    return (*preferred, Path("/tmp") / f"agentoml-{os.geteuid()}")  # `is_ours` is asked before it is used


def own_folder() -> Path:
    """Return the directory for the socket of this process, made where it is missing.

    Raises:
        OSError: none of them can be used: not writable, not ours, or its path too long for a socket.
    """
    problem: OSError | None = None
    for folder in folders():
        if len(os.fsencode(socket_in(folder, os.getpid(), None))) > LONGEST:
            continue
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not is_ours(folder):
                raise PermissionError(f"{folder} is not a directory that only you can enter")
            return folder
        except OSError as error:
            problem = error
    raise problem or OSError("every path is too long for a socket")


def is_ours(folder: Path) -> bool:
    """Return whether this is a directory (no link to one) of this user that nobody else can enter."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def socket_in(folder: Path, pid: int, config: str | Path | None) -> Path:
    """Return the path of the socket of a process that runs a configuration."""
    return folder / f"{pid}-{mark_of(config)}{SUFFIX}"


def sockets() -> Iterator[Place]:
    """Yield every socket, also of processes that are gone."""
    for folder in folders():
        if is_ours(folder):
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                pid, _, mark = path.stem.partition("-")
                if pid.isdecimal():
                    yield Place(int(pid), mark, path)
