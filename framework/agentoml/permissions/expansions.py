"""What a shell makes of a word that names files: braces, globs, a tilde, `$HOME` and `$PWD` (E46).

Where shells differ, or a file system is too large to look at, more is found rather than less, or it is said that not
all of it is known.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from attrs import define, frozen

from agentoml.permissions.calls import World
from agentoml.permissions.words import GLOB, Word

MOST_ALTERNATIVES = 64
MOST_FILES = 1_000
MOST_ENTRIES = 5_000

_KNOWN_VARIABLE = re.compile(r"\$(?:\{(HOME|PWD)\}|(HOME|PWD)\b)")
_ANSI_QUOTED = re.compile(r"\$'([^']*)'")
_ESCAPE = re.compile(
    r"\\(?:x(?P<hexadecimal>[0-9A-Fa-f]{1,2})|u(?P<four>[0-9A-Fa-f]{1,4})|U(?P<eight>[0-9A-Fa-f]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|(?P<char>.))",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"} | {
    char: char for char in "\\'\"?"
}
_SEQUENCE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")

Glyphs = tuple[tuple[str, bool], ...]
"""A text, character by character: whether it stands unquoted, so that a shell may read more in it."""


@frozen
class Expanded:
    """The texts that a word may become: as written, and the files that its globs find. `whole`: these are all."""

    texts: tuple[str, ...] = ()
    whole: bool = True


def expand(word: Word, world: World, bases: Sequence[str], *, plain_globs: bool = True) -> Expanded:
    """Return what a word may become. `bases`: where relative globs count from.

    `plain_globs`: no option of the shell makes its globs find more. A word with an expansion that can't be known
    becomes nothing: rules on paths do not speak about it.
    """
    text = word.text if not word.hidden else _ANSI_QUOTED.sub(_unescaped, word.text)
    if word.hidden and (text == word.text or any(char in text for char in "$`")):
        return Expanded()
    if word.literal or word.hidden:
        return Expanded((text,), whole=not is_glob(word))
    expansion = _Expansion(world, plain_globs)
    texts = [found for base in bases for found in expansion.texts(_glyphs(word, world, base), base)]
    return Expanded(tuple(dict.fromkeys(texts)), expansion.whole)


def is_glob(word: Word) -> bool:
    """Return whether a word has an unquoted glob."""
    return any(word.text[at] in GLOB for at in word.active)


def _unescaped(quoted: re.Match[str]) -> str:
    """Return what `$'...'` stands for."""
    return _ESCAPE.sub(_escaped, quoted[1])


def _escaped(found: re.Match[str]) -> str:
    digits = found["hexadecimal"] or found["four"] or found["eight"]
    if digits or found["octal"]:
        code = int(digits, 16) if digits else int(found["octal"], 8) & 0xFF
        return chr(code) if code <= sys.maxunicode else found[0]
    return _ESCAPES.get(found["char"], found[0])


def _glyphs(word: Word, world: World, base: str) -> Glyphs:
    """Return a word character by character, with the known variables replaced."""
    glyphs: list[tuple[str, bool]] = []
    at = 0
    for found in _KNOWN_VARIABLE.finditer(word.text):
        glyphs += ((word.text[place], place in word.active) for place in range(at, found.start()))
        glyphs += ((char, False) for char in (world.home if "HOME" in found[0] else base))
        at = found.end()
    glyphs += ((word.text[place], place in word.active) for place in range(at, len(word.text)))
    return tuple(glyphs)


@define
class _Expansion:
    """The expansion of one word, within bounds."""

    world: World
    plain_globs: bool
    whole: bool = True
    entries: int = 0

    def texts(self, glyphs: Glyphs, base: str) -> Iterator[str]:
        alternatives = list(islice(_alternatives(glyphs), MOST_ALTERNATIVES + 1))
        self.whole = self.whole and len(alternatives) <= MOST_ALTERNATIVES
        for alternative in alternatives[:MOST_ALTERNATIVES]:
            yield _text(alternative)
            if _has_glob(alternative):
                self.whole = self.whole and self.plain_globs
                found = list(islice(self._files(alternative, base), MOST_FILES + 1))
                self.whole = self.whole and len(found) <= MOST_FILES
                yield from found[:MOST_FILES]

    def _files(self, glyphs: Glyphs, base: str) -> Iterator[str]:
        start = base
        if glyphs[:1] == (("~", True),):
            first = _text(glyphs).partition("/")[0]
            start, glyphs = (self.world.home, glyphs[1:]) if first == "~" else ("/", glyphs[len(first) :])
        elif glyphs[:1] == (("/", False),):
            start = "/"
        yield from self._below(start, _components(glyphs))

    def _below(self, folder: str, components: Sequence[Glyphs]) -> Iterator[str]:
        """Yield the paths beneath a folder that a glob finds. That what has no glob in it is there is not checked."""
        while components and not _has_glob(components[0]):
            folder, components = posixpath.join(folder, _text(components[0])), components[1:]
        if not components:
            yield folder
            return
        regex = _regex(components[0], self.world.case_sensitive)
        dotted = components[0][0][0] == "."
        for name in self.world.entries(folder):
            self.entries += 1
            if self.entries > MOST_ENTRIES:
                self.whole = False
                return
            if (dotted or not name.startswith(".")) and regex.fullmatch(name):
                yield from self._below(posixpath.join(folder, name), components[1:])


def _text(glyphs: Glyphs) -> str:
    return "".join(char for char, _ in glyphs)


def _has_glob(glyphs: Glyphs) -> bool:
    return any(active and char in GLOB for char, active in glyphs)


def _components(glyphs: Glyphs) -> list[Glyphs]:
    """Return what stands between slashes, without what is empty."""
    found: list[list[tuple[str, bool]]] = [[]]
    for char, active in glyphs:
        if char == "/":
            found.append([])
        else:
            found[-1].append((char, active))
    return [tuple(component) for component in found if component]


# ------------------------------------------------------------------------------------------------- globs


def _regex(component: Glyphs, case_sensitive: bool) -> re.Pattern[str]:
    """Return what a glob matches. A bracket matches any one character, unless it is a plain list of letters."""
    regex, at = "", 0
    while at < len(component):
        char, active = component[at]
        end = _end_of_bracket(component, at) if active and char == "[" else None
        if end is not None:
            inner = _text(component[at + 1 : end])
            regex += f"[{inner}]" if inner.isascii() and inner.isalnum() else "."
            at = end
        elif active and char in "*?":
            regex += ".*" if char == "*" else "."
        else:
            regex += re.escape(char)
        at += 1
    return re.compile(regex, re.DOTALL | (0 if case_sensitive else re.IGNORECASE))


def _end_of_bracket(component: Glyphs, begin: int) -> int | None:
    """Return where the bracket that opens here closes; None: it is a character like others."""
    at = begin + 1
    if component[at : at + 1] and component[at][0] in "!^":
        at += 1
    first = at
    while at < len(component):
        char, active = component[at]
        if char == "]" and active and at > first:
            return at
        follows = component[at + 1][0] if at + 1 < len(component) else ""
        if char == "[" and follows and follows in ":=.":
            close = next((end for end in range(at + 2, len(component) - 1) if _ends_class(component, end, follows)), at)
            at = close + 1 if close > at else at
        at += 1
    return None


def _ends_class(component: Glyphs, at: int, mark: str) -> bool:
    return component[at][0] == mark and component[at + 1][0] == "]"


# ------------------------------------------------------------------------------------------------- braces


def _alternatives(glyphs: Glyphs, begin: int = 0) -> Iterator[Glyphs]:
    """Yield what braces make of a word: `a{b,c}`, `a{1..3}`. A brace without a comma is a character like others."""
    for at in range(begin, len(glyphs)):
        if glyphs[at] != ("{", True):
            continue
        end, commas = _closing(glyphs, at)
        if end is None:
            continue
        inner = _sequence(glyphs[at + 1 : end]) if not commas else _divided(glyphs, at, end, commas)
        if inner is None:
            continue
        for part in inner:
            for first in _alternatives(part):
                for rest in _alternatives(glyphs[end + 1 :]):
                    yield (*glyphs[:at], *first, *rest)
        return
    yield glyphs


def _closing(glyphs: Glyphs, begin: int) -> tuple[int | None, list[int]]:
    """Return where the brace that opens here closes, and where its own commas are."""
    depth, commas = 0, []
    for at in range(begin, len(glyphs)):
        char, active = glyphs[at]
        if not active:
            continue
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 1:
            commas.append(at)
        if depth == 0:
            return at, commas
    return None, commas


def _divided(glyphs: Glyphs, begin: int, end: int, commas: list[int]) -> list[Glyphs]:
    edges = [begin, *commas, end]
    return [glyphs[left + 1 : right] for left, right in pairwise(edges)]


def _sequence(glyphs: Glyphs) -> Iterator[Glyphs] | None:
    """Return the members of `1..5`, `a..e` or `1..9..2`, lazily; None: it is no sequence."""
    found = _SEQUENCE.fullmatch(_text(glyphs))
    if found is None or found[1].lstrip("-").isdigit() != found[2].lstrip("-").isdigit():
        return None
    letters = found[1].isalpha()
    first, last = (ord(found[1]), ord(found[2])) if letters else (int(found[1]), int(found[2]))
    step = abs(int(found[3] or 1)) or 1
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    width = (
        max(len(found[1]), len(found[2]))
        if not letters and {found[1].lstrip("-")[0], found[2].lstrip("-")[0]} & {"0"}
        else 0
    )
    return (tuple((char, False) for char in (chr(n) if letters else f"{n:0{width}d}")) for n in numbers)
