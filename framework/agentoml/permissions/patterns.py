"""Patterns of commands, matched word by word: a word is a glob, a word `*` stands for any number of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from attrs import frozen

from agentoml.config.globs import matches
from agentoml.permissions.words import Word

ANY_WORDS = "*"


@frozen
class Need:
    """How a pattern must name a word that runs or writes something (E43).

    The word of the pattern begins, before its first star, with `begins` (None: nothing names it); `whole`: it is
    exactly that. `by_rest`: a `*` at the end of the pattern names it, too.
    """

    begins: str | None
    whole: bool = False
    by_rest: bool = False


NO_NEEDS: Mapping[int, Need] = {}


@lru_cache(maxsize=1024)
def pattern_words(pattern: str) -> tuple[str, ...]:
    """Return the words of a pattern. Quotes hold a word together, as in a shell; a lone quote is a character."""
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(pattern):
        char = pattern[at]
        end = pattern.find(char, at + 1) if char in "'\"" else -1
        if end > 0:
            word = (word or "") + pattern[at + 1 : end]
            at = end
        elif char.isspace():
            words += [word] if word is not None else []
            word = None
        else:
            word = (word or "") + char
        at += 1
    return (*words, word) if word is not None else tuple(words)


def covers(pattern: Sequence[str], words: Sequence[Word], needs: Mapping[int, Need] = NO_NEEDS) -> bool:
    """Return whether a command is certainly what a pattern says, and the pattern names all that has to be named.

    A word that the shell expands is matched by `*` alone.
    """
    places = _past_stars(pattern, {0})
    for number, word in enumerate(words):
        need = needs.get(number)
        following = set()
        for place in places - {len(pattern)}:
            if pattern[place] == ANY_WORDS:
                if need is None or (need.by_rest and place == len(pattern) - 1):
                    following.add(place)
            elif _is_this(pattern[place], word) and (need is None or _names(pattern[place], need)):
                following.add(place + 1)
        places = _past_stars(pattern, following)
    return len(pattern) in places


def may_cover(pattern: Sequence[str], words: Sequence[Word]) -> bool:
    """Return whether a command could be what a pattern says, whatever the shell makes of its expansions."""
    places = _past_stars(pattern, {0})
    for word in words:
        following = {
            place if pattern[place] == ANY_WORDS else place + 1
            for place in places - {len(pattern)}
            if pattern[place] == ANY_WORDS or _could_be_this(pattern[place], word)
        }
        if word.many:
            nothing = places if not word.fixed else set()
            following = set(range(min(following | nothing, default=len(pattern) + 1), len(pattern) + 1))
        places = _past_stars(pattern, following)
    return len(pattern) in places


def _past_stars(pattern: Sequence[str], places: set[int]) -> set[int]:
    """Return the places with those behind a `*`, which may stand for no word at all."""
    for place in range(len(pattern)):
        if place in places and pattern[place] == ANY_WORDS:
            places.add(place + 1)
    return places


def _is_this(glob: str, word: Word) -> bool:
    if not word.literal or (word.text.startswith("~") and glob.startswith("~") and not word.tilde):
        return False
    return matches(glob, word.text)


def _could_be_this(glob: str, word: Word) -> bool:
    """Return whether a word could be what the glob says: its certain start must fit."""
    if word.literal:
        return matches(glob, word.text)
    places = {0}
    for char in word.start:
        stars = {place + 1 for place in places if glob[place : place + 1] == "*"}
        while stars - places:
            places |= stars
            stars = {place + 1 for place in places if glob[place : place + 1] == "*"}
        places = {
            place if glob[place] == "*" else place + 1
            for place in places
            if glob[place : place + 1] in ("*", "?", char)
        }
    return bool(places)


def _names(glob: str, need: Need) -> bool:
    if need.begins is None:
        return False
    return glob == need.begins if need.whole else glob.split("*")[0].split("?")[0].startswith(need.begins)
