"""Paths and the patterns of rules on them (E47, E48): as written and behind symlinks, inside the roots or not."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from attrs import frozen

from agentoml.config.globs import divided
from agentoml.permissions.calls import World, normal


@frozen
class Place:
    """One path that a call touches: absolute and normalised, every way to look at it.

    `written` are the readings of it as it is written (one, but where a `cd` may have moved the shell), `real` what is
    behind the symlinks of each.
    """

    written: tuple[str, ...]
    real: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.written, *self.real)


def place(path: str, world: World, bases: Sequence[str] = (), *, tilde: bool = False) -> Place:
    """Return where a path is. `bases`: where relative ones count from, by default the cwd.

    `tilde`: a shell replaces its leading `~`; else some programs do and others do not, so both readings count.
    """
    starts = [] if tilde and path.startswith("~") else [posixpath.join(base, path) for base in bases or (world.cwd,)]
    if path.startswith("~"):
        starts.append(_home(path, world))
    written = tuple(dict.fromkeys(normal(start) for start in starts))
    return Place(written, tuple(dict.fromkeys(normal(world.realpath(start)) for start in starts)))


def _home(path: str, world: World) -> str:
    """Return what a shell makes of a leading `~` or `~user`."""
    user, _, rest = path[1:].partition("/")
    home = posixpath.join(posixpath.dirname(world.home), user) if user else world.home
    return posixpath.join(home, rest)


def is_inside(place: Place, world: World) -> bool:
    """Return whether a place is within the session's roots, whichever way one looks at it."""
    roots = [_folded(root, world.case_sensitive) for root in world.all_roots]
    return all(
        any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
        for path in (_folded(path, world.case_sensitive) for path in place.all)
    )


def _folded(path: str, case_sensitive: bool) -> str:
    return path if case_sensitive else unicodedata.normalize("NFC", path).casefold()


# ------------------------------------------------------------------------------------------------- patterns


def touches(patterns: Sequence[str], places: Iterable[Place], world: World) -> bool:
    """Return whether a strict rule speaks: any path of the call, as written or behind symlinks, is one of these.

    `a/**` is also `a` itself: whoever removes it removes what is in it.
    """
    return any(_selected(patterns, path, world, strict=True) for place in places for path in place.all)


def holds(patterns: Sequence[str], places: Sequence[Place], world: World) -> bool:
    """Return whether a rule that allows speaks: all paths of the call, as written and behind symlinks, are these."""
    return bool(places) and all(
        _selected(patterns, path, world, strict=False) for place in places for path in place.all
    )


def only_excludes(patterns: Sequence[str]) -> bool:
    """Return whether a list of patterns consists of exclusions alone."""
    return all(pattern.startswith("!") for pattern in patterns)


def _selected(patterns: Sequence[str], path: str, world: World, *, strict: bool) -> bool:
    chosen, excluded = divided(patterns)
    folded = _folded(path, world.case_sensitive)

    def found(pattern: str, *, itself: bool) -> bool:
        regex = _regex(pattern, world.all_roots, world.home, itself, world.case_sensitive)
        return regex.fullmatch(folded) is not None

    positive = only_excludes(patterns) or any(found(pattern, itself=strict) for pattern in chosen)
    return positive and bool(patterns) and not any(found(pattern, itself=not strict) for pattern in excluded)


@lru_cache(maxsize=1024)
def _regex(pattern: str, roots: tuple[str, ...], home: str, itself: bool, case_sensitive: bool) -> re.Pattern[str]:
    """Return what a pattern means, as a regular expression over absolute paths. `itself`: `a/**` is also `a`."""
    pattern = _folded(pattern, case_sensitive)
    if pattern.endswith("/"):
        pattern += "**"
    if pattern.startswith("**/"):
        starts = [("/", pattern)]
    elif pattern.startswith("/"):
        starts = [("/", normal(pattern))]
    elif pattern == "~" or pattern.startswith("~/"):
        starts = [(home, posixpath.normpath(pattern[2:]))]
    else:
        starts = [(root, posixpath.normpath(pattern)) for root in roots]
    wholes = (_below(_folded(start, case_sensitive), relative, itself) for start, relative in starts)
    return re.compile("|".join(wholes), re.DOTALL)


def _below(start: str, relative: str, itself: bool) -> str:
    """Return the regular expression of a pattern that counts from a directory."""
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    while parts[:1] == [".."]:
        start, parts = posixpath.dirname(start), parts[1:]
    regex = re.escape(start.rstrip("/"))
    for number, part in enumerate(parts):
        if part != "**":
            regex += "/" + "".join(_character(char) for char in part)
        elif number < len(parts) - 1:
            regex += "(?:/[^/]+)*"
        else:
            regex += "(?:/.*)?" if itself else "/.+"
    return regex or "/"


def _character(char: str) -> str:
    return "[^/]*" if char == "*" else "[^/]" if char == "?" else re.escape(char)
