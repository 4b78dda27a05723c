"""Which arguments of one program run or write something, by the shipped table (E43, E44)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen

from agentoml.permissions.patterns import Need
from agentoml.permissions.tables.arguments import ANY_PROGRAM, ARGUMENTS, GIT_OPTIONS, GIT_VALUES, Arguments
from agentoml.permissions.tables.wrappers import WRAPPERS
from agentoml.permissions.words import Word, plain

UNNAMEABLE = Need(None)
KEYS_AND_THEIR_STARTS = frozenset(
    " ".join(key.split()[:length])
    for table in (WRAPPERS, ARGUMENTS)
    for key in table
    for length in range(1, len(key.split()) + 1)
)


@frozen
class Risk:
    """A word that runs or writes something, and how an allow must name it.

    `inner`: from where to where the words stand that it runs. `program`: the words it runs, where they begin within
    the word. `line`: the command line it runs. `writes`: it may write what other words name. `hides`: what it runs
    can't be seen.
    """

    at: int
    need: Need
    writes: bool = True
    inner: tuple[int, int] | None = None
    program: tuple[Word, ...] = ()
    line: Word | None = None
    hides: bool = False


def risks(name: str, words: Sequence[Word], begin: int, end: int) -> Iterator[Risk]:
    """Yield what is risky about the arguments of the program `name` that stands at `begin`."""
    entries = [ARGUMENTS.get(name, ANY_PROGRAM)]
    entries += [ARGUMENTS[key] for key, _ in subcommands(ARGUMENTS, name, words, begin, end)]
    if name == "git":
        yield from _git_options(words, begin, end)
    firsts = first_operands(words, begin, end)
    for entry in entries:
        for risk in _of_entry(entry, words, begin, end, firsts):
            yield evolve(risk, hides=True) if entry.hides else risk


def _of_entry(entry: Arguments, words: Sequence[Word], begin: int, end: int, firsts: set[int]) -> Iterator[Risk]:
    for at in range(begin + 1, end):
        if words[at].literal:
            yield from _of_word(entry, words, at, end)
            if at in firsts and words[at].text in entry.words:
                yield Risk(at, Need(words[at].text, whole=True))
        elif entry is not ANY_PROGRAM and _is_risky(entry) and _may_be_option(words[at]):
            yield Risk(at, UNNAMEABLE, writes=False)
    yield from _written_operands(entry, words, begin, end)
    yield from _scripts(entry, words, begin, end)


def first_operands(words: Sequence[Word], begin: int, end: int) -> set[int]:
    """Return where the first operand, a subcommand, may stand: any option may take the word behind it."""
    found, waiting, seen = set(), [begin + 1], set()
    while waiting:
        at = waiting.pop()
        if at >= end or at in seen:
            continue
        seen.add(at)
        if words[at].text.startswith("-"):
            waiting += [at + 1, at + 2]
        else:
            found.add(at)
    return found


def subcommands(
    table: Mapping[str, object], name: str, words: Sequence[Word], begin: int, end: int
) -> Iterator[tuple[str, int]]:
    """Yield the keys of a table that this program and its subcommands may be, and where the last of their words is."""
    for at in sorted(first_operands(words, begin, end)):
        key, last = name, at
        while last < end and words[last].literal and f"{key} {words[last].text}" in KEYS_AND_THEIR_STARTS:
            key = f"{key} {words[last].text}"
            if key in table:
                yield key, last
            last += 1


def git_subcommand(words: Sequence[Word], begin: int, end: int) -> int | None:
    """Return where the subcommand of git stands."""
    at = begin + 1
    while at < end and words[at].text.startswith("-"):
        at += 2 if words[at].text in GIT_VALUES else 1
    return at if at < end else None


def _git_options(words: Sequence[Word], begin: int, end: int) -> Iterator[Risk]:
    subcommand = git_subcommand(words, begin, end)
    for at in range(begin + 1, subcommand or end):
        name = words[at].text.partition("=")[0]
        option = next((option for option in GIT_OPTIONS if name == option or _attached(option, name)), None)
        if option:
            yield Risk(
                at, Need(option), writes=option not in ("-C", "-p", "--paginate"), line=_set_command(words, at, end)
            )


_GIT_COMMAND = re.compile(
    r"(?:alias\.\S*|\S*pager\S*|\S*editor|\S*command|\S*\.cmd|diff\.external|\S*helper|\S*\.textconv|\S*\.driver|\S*program"
    r"|\S*process|filter\.\S*)=!?",
    re.IGNORECASE,
)


def _set_command(words: Sequence[Word], at: int, end: int) -> Word | None:
    """Return the command line that `git -c NAME=VALUE` sets, if that is one."""
    text = words[at].text
    if not text.startswith("-c") or (text == "-c" and at + 1 >= end):
        return None
    word = words[at + 1] if text == "-c" else plain(text[2:])
    found = _GIT_COMMAND.match(word.text)
    return (
        None if found is None else Word(word.text[found.end() :], max(word.fixed - found.end(), 0), hidden=word.hidden)
    )


def _attached(option: str, text: str) -> bool:
    return len(option) == 2 and text.startswith(option)


def _of_word(entry: Arguments, words: Sequence[Word], at: int, end: int) -> Iterator[Risk]:
    text = words[at].text
    for prefix in entry.prefixes:
        if text.startswith(prefix):
            yield Risk(at, Need(prefix))
    place = next((place for place, char in enumerate(text) if char in entry.contains), None)
    if place is not None:
        yield Risk(at, Need(text[: place + 1]))
    if text.startswith("--"):
        yield from _long_option(entry, words, at, end)
    elif text.startswith("-"):
        yield from _short_options(entry, words, at, end)


def _long_option(entry: Arguments, words: Sequence[Word], at: int, end: int) -> Iterator[Risk]:
    name, equals, value = words[at].text.partition("=")

    def named(options: frozenset[str]) -> bool:
        return name in options or (not entry.exact and any(option.startswith(name) for option in options))

    if len(name) == 2:
        return
    if named(entry.options):
        yield Risk(at, Need(name))
    if named(entry.until):
        yield _until(words, at, end, name)
    if named(entry.line):
        line = plain(value) if equals else words[at + 1] if at + 1 < end else plain("")
        yield Risk(at, Need(name), line=line)


def _short_options(entry: Arguments, words: Sequence[Word], at: int, end: int) -> Iterator[Risk]:
    text = words[at].text
    name = text.partition("=")[0]
    if name in entry.until:
        yield _until(words, at, end, name)
        return
    if name in entry.options:
        yield Risk(at, Need(name))
    for place, letter in enumerate(text[1:], 1):
        option, attached = f"-{letter}", text[place + 1 :]
        if option in entry.rest:
            program = (plain(attached), *words[at + 1 : end]) if attached else ()
            need = Need(text, whole=True) if attached else Need(text[: place + 1])
            yield Risk(at, need, inner=None if attached else (at + 1, end), program=program)
            return
        if option in entry.line:
            line = plain(attached) if attached else words[at + 1] if at + 1 < end else plain("")
            yield Risk(at, Need(text[: place + 1]), line=line)
            return
        if letter in entry.letters:
            yield Risk(at, Need(text[: place + 1]))
            return


def _until(words: Sequence[Word], at: int, end: int, name: str) -> Risk:
    last = at + 1
    while last < end and not (words[last].text == ";" or (words[last].text == "+" and "{}" in words[last - 1].text)):
        last += 1
    return Risk(at, Need(name), writes=False, inner=(at + 1, last))


def _is_risky(entry: Arguments) -> bool:
    options = entry.options | entry.words | entry.prefixes | entry.rest | entry.until | entry.line
    return bool(options or entry.letters or entry.contains or entry.script or entry.operands is not None)


def _may_be_option(word: Word) -> bool:
    """Return whether a word that the shell expands may turn out to be an option, or to bring one along."""
    return not word.fixed or word.start.startswith("-") or (word.hidden and word.many)


def _operands(words: Sequence[Word], begin: int, end: int, values: Sequence[str] = ()) -> list[int]:
    found, at = [], begin + 1
    while at < end:
        if words[at].text in values:
            at += 1
        elif not words[at].text.startswith("-") or words[at].text == "-":
            found.append(at)
        at += 1
    return found


def _written_operands(entry: Arguments, words: Sequence[Word], begin: int, end: int) -> Iterator[Risk]:
    if entry.operands is not None:
        for at in _operands(words, begin, end)[entry.operands :]:
            yield Risk(at, Need(words[at].text, whole=True) if words[at].literal else UNNAMEABLE)


_SED_VALUES = ("-e", "--expression", "-l", "--line-length")
_AWK_VALUES = ("-F", "-v", "--field-separator", "--assign")
_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\[\n]|\\.|\[\^?\]?[^/\]\n]*\])*/I?)"
_SED_PART = r"(?:\\.|\[\^?\]?(?:(?!\1)[^\]\n])*\]|(?!\1)[^\[\\\n])*"
_SED_COMMAND = re.compile(
    rf"[\s;{{}}]*(?:{_SED_ADDRESS}(?:\s*,\s*(?:{_SED_ADDRESS}|[+~]\d+))?)?\s*!?\s*"
    rf"(?:[pdqQ=DPhHgGxnNl]\d*|s([/|#,@:!%+~_])(?:{_SED_PART})\1(?:{_SED_PART})\1[gpiIM0-9]*)?[\s}}]*(?:[;\n]|\Z)"
)
_AWK_RISK = re.compile(r"system|getline|extension|[|>@]")


def _scripts(entry: Arguments, words: Sequence[Word], begin: int, end: int) -> Iterator[Risk]:
    """Yield the programs in sed and awk that are not certain to read only."""
    if not entry.script:
        return
    values = _SED_VALUES if entry.script == "sed" else _AWK_VALUES
    scripts = [at + 1 for at in range(begin + 1, end - 1) if words[at].text in values[:2] and entry.script == "sed"]
    attached = [
        (at, text[len(option) :])
        for at in range(begin + 1, end)
        for option in ("-e", "--expression=")
        if entry.script == "sed" and (text := words[at].text).startswith(option) and text != "-e"
    ]
    if not scripts and not attached:
        scripts = _operands(words, begin, end, values)[:1]
    for at, text in [*((at, words[at].text) for at in scripts), *attached]:
        if not words[at].literal:
            yield Risk(at, UNNAMEABLE)
        elif _sed_writes(text) if entry.script == "sed" else _AWK_RISK.search(text):
            yield Risk(at, Need(words[at].text, whole=True))


def _sed_writes(script: str) -> bool:
    at = 0
    while at < len(script):
        found = _SED_COMMAND.match(script, at)
        if found is None or found.end() == at:
            return True
        at = found.end()
    return False
