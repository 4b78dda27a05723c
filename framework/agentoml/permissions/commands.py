"""Command lines taken apart: every simple command and every redirection, wherever in the line it stands (E42).

The grammar is what POSIX shells and bash agree on. A line with anything else in it is not parsed at all.
"""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import frozen

from agentoml.permissions.simple_commands import Found, Redirection, SimpleCommand, SimpleCommandReader
from agentoml.permissions.words import ParseError, Word

__all__ = ["CommandLine", "Redirection", "SimpleCommand", "take_apart"]

LONGEST_LINE = 100_000
DEEPEST = 30
STEERING = frozenset(("CDPATH", "GLOBIGNORE", "HOME", "OLDPWD", "PATH", "PWD"))
"""Variables that a loop does not go through in earnest: they say where things are found."""

_FUNCTION = re.compile(r"([A-Za-z_][\w-]*)[ \t]*\([ \t]*\)", re.ASCII)
_OPENERS = frozenset(("{", "if", "while", "until", "for", "case", "select"))
_CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "in", "}", "coproc"))
_CASE_ENDS = (";;&", ";;", ";&")
_TIMED_COMPOUND = re.compile(r"time[ \t]+(?:-p[ \t]+)?(?=\(|(?:\{|if|while|until|for|case|select)[ \t\n])")


@frozen
class CommandLine:
    """All that a line runs and redirects. Where it is not `parsed`, nothing of it is known.

    `redirections` are those of loops, groups and the like. `listed`: the words that loops go through.
    `evaluates`: arithmetic over variables can run commands that stand in their values.
    """

    parsed: bool
    commands: tuple[SimpleCommand, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    listed: tuple[Word, ...] = ()
    evaluates: bool = False


@lru_cache(maxsize=256)
def take_apart(line: str) -> CommandLine:
    """Return what a command line consists of. Never raises: what can't be parsed with certainty is not `parsed`."""
    found = Found()
    try:
        _Grammar(line, found, 0).whole()
    except ParseError:
        return CommandLine(False)
    return CommandLine(
        True, tuple(found.commands), tuple(found.redirections), tuple(found.listed), evaluates=found.evaluates
    )


class _Grammar(SimpleCommandReader):
    """Lists, pipelines and commands at a place in a text."""

    def __init__(self, text: str, found: Found, depth: int) -> None:
        super().__init__(text, found)
        self.depth = depth
        if "\0" in text or len(text) > LONGEST_LINE:
            raise ParseError
        self.deeper()

    def whole(self) -> None:
        self._list()
        if self.at < len(self.text) or self.here_documents:
            raise ParseError

    def inner(self, text: str) -> _Grammar:
        return _Grammar(text, self.found, self.depth)

    def substitution(self) -> None:
        begin = self.at
        waiting, self.here_documents = self.here_documents, []
        self.deeper()
        self._list()
        self.operator(")")
        self.depth -= 1
        if self.here_documents or (waiting and "\n" in self.text[begin : self.at]):
            raise ParseError
        self.here_documents = waiting

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ParseError

    # ------------------------------------------------------------------------------------ lists and pipelines

    def _list(self) -> None:
        """Read commands up to what ends them: the end, `)`, the end of a case, or a word that closes a compound."""
        self.newlines()
        while not self._list_ends():
            self._pipeline()
            self.blanks()
            if self.text.startswith(("&&", "||"), self.at):
                self.at += 2
                self.newlines()
                if self._list_ends():
                    raise ParseError
            elif self.text.startswith(_CASE_ENDS, self.at):
                return
            elif self.peek() in (";", "&"):
                self.at += 1
                self.newlines()
            elif self.peek() == "\n":
                self.newlines()
            elif not self._list_ends():
                raise ParseError

    def _list_ends(self) -> bool:
        return self.peek() in ("", ")") or self.text.startswith(_CASE_ENDS, self.at) or self.reserved() in _CLOSERS

    def _pipeline(self) -> None:
        while self.reserved() == "!":
            self.at += 1
            self.blanks()
        self._command()
        self.blanks()
        while self.peek() == "|" and self.peek(1) != "|":
            self.at += 2 if self.peek(1) == "&" else 1
            self.newlines()
            self._command()
            self.blanks()

    def _command(self) -> None:
        self.deeper()
        self._timed_compound()
        word = self.reserved()
        if self.peek() == "(" or word in _OPENERS:
            self._compound(word)
        elif word == "function":
            self.at += len(word)
            self.blanks()
            if not self.word().literal:
                raise ParseError
            self.blanks()
            if self.peek() == "(":
                self.operator("(")
                self.operator(")")
            self._body()
        elif word in _CLOSERS or word == "!":
            raise ParseError
        elif function := _FUNCTION.match(self.text, self.at):
            self.at = function.end()
            self._body()
        else:
            self.simple()
        self.depth -= 1

    def _timed_compound(self) -> None:
        """Skip `time` before a loop or group; before a program it is a wrapper like others."""
        if found := _TIMED_COMPOUND.match(self.text, self.at):
            self.at = found.end()

    def _body(self) -> None:
        self.newlines()
        word = self.reserved()
        if self.peek() != "(" and word not in _OPENERS:
            raise ParseError
        self._compound(word)

    # ------------------------------------------------------------------------------------ compound commands

    def _compound(self, word: str) -> None:
        self.at += len(word)
        match word:
            case "":
                if self.peek(1) == "(":
                    raise ParseError
                self.operator("(")
                self._list()
                self.operator(")")
            case "{":
                self._list()
                self.keyword("}")
            case "if":
                self._if()
            case "while" | "until":
                self._list()
                self._loop()
            case "case":
                self._case()
            case _:
                self._for()
        self.blanks()
        while redirection := self.redirection():
            self.found.redirections += redirection
            self.blanks()

    def _if(self) -> None:
        word = "elif"
        while word == "elif":
            self._list()
            self.keyword("then")
            self._list()
            word = self.reserved()
            self.at += len(word) if word in ("elif", "else") else 0
        if word == "else":
            self._list()
        self.keyword("fi")

    def _loop(self) -> None:
        self.keyword("do")
        self._list()
        self.keyword("done")

    def _for(self) -> None:
        self.blanks()
        variable = self.word()
        if not variable.literal or variable.text in STEERING:
            raise ParseError
        self.newlines()
        if self.reserved() == "in":
            self.at += 2
            self.blanks()
            while self.peek() and self.peek() not in ";\n":
                self.found.listed.append(self.word())
                self.blanks()
        if self.peek() == ";":
            self.at += 1
        self._loop()

    def _case(self) -> None:
        self.blanks()
        self.word()
        self.keyword("in")
        self.newlines()
        while self.reserved() != "esac":
            if self.peek() == "(":
                self.at += 1
            self.blanks()
            self.word()
            self.blanks()
            while self.peek() == "|":
                self.at += 1
                self.blanks()
                self.word()
                self.blanks()
            self.operator(")")
            self._list()
            end = next((end for end in _CASE_ENDS if self.text.startswith(end, self.at)), "")
            self.at += len(end)
            self.newlines()
            if not end:
                break
        self.keyword("esac")
