"""Words of a command line that name paths (E46), and the directories that a line goes to on its way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from attrs import frozen

from agentoml.permissions.calls import World
from agentoml.permissions.paths import Place, place
from agentoml.permissions.tables.readers import DIRECTORY_OPTIONS
from agentoml.permissions.words import GLOB, Word

MOST_DIRECTORIES = 12
MOST_ALTERNATIVES = 64
MOST_FILES = 1000
LONGEST_PATH = 4096

_KNOWN_VARIABLE = re.compile(r"\$(?:\{(HOME|PWD)\}|(HOME|PWD)\b)")
_SEPARATORS = re.compile(r"[=:]")


@frozen
class Directories:
    """Where the words of a line count from, the cwd first; `shell`: where the shell itself may be.

    `unknown`: the shell may be elsewhere, too.
    """

    shell: tuple[str, ...]
    programs: tuple[str, ...]
    unknown: bool = False


def directories(views: Iterable[Sequence[Word]], world: World) -> Directories:
    """Return the directories that the commands of a line go to (a literal `cd`) or work in (options like `-C`)."""
    shell, options, unknown = [world.cwd], [], False
    for words in views:
        if words and words[0].text in ("cd", "pushd", "chdir"):
            goal = _goal(words)
            unknown = unknown or goal is None or len(shell) > MOST_DIRECTORIES
            if goal is not None and len(shell) <= MOST_DIRECTORIES:
                shell += [path for path in _written(goal, world, tuple(shell)) if path not in shell]
        options += [value for option, value in pairwise(words) if option.text in DIRECTORY_OPTIONS]
    programs = list(shell)
    for value in options[:MOST_DIRECTORIES]:
        programs += [path for path in _written(value, world, tuple(programs)) if path not in programs]
    return Directories(tuple(shell), tuple(programs[: 2 * MOST_DIRECTORIES]), unknown)


def _goal(words: Sequence[Word]) -> Word | None:
    """Return where a `cd` goes, if that can be known."""
    operands = [word for word in words[1:] if not word.literal or not word.text.startswith("-") or word.text == "-"]
    if not operands:
        return Word("~", 1, active=(0,))
    return operands[0] if operands[0].text != "-" and not operands[0].hidden and not _is_glob(operands[0]) else None


def _written(word: Word, world: World, bases: tuple[str, ...]) -> list[str]:
    return [path for text in _texts(word, world) for path in place(text, world, bases, tilde=word.tilde).written]


def places_named(word: Word, world: World, bases: Sequence[str]) -> Iterator[Place]:
    """Yield the paths that a word may name: itself, what follows a `=`, what its globs find.

    It does if it begins with `/`, `~` or `.`, contains `/`, or names an existing file. Options do not, but what
    follows in them may.
    """
    for text in _texts(word, world):
        for piece in _pieces(text):
            if not piece or len(piece) > LONGEST_PATH:
                continue
            found = place(piece, world, bases, tilde=word.tilde and piece == text)
            if piece[0] in "/~." or "/" in piece or any(world.exists(path) for path in found.written):
                yield found


def target(word: Word, world: World, bases: Sequence[str]) -> Place | None:
    """Return the path of a redirection; None where it can't be known."""
    texts = _texts(word, world) if not word.hidden and not _is_glob(word) else ()
    return place(texts[0], world, bases, tilde=word.tilde) if len(texts) == 1 else None


def _pieces(text: str) -> Iterator[str]:
    """Yield what in a word may be a path: all of it, what follows each `=` and `:`, what is attached to an option."""
    starts = [0, *(found.end() for found in _SEPARATORS.finditer(text))]
    if text.startswith("-"):
        starts = [*starts[1:], *([2] if len(text) > 2 and text[1] != "-" else [])]
    for start in starts:
        yield text[start:].lstrip("@<")


def _texts(word: Word, world: World) -> tuple[str, ...]:
    """Return what a word becomes: itself, its alternatives, the files its globs find; nothing if that is unknown."""
    if word.literal:
        return (word.text,)
    if word.hidden:
        return ()
    text = _KNOWN_VARIABLE.sub(lambda found: world.home if "HOME" in found[0] else world.cwd, word.text)
    texts = _alternatives(text)[:MOST_ALTERNATIVES] if any(word.text[at] == "{" for at in word.active) else [text]
    if not _is_glob(word):
        return tuple(texts)
    if len(text) == len(word.text) and texts == [text]:
        texts = [
            "".join(f"[{char}]" if char in GLOB and at not in word.active else char for at, char in enumerate(text))
        ]
    patterns = (path for each in texts for path in place(each, world, tilde=word.tilde).written)
    return tuple(islice((path for pattern in patterns for path in world.expand(pattern)), MOST_FILES))


def _is_glob(word: Word) -> bool:
    return any(word.text[at] in GLOB for at in word.active)


def _alternatives(text: str) -> list[str]:
    """Return what a shell with braces makes of `a{b,c}`; numbers in a row are left as they are."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", text)
    if found is None:
        return [text]
    inner = [f"{text[: found.start()]}{part}{text[found.end() :]}" for part in found[1].split(",")]
    return [each for part in inner[:MOST_ALTERNATIVES] for each in _alternatives(part)][:MOST_ALTERNATIVES]
