"""What `extends` names beside presets and files: installed packages, and what was fetched and is pinned by digest.

Nothing is fetched here: `agentoml fetch` does that. What is on disk counts if it is what agentoml.lock says.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from agentoml.config.layering.directories import own_folder
from agentoml.config.layering.files import USUAL, configuration_file, content_of, real
from agentoml.config.problems import Problem, quoted

LOCK = "agentoml.lock"
"""What is meant of a package or of what was fetched where no file is named."""


class Source(NamedTuple):
    """Where something is fetched from, and the lock that pins it. `digest`: as pinned; `there`: it is on disk."""

    url: str
    lock: Path
    digest: str | None = None
    there: bool = False


class Found(NamedTuple):
    """The file that a target of `extends` stands for, what it is called, and the folder that its other files are in."""

    name: str
    file: Path
    root: Path


def in_package(named: str) -> Found | Problem:
    """Return the file of `package:NAME/FILE`, without importing anything; the working directory has no say."""
    name, _, rest = named.removeprefix("package:").partition("/")
    if not name.isidentifier():
        return Problem("AGT301", f"{quoted(name)} is no name of a Python package", hint="write package:NAME/FILE")
    from importlib.machinery import PathFinder

    here = os.path.realpath(".")
    spec = PathFinder.find_spec(name, [path for path in sys.path if path and os.path.realpath(path) != here])
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        return Problem("AGT301", f"there is no Python package {quoted(name)} here", hint=f"install it: {name}")
    return _within(Path(folders[0]), rest, f"package:{name}/")


def fetched(target: str, folder: Path, config: str) -> tuple[Source, Found | Problem]:
    """Return what a URL was fetched as, pinned by the lock in `folder`; a fragment names the file in it.

    `config` is what `agentoml fetch` is told to fetch it.
    """
    url, _, rest = target.partition("#")
    lock = folder / LOCK
    digest = pinned(lock).get(url)
    if digest is None:
        return Source(url, lock), _not_here(f"{url} has not been fetched", config)
    place = place_of(digest)
    found = tree_digest(place)
    if found is None:
        return Source(url, lock, digest), _not_here(f"{url} has not been fetched on this machine", config)
    if found != digest:
        return Source(url, lock, digest), _not_here(f"what was fetched from {url} is not what {LOCK} says", config)
    return Source(url, lock, digest, there=True), _within(place, rest, f"{url}#")


def _not_here(message: str, config: str) -> Problem:
    return Problem("AGT311", message, hint=f"`{f'agentoml fetch {config}'.strip()}` gets it")


def _within(folder: Path, rest: str, prefix: str) -> Found | Problem:
    file = configuration_file(folder / (rest or USUAL))
    if not real(file).is_relative_to(real(folder)):
        return Problem("AGT309", f"{quoted(rest)} lies elsewhere", hint="name a file in it")
    return Found(prefix + os.path.relpath(file, folder), file, folder)


def pinned(lock: Path) -> dict[str, str]:
    """Return url -> digest as a lock says; nothing where it can't be read."""
    content = content_of(lock)
    try:
        sources = tomllib.loads(content.decode())["sources"] if isinstance(content, bytes) else {}
        return {url: str(entry["digest"]) for url, entry in sources.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def place_of(digest: str) -> Path:
    """Return where what has this digest is kept."""
    return own_folder("cache") / "fetched" / hashlib.sha256(digest.encode("utf-8", "replace")).hexdigest()[:32]


def tree_digest(folder: Path) -> str | None:
    """Return the digest of all files of a folder, names and contents; None where it is not there."""
    try:
        files = sorted(file for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else []
        marks = [(file, (status := file.stat()).st_size, status.st_mtime_ns, status.st_ino) for file in files]
    except OSError:
        return None
    return _digest(folder, tuple(marks)) if marks else None


@lru_cache(maxsize=64)
def _digest(folder: Path, marks: tuple[tuple[Path, int, int, int], ...]) -> str | None:
    whole = hashlib.sha256()
    for file, *_ in marks:
        content = content_of(file)
        if isinstance(content, str):
            return None
        name = file.relative_to(folder).as_posix().encode("utf-8", "surrogateescape")
        whole.update(b"%d %b %b" % (len(name), name, hashlib.sha256(content).digest()))
    return f"sha256:{whole.hexdigest()}"
