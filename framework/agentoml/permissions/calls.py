"""A tool call as permissions see it, and the world it would touch."""

from __future__ import annotations

import os.path
import posixpath
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from attrs import frozen


@frozen
class Call:
    """What is to be judged.

    `paths` are those that the tool declares, as written (relative ones count from the session's cwd). `host` is that
    of the URL that is really asked for (`host_of`). `shadows`: the tool is of a client's own server that took the name
    of a declared one, so no rule or kind that allows speaks for it.
    """

    tool: str
    kind: str
    args: Mapping[str, Any]
    paths: tuple[str, ...] = ()
    host: str | None = None
    shadows: bool = False


def _nothing(directory: str) -> Iterable[str]:
    return ()


@frozen
class World:
    """Where a session works, and how its file system is asked.

    `roots` are absolute: the additional directories, with or without the cwd. `entries` gives the names in a directory,
    none where it can't be read, so that `cat .e*` can be judged; without it what a glob finds is not looked into.
    None of the three raises, whatever the path.
    """

    cwd: str
    roots: tuple[str, ...]
    home: str
    exists: Callable[[str], bool] = os.path.exists
    realpath: Callable[[str], str] = os.path.realpath
    case_sensitive: bool = True
    entries: Callable[[str], Iterable[str]] = _nothing

    @cached_property
    def all_roots(self) -> tuple[str, ...]:
        """The cwd and the additional directories, as written and behind symlinks, normalised."""
        written = dict.fromkeys((self.cwd, *self.roots))
        return tuple(dict.fromkeys(normal(path) for root in written for path in (root, self.realpath(root))))


def normal(path: str) -> str:
    """Return an absolute path without `.`, `..` and doubled slashes."""
    return posixpath.normpath("/" + path.lstrip("/"))


def host_of(url: str) -> str | None:
    """Return the host that a URL asks, in lower case; None where there is none to be sure of."""
    from urllib.parse import urlsplit

    if any(char.isspace() or char == "\\" or not char.isprintable() for char in url):
        return None
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
