"""What a simple command really runs: behind wrappers, in arguments, in lines it hands to a shell (E43 to E46)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from attrs import Factory, define, frozen

from agentoml.permissions.arguments import UNNAMEABLE, Risk, first_operands, git_subcommand, risks, subcommands
from agentoml.permissions.commands import CommandLine, Redirection, SimpleCommand, take_apart
from agentoml.permissions.evaluation import evaluates, running_variable, sets_unseen, taints
from agentoml.permissions.patterns import Need
from agentoml.permissions.tables.arguments import ARGUMENTS, SUBCOMMANDED
from agentoml.permissions.tables.readers import GIT_READERS, READERS
from agentoml.permissions.tables.wrappers import SHELL_VALUES, SHELLS, SOURCES, UNSEEN, WRAPPERS, Wrapper
from agentoml.permissions.words import Word, plain

_WITH_SUBCOMMANDS = frozenset(key.split()[0] for key in WRAPPERS if " " in key)
_KNOWN = SHELLS | SOURCES | READERS | {key.split()[0] for key in (*WRAPPERS, *ARGUMENTS)}

MORE = Word("", 0, many=True, hidden=True)
"""Words that a program like xargs adds."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_VERSION = re.compile(r"[-.\d]+\Z")


@frozen
class Operand:
    """A word that may name a path; `reads`: it is only read."""

    word: Word
    reads: bool


@frozen
class Anatomy:
    """What is to be known of a simple command.

    `views`: the commands it runs, itself first, as strict patterns see them. `needs`: which of its words (assignments
    first) an allow must name. `unknown`: its program is not literal. `hidden`: what it runs can't be seen in full.
    `operands`: words that may name paths. `redirections`: those of lines that it hands to a shell. `evaluates`: it
    evaluates variables; `taints`: it gives them values that may be code.
    """

    views: tuple[tuple[Word, ...], ...] = ()
    needs: Mapping[int, Need] = {}
    unknown: bool = False
    hidden: bool = False
    operands: tuple[Operand, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    evaluates: bool = False
    taints: bool = False


@lru_cache(maxsize=512)
def anatomy(command: SimpleCommand) -> Anatomy:
    """Return what a simple command really runs."""
    if command.words and not command.words[0].literal:
        return Anatomy(unknown=True, hidden=True)
    examination = _Examination(command.words, len(command.assignments))
    for number, word in enumerate(command.assignments):
        examination.needs[number] = Need(word.text[: word.text.index("=") + 1])
    if command.words:
        examination.program(0, len(command.words), inner=False)
    if command.assignments:
        examination.views.append((*command.assignments, *command.words))
        examination.variables(command.assignments)
    reads = examination.reads and bool(command.words)
    own = [Operand(word, reads) for word in (*command.assignments, *examination.operands(command.words))]
    inner = [anatomy(each) for line in examination.lines for each in line.commands]
    return Anatomy(
        views=(*examination.views, *(view for each in inner for view in each.views)),
        needs=examination.needs,
        hidden=examination.hidden or any(each.hidden for each in inner),
        operands=(*own, *(operand for each in inner for operand in each.operands)),
        redirections=tuple(_redirections(examination.lines, inner)),
        evaluates=examination.evaluates
        or any(line.evaluates for line in examination.lines)
        or any(each.evaluates for each in inner),
        taints=examination.taints
        or any(map(taints, (*command.assignments, *command.words)))
        or any(each.taints for each in inner),
    )


def _redirections(lines: list[CommandLine], inner: list[Anatomy]) -> Iterator[Redirection]:
    for line in lines:
        yield from line.redirections
        for command in line.commands:
            yield from command.redirections
    for each in inner:
        yield from each.redirections


@define
class _Examination:
    """The words of one simple command while they are looked at. `first`: how many assignments come before them.

    `places`: texts in the words of a wrapped program that the wrapper fills in.
    """

    words: tuple[Word, ...]
    first: int
    views: list[tuple[Word, ...]] = Factory(list)
    needs: dict[int, Need] = Factory(dict)
    lines: list[CommandLine] = Factory(list)
    aside: set[int] = Factory(set)
    places: set[str] = Factory(lambda: {"{}"})
    hidden: bool = False
    reads: bool = True
    evaluates: bool = False
    taints: bool = False

    def operands(self, written: tuple[Word, ...]) -> list[Word]:
        """Return the words that may name paths, as they are written."""
        return [word for at, word in enumerate(written) if at not in self.aside]

    def program(self, begin: int, end: int, *, inner: bool = True, tail: tuple[Word, ...] = ()) -> None:
        """Look at the program that stands at `begin`, and at its words up to `end`."""
        if inner:
            filled = (self._filled(word) for word in self.words[begin:end])
            self.words = (*self.words[:begin], *filled, *self.words[end:])
        if begin >= end or not self.words[begin].literal:
            self.hidden = True
            self.reads = False
            return
        text = self.words[begin].text
        self.aside.add(begin)
        if inner:
            self._need(begin, Need(text, whole=True, by_rest=True))
        self._view(text, (*self.words[begin + 1 : end], *tail))
        name = _known_name(text)
        for at in self._subcommands(name, begin, end):
            self._view(text, (*self.words[at:end], *tail))
        self._shell_variables(name, begin, end)
        self.hidden = self.hidden or name in UNSEEN
        if name in SHELLS:
            self._shell(begin, end)
        elif name in SOURCES:
            self._source(begin, end)
        else:
            self._plain_program(name, begin, end, appended=bool(tail))

    def _filled(self, word: Word) -> Word:
        """Return a word with `{}` or the like in it as one whose text is filled in later."""
        found = [word.text.find(place) for place in self.places if place in word.text]
        return Word(word.text, min(*found, word.fixed), hidden=True) if found else word

    def _shell_variables(self, name: str, begin: int, end: int) -> None:
        """Look at what a program of the shell does to variables."""
        arguments = self.words[begin + 1 : end]
        self.variables(arguments)
        self.taints = self.taints or sets_unseen(name, arguments)
        if evaluates(name, arguments):
            self.evaluates = True
            self.hidden = self.hidden or any("$" in word.text or "`" in word.text for word in arguments if word.literal)

    def variables(self, words: tuple[Word, ...]) -> None:
        """Look at the values that words give to variables that say what is run."""
        for word in words:
            if (value := running_variable(word)) is not None:
                self._line(Word(value, len(value) if word.literal else 0, hidden=word.hidden))

    def _view(self, program: str, following: tuple[Word, ...]) -> None:
        """Note a command that is run, under each name that a strict pattern may know its program by."""
        for name in dict.fromkeys((program, program.lower(), *_base_names(program))):
            self.views.append((plain(name), *following))

    def _need(self, at: int, need: Need) -> None:
        number = self.first + at
        before = self.needs.get(number)
        if before is not None and before.begins is not None and need.begins is not None:
            need = max(before, need, key=lambda each: (each.whole, not each.by_rest, len(each.begins or "")))
        self.needs[number] = before if before is not None and before.begins is None else need

    # ------------------------------------------------------------------------------------ programs and arguments

    def _plain_program(self, name: str, begin: int, end: int, *, appended: bool) -> None:
        if appended and name in ARGUMENTS:
            self._need(begin, UNNAMEABLE)
        wrappers = [(key, last) for key, last in self._wrapper_keys(name, begin, end) if key in WRAPPERS]
        for key, last in wrappers:
            for at in range(begin, last + 1):
                if at == begin or self.words[at].text in key.split():
                    self._need(at, Need(self.words[at].text, whole=True))
            self._wrapper(WRAPPERS[key], last, end, appended=appended)
        self.reads = self.reads and (name in WRAPPERS or self._is_reader(name, begin, end))
        if name not in WRAPPERS:
            for risk in risks(name, self.words, begin, min((last + 1 for _, last in wrappers), default=end)):
                self._risk(risk, end)

    def _wrapper_keys(self, name: str, begin: int, end: int) -> Iterator[tuple[str, int]]:
        """Yield the names of wrappers that this may be, alone or with subcommands, and where the last word stands."""
        yield name, begin
        yield from subcommands(WRAPPERS, name, self.words, begin, end)
        if name in _WITH_SUBCOMMANDS:
            for at in first_operands(self.words, begin, end):
                if not self.words[at].literal:
                    self._need(at, UNNAMEABLE)

    def _subcommands(self, name: str, begin: int, end: int) -> list[int]:
        """Return where the subcommand of a program may stand behind options of its own: `git -C sub push`."""
        if name == "git":
            found = {git_subcommand(self.words, begin, end)}
        else:
            found = set(first_operands(self.words, begin, end)) if name in SUBCOMMANDED else set()
        return sorted(at for at in found if at is not None and at > begin + 1)

    def _is_reader(self, name: str, begin: int, end: int) -> bool:
        if name == "git":
            at = git_subcommand(self.words, begin, end)
            return at is not None and self.words[at].text in GIT_READERS
        return name in READERS

    def _risk(self, risk: Risk, end: int) -> None:
        self._need(risk.at, risk.need)
        self.reads = self.reads and not risk.writes
        self.hidden = self.hidden or risk.hides
        if risk.inner:
            self.program(*risk.inner)
        if risk.program:
            self._view(risk.program[0].text, risk.program[1:])
        if risk.line is not None:
            self._line(risk.line)
            if risk.at + 1 < end and risk.line is self.words[risk.at + 1]:
                self._handed_over(risk.at + 1)

    # ------------------------------------------------------------------------------------ command lines

    def _handed_over(self, at: int) -> None:
        """A word that is, or is part of, a command line: an allow says it word for word, or takes the whole rest."""
        self.aside.add(at)
        word = self.words[at]
        self._need(at, Need(word.text if word.literal else "\0", whole=True, by_rest=True))

    def _line(self, *words: Word) -> None:
        """Look at what is handed to a shell as a command line."""
        taken = take_apart(" ".join(word.text for word in words))
        self.hidden = self.hidden or not taken.parsed or not all(word.literal for word in words)
        self.lines.append(taken)

    def _shell(self, begin: int, end: int) -> None:
        """Look at `bash -c LINE` or `bash SCRIPT`; what a shell reads otherwise can't be seen."""
        self._need(begin, Need(self.words[begin].text, whole=True))
        self.reads = False
        at, line = begin + 1, False
        while at < end and self.words[at].literal and self.words[at].text[:1] in ("-", "+"):
            text = self.words[at].text
            if text in ("-", "--"):
                at += 1
                break
            if text[0] == "-" and text[1] != "-":
                self.hidden = self.hidden or "s" in text
                if "c" in text:
                    line = True
                    self._need(at, Need(text))
            if text.startswith(("--rcfile", "--init-file")):
                self._need(at, Need(text))
            at += 2 if text in SHELL_VALUES else 1
        if at >= end or not self.words[at].literal:
            self.hidden = True
        if at < end and line:
            self._line(self.words[at])
            self._handed_over(at)
        elif at < end:
            self._script(at, end)

    def _source(self, begin: int, end: int) -> None:
        self._need(begin, Need(self.words[begin].text, whole=True))
        self.reads = False
        self._script(begin + 1, end)

    def _script(self, at: int, end: int) -> None:
        """Look at a file that is run by a shell: a program, and a path like others."""
        if at >= end or not self.words[at].literal or self.words[at].text.startswith(("/dev/", "/proc/")):
            self.hidden = True
            return
        self._need(at, Need(self.words[at].text, whole=True, by_rest=True))
        self._view(self.words[at].text, self.words[at + 1 : end])

    # ------------------------------------------------------------------------------------ wrappers

    def _wrapper(self, wrapper: Wrapper, begin: int, end: int, *, appended: bool) -> None:
        lines = len(self.lines)
        starts = self._behind(wrapper, begin, end)
        if starts is None:
            return
        starts = [start for start in dict.fromkeys(starts) if start < end]
        if not starts:
            self.hidden = self.hidden or appended or not (wrapper.alone or len(self.lines) > lines)
        elif wrapper.joins:
            self._line(*self.words[starts[-1] : end])
            self.hidden = self.hidden or wrapper.appends or appended
            for at in range(starts[-1], end):
                self._handed_over(at)
        else:
            for start in starts:
                self.program(start, end, tail=(MORE,) if wrapper.appends or appended else ())

    def _behind(self, wrapper: Wrapper, begin: int, end: int) -> list[int] | None:
        """Return where the wrapped program may begin; None where it runs nothing or an option can't be seen."""
        at, operands, doubtful = begin + 1, wrapper.operands, []
        options = True
        while at < end:
            word = self.words[at]
            if not word.literal:
                self._need(at, UNNAMEABLE)
                if not operands or word.many or word.start.startswith("-"):
                    break
            if options and word.text == "--":
                options = False
            elif options and word.text.startswith("-") and (len(word.text) > 1 or "-" in wrapper.flags):
                taken = self._option(wrapper, at, end)
                if taken is None:
                    return None
                at, doubt = taken
                doubtful += [at + 1] if doubt else []
                continue
            elif wrapper.assignments and (assigned := _ASSIGNMENT.match(word.text)):
                self._need(at, Need(assigned[0]))
            elif operands:
                operands -= 1
            else:
                break
            at += 1
        return [*doubtful, at]

    def _option(self, wrapper: Wrapper, at: int, end: int) -> tuple[int, bool] | None:
        """Look at an option of a wrapper. Return where the next word stands and whether that is in doubt."""
        text = self.words[at].text
        name = text.partition("=")[0]
        if name in wrapper.idle:
            return None
        self._fills(wrapper, at, end)
        if any(name == option or (len(option) == 2 and text.startswith(option)) for option in wrapper.writes):
            self._need(at, Need(name))
            self.reads = False
        if text.startswith("--"):
            return self._long_option(wrapper, at, end)
        for place, letter in enumerate(text[1:], 1):
            option, attached = f"-{letter}", text[place + 1 :]
            if option in wrapper.line:
                return self._line_option(wrapper, at, end, attached), False
            if option in wrapper.values:
                return (at + 1 if attached else at + 2), False
            if option not in wrapper.flags:
                return at + 1, True
        return at + 1, False

    def _fills(self, wrapper: Wrapper, at: int, end: int) -> None:
        """Note what a wrapper is told to fill in: `xargs -I NAME`."""
        text = self.words[at].text
        option = next((option for option in wrapper.fills if text.startswith(option)), None)
        if option is None:
            return
        attached = text[len(option) :].removeprefix("=")
        following = (
            self.words[at + 1] if not attached and option in wrapper.values and at + 1 < end else plain(attached)
        )
        self.hidden = self.hidden or not following.literal
        self.places.add(following.text or "{}")

    def _long_option(self, wrapper: Wrapper, at: int, end: int) -> tuple[int, bool]:
        name, equals, value = self.words[at].text.partition("=")

        def meant(options: frozenset[str]) -> bool:
            return any(option.startswith(name) for option in options)

        if meant(wrapper.line):
            return self._line_option(wrapper, at, end, value if equals else ""), False
        if equals or (meant(wrapper.flags) and not meant(wrapper.values)):
            return at + 1, False
        return (at + 2, False) if meant(wrapper.values) else (at + 1, True)

    def _line_option(self, wrapper: Wrapper, at: int, end: int, attached: str) -> int:
        self._need(at, Need(self.words[at].text[: -len(attached)] if attached else self.words[at].text))
        if attached:
            self._need(at, Need(self.words[at].text, whole=True))
            self._line(plain(attached), *(self.words[at + 1 : end] if wrapper.goes_on else ()))
            return at + 1
        if at + 1 < end:
            self._line(*self.words[at + 1 : end if wrapper.goes_on else at + 2])
            self._handed_over(at + 1)
        return at + 2


def _base_names(program: str) -> tuple[str, ...]:
    base = program.rsplit("/", 1)[-1]
    return (base, base.lower()) if base != program else ()


def _known_name(program: str) -> str:
    """Return the name under which the tables know a program: `/usr/bin/python3.12` is python3 or python."""
    base = program.rsplit("/", 1)[-1].lower()
    return base if base in _KNOWN else _VERSION.sub("", base) or base
