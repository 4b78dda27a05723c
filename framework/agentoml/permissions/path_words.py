"""Words of a command line that name paths (E46), and the directories that a line goes to on its way."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from attrs import frozen

from agentoml.permissions.calls import World
from agentoml.permissions.expansions import Expanded, expand, is_glob
from agentoml.permissions.paths import Place, place
from agentoml.permissions.tables.readers import DIRECTORY_OPTIONS
from agentoml.permissions.words import Word

MOST_DIRECTORIES = 12
LONGEST_PATH = 4096
SOMEWHERE = "/\N{HORIZONTAL ELLIPSIS}"
"""Stands for a directory that can't be known: only patterns that match anywhere (`**/x`) speak about what is in it."""

_SEPARATORS = re.compile(r"[=:]")
_MOVES = re.compile(r"(?:HOME|PWD|OLDPWD|CDPATH)(?:\+?=|\Z)")
_GLOB_OPTIONS = re.compile(r"GLOBIGNORE(?:\+?=|\Z)|(?:dot|nocase|ext|null|fail)glob\Z|globstar\Z|globskipdots\Z")


@frozen
class Directories:
    """Where the words of a line count from, the cwd first; `shell`: where the shell itself may be.

    `unknown`: the shell may be elsewhere, too. `plain_globs`: no option of the shell makes globs find more.
    """

    shell: tuple[str, ...]
    programs: tuple[str, ...]
    unknown: bool = False
    plain_globs: bool = True

    def expand(self, word: Word, world: World) -> Expanded:
        """Return what a word of a program may become."""
        return expand(word, world, self.programs, plain_globs=self.plain_globs)


def directories(views: Sequence[Sequence[Word]], world: World) -> Directories:
    """Return the directories that the commands of a line go to (a literal `cd`) or work in (options like `-C`)."""
    shell, options, unknown = [world.cwd], [], False
    for words in views:
        unknown = unknown or any(_MOVES.match(word.text) for word in words)
        if words and words[0].text in ("cd", "pushd", "popd", "chdir"):
            goal = _goal(words)
            unknown = unknown or goal is None or len(shell) > MOST_DIRECTORIES
            if goal is not None and len(shell) <= MOST_DIRECTORIES:
                shell += [path for path in _written(goal, world, tuple(shell)) if path not in shell]
        options += [value for option, value in pairwise(words) if option.text in DIRECTORY_OPTIONS]
    programs = list(shell)
    for value in options[:MOST_DIRECTORIES]:
        programs += [path for path in _written(value, world, tuple(programs)) if path not in programs]
    plain_globs = not any(_GLOB_OPTIONS.match(word.text) for words in views for word in words)
    return Directories(tuple(shell), tuple(programs[: 2 * MOST_DIRECTORIES]), unknown, plain_globs)


def _goal(words: Sequence[Word]) -> Word | None:
    """Return where a `cd` goes, if that can be known."""
    operands = [word for word in words[1:] if not word.literal or not word.text.startswith("-") or word.text == "-"]
    if not operands:
        return Word("~", 1, active=(0,)) if words[0].text in ("cd", "chdir") else None
    goal = operands[0]
    return None if goal.text in ("-", "~-") or goal.hidden or is_glob(goal) else goal


def _written(word: Word, world: World, bases: tuple[str, ...]) -> list[str]:
    texts = expand(word, world, bases).texts
    return [path for text in texts for path in place(text, world, bases, tilde=word.tilde).written]


def places_named(word: Word, texts: Iterable[str], world: World, where: Directories) -> Iterator[Place]:
    """Yield the paths that a word, which becomes `texts`, may name: itself, what follows a `=`, what its globs find.

    It does if it begins with `/`, `~` or `.`, contains `/`, or names an existing file. Options do not, but what
    follows in them may.
    """
    for text in texts:
        for piece in _pieces(text):
            if not piece or len(piece) > LONGEST_PATH:
                continue
            found = place(piece, world, where.programs, tilde=word.tilde and piece == text)
            if piece[0] in "/~." or "/" in piece or any(world.exists(path) for path in found.written):
                yield found
            if where.unknown and piece[0] != "/":
                yield Place((posixpath.normpath(f"{SOMEWHERE}/{piece}"),), ())


def target(word: Word, world: World, where: Directories) -> Place | None:
    """Return the path of a redirection; None where it can't be known."""
    texts = expand(word, world, where.shell).texts if not word.hidden and not is_glob(word) else ()
    return place(texts[0], world, where.shell, tilde=word.tilde) if len(texts) == 1 else None


def _pieces(text: str) -> Iterator[str]:
    """Yield what in a word may be a path: all of it, what follows each `=` and `:`, what is attached to an option."""
    starts = [0, *(found.end() for found in _SEPARATORS.finditer(text))]
    if text.startswith("-"):
        starts = [*starts[1:], *([2] if len(text) > 2 and text[1] != "-" else [])]
    for start in starts:
        yield text[start:].lstrip("@<")
