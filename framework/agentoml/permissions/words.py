"""Words of a command line as a shell reads them: quotes, escapes, expansions. Anything else is a ParseError."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from attrs import Factory, define, frozen

METACHARACTERS = frozenset(" \t\n|&;()<>")
GLOB = frozenset("*?[")
BRACES = frozenset("{,}.]")
"""What else may count in braces and brackets as long as it is not quoted."""
KNOWN_VARIABLES = frozenset({"HOME", "PWD"})

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PARAMETER = re.compile(r"\$\{#?([A-Za-z_]\w*|[@*#?$!-]|\d+)(\[(?:[@*]|\d+)\])?", re.ASCII)
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//?|\^\^?|,,?")
_SUBSTRING = re.compile(r":\s*\d+(:\s*\d+)?\s*\}")
_ARITHMETIC = re.compile(r"[\w\s()+*/%<>=!&|^~?:,#$.-]", re.ASCII)


class ParseError(Exception):
    """The line can't be taken apart with certainty."""


@frozen
class Word:
    """One word. `text` is what the program gets where the word is literal; expansions stand in it as written.

    `fixed`: how much of the text, from its start, no expansion touches. `many`: may become several words, or none.
    `active`: where in the text unquoted globs, braces and a leading tilde stand. `hidden`: holds an expansion whose
    value can't be known here.
    """

    text: str
    fixed: int
    many: bool = False
    active: tuple[int, ...] = ()
    hidden: bool = False

    @property
    def literal(self) -> bool:
        """Whether the shell leaves the word as it is (a leading tilde aside)."""
        return self.fixed == len(self.text)

    @property
    def start(self) -> str:
        """The text that the word certainly begins with."""
        return self.text[: self.fixed]

    @property
    def tilde(self) -> bool:
        """Whether it begins with a tilde that the shell replaces."""
        return self.text.startswith("~") and 0 in self.active


def plain(text: str) -> Word:
    """Return a literal word."""
    return Word(text, len(text))


@define
class _Building:
    """A word while it is read."""

    text: str = ""
    fixed: int | None = None
    many: bool = False
    active: list[int] = Factory(list)
    hidden: bool = False
    brace: int | None = None
    bracket: int | None = None
    depth: int = 0

    def add(self, char: str, *, quoted: bool) -> None:
        """Add text that stays; unquoted globs and braces are noted."""
        if not quoted:
            if char in "*?":
                self._expands(many=True)
            self._bracket(char)
            if char in GLOB or char in BRACES or (char == "~" and not self.text):
                self.active.append(len(self.text))
            self._brace(char)
        self.text += char

    def expand(self, written: str, *, quoted: bool, known: bool = False) -> None:
        """Add an expansion, as written. `known`: its value is known where paths are looked at."""
        self._expands(many=not quoted, at=None if quoted else self.bracket)
        self.hidden = self.hidden or not known
        self.text += written

    def _bracket(self, char: str) -> None:
        """Note a bracket: `[`, then `]`. It counts from its start; without its end it is a character like others."""
        self.depth = max(self.depth + {"[": 1, "]": -1}.get(char, 0), 0)
        if char == "[" and self.bracket is None:
            self.bracket = len(self.text)
        elif char == "]" and self.bracket is not None:
            self._expands(many=True, at=self.bracket)

    @property
    def in_subscript(self) -> bool:
        """Whether a name with an open bracket stands here: shells read on to its end, whatever comes."""
        return self.depth > 0 and self.bracket is not None and bool(_NAME.fullmatch(self.text[: self.bracket]))

    def _brace(self, char: str) -> None:
        """Note a brace expansion: `{`, then `,` or `..`. It counts from its start, also where no `}` follows."""
        if char == "{" and self.brace is None:
            self.brace = len(self.text)
        elif self.brace is not None and (char == "," or (char == "." and self.text.endswith("."))):
            self._expands(many=True, at=self.brace)

    def _expands(self, *, many: bool, at: int | None = None) -> None:
        place = len(self.text) if at is None else at
        self.fixed = place if self.fixed is None else min(self.fixed, place)
        self.many = self.many or many

    def word(self) -> Word:
        """Return the finished word."""
        fixed = len(self.text) if self.fixed is None else self.fixed
        return Word(self.text, fixed, self.many, tuple(self.active), self.hidden)


class WordReader(ABC):
    """Reads words at a place in a text. What stands in a substitution is handed to the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @abstractmethod
    def substitution(self) -> None:
        """Take the commands up to the `)` that ends this substitution, and that, apart."""

    @abstractmethod
    def inner(self, text: str) -> WordReader:
        """Return a reader of a text that stands within this one."""

    @abstractmethod
    def whole(self) -> None:
        """Take the whole text apart."""

    @abstractmethod
    def evaluation(self) -> None:
        """Note arithmetic over variables: it can run commands that stand in their values."""

    def peek(self, offset: int = 0) -> str:
        """Return one character, or nothing at the end."""
        place = self.at + offset
        return self.text[place] if place < len(self.text) else ""

    def word(self) -> Word:
        """Read one word; there must be one."""
        building = _Building()
        begin = self.at
        while not self.word_ends(char := self.peek()):
            self._piece(building, char)
        if self.at == begin or building.in_subscript:
            raise ParseError
        return building.word()

    def word_ends(self, char: str) -> bool:
        """Return whether no word goes on with this character, the one that stands here."""
        return not char or (char in METACHARACTERS and not (char in "<>" and self.peek(1) == "("))

    def _piece(self, building: _Building, char: str) -> None:
        if char == "\\":
            self._escape(building)
        elif char == "'":
            self._single_quoted(building)
        elif char == '"':
            self.at += 1
            self.double_quoted(building, closing='"')
        elif char == "$":
            self._dollar(building, quoted=False)
        elif char == "`":
            self._backticks(building, quoted=False)
        elif char in "<>":
            self.at += 2
            self.substitution()
            building.expand(f"{char}()", quoted=True)
        elif not char.isprintable():
            raise ParseError
        else:
            building.add(char, quoted=False)
            self.at += 1

    def _escape(self, building: _Building) -> None:
        char = self.peek(1)
        if not char or (char == "\n" and self.peek(2) not in ("", " ", "\t", "\n")):
            raise ParseError
        if char != "\n":
            building.add(char, quoted=True)
        self.at += 2

    def _single_quoted(self, building: _Building) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise ParseError
        building.add(self.text[self.at + 1 : end], quoted=True)
        self.at = end + 1

    def double_quoted(self, building: _Building | None = None, *, closing: str = "") -> None:
        """Read what stands within double quotes; without a closing quote (a here-document), up to the end."""
        building = building or _Building()
        while (char := self.peek()) != closing:
            if not char:
                raise ParseError
            if char == "\\" and self.peek(1) and self.peek(1) in '$`"\\\n':
                if self.peek(1) != "\n":
                    building.add(self.peek(1), quoted=True)
                self.at += 2
            elif char == "$":
                self._dollar(building, quoted=True)
            elif char == "`":
                self._backticks(building, quoted=True)
            else:
                building.add(char, quoted=True)
                self.at += 1
        self.at += len(closing)

    def _dollar(self, building: _Building, *, quoted: bool) -> None:
        begin, following = self.at, self.peek(1)
        known = False
        if following == "(" and self.peek(2) == "(":
            self._arithmetic()
        elif following == "(":
            self.at += 2
            self.substitution()
        elif following == "{":
            known = self._parameter()
            quoted = quoted and "@" not in self.text[begin : self.at]
        elif following == "[" or (following == "'" and not quoted):
            self._ansi_quoted(following)
        elif following == '"' and not quoted:
            building.expand("", quoted=True)
            self.at += 1
            return
        elif name := _NAME.match(self.text, self.at + 1):
            known = name[0] in KNOWN_VARIABLES
            self.at = name.end()
        elif following and following in "@*#?-$!0123456789":
            self.at += 2
            quoted = quoted and following != "@"
        else:
            building.add("$", quoted=True)
            self.at += 1
            return
        building.expand(self.text[begin : self.at], quoted=quoted, known=known)

    def _ansi_quoted(self, following: str) -> None:
        """Read `$'...'`. Shells agree where it ends as long as no quote in it is escaped."""
        end = self.text.find("'", self.at + 2)
        if following == "[" or end < 0 or self.text[end - 1] == "\\":
            raise ParseError
        self.at = end + 1

    def _arithmetic(self) -> None:
        """Read `$((...))`, as far as shells agree on it: numbers, variables, operators, balanced parentheses."""
        self.at += 3
        depth = 0
        while not (depth == 0 and self.peek() == ")"):
            char = self.peek()
            if not char or not _ARITHMETIC.match(char) or (char == "$" and self.peek(1) in ("(", "{")):
                raise ParseError
            depth += {"(": 1, ")": -1}.get(char, 0)
            if char in "$_" or char.isalpha():
                self.evaluation()
            self.at += 1
        if self.peek(1) != ")":
            raise ParseError
        self.at += 2

    def _parameter(self) -> bool:
        """Read `${...}`: a parameter, then perhaps a plain operator with its word. Return whether it is known here."""
        found = _PARAMETER.match(self.text, self.at)
        if found is None:
            raise ParseError
        self.at = found.end()
        if self.peek() == "}":
            self.at += 1
            return found[0][2:] in KNOWN_VARIABLES
        if substring := _SUBSTRING.match(self.text, self.at):
            self.at = substring.end()
        elif operator := _OPERATOR.match(self.text, self.at):
            self.at = operator.end()
            self._parameter_word()
        else:
            raise ParseError
        return False

    def _parameter_word(self) -> None:
        """Read the word of `${x:-word}` and its `}`. Where shells differ on what stands in it: ParseError."""
        ignored = _Building()
        while (char := self.peek()) != "}":
            if not char or char in "{'\"<>()":
                raise ParseError
            if char in METACHARACTERS:
                self.at += 1
            else:
                self._piece(ignored, char)
        self.at += 1

    def _backticks(self, building: _Building, *, quoted: bool) -> None:
        begin = self.at
        self.at += 1
        inner = ""
        while (char := self.peek()) != "`":
            if not char:
                raise ParseError
            if char == "\\" and self.peek(1) and self.peek(1) in '$`\\"':
                if self.peek(1) == '"' and quoted:
                    raise ParseError
                inner += char if self.peek(1) == '"' else ""
                self.at += 1
            inner += self.peek()
            self.at += 1
        self.at += 1
        self.inner(inner).whole()
        building.expand(self.text[begin : self.at], quoted=quoted)
