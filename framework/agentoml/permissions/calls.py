"""A tool call as permissions see it, and the world it would touch."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen


@frozen
class Call:
    """What is to be judged.

    `paths` are those that the tool declares, as written (relative ones count from the session's cwd). `host` is that
    of the URL that is really asked for. `shadows`: the tool is of a client's own server that took the name of a
    declared one, so no rule or kind that allows speaks for it.
    """

    tool: str
    kind: str
    args: Mapping[str, Any]
    paths: tuple[str, ...] = ()
    host: str | None = None
    shadows: bool = False


@frozen
class World:
    """Where a session works, and how its file system is asked. `roots` are absolute; the cwd is one of them."""

    cwd: str
    roots: tuple[str, ...]
    home: str
    exists: Callable[[str], bool] = os.path.exists
    realpath: Callable[[str], str] = os.path.realpath
    case_sensitive: bool = True
