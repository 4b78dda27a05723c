"""Simple commands as a shell reads them: assignments, words, redirections, here-documents; and the blanks between."""

from __future__ import annotations

import re
from abc import abstractmethod

from attrs import Factory, define, frozen

from agentoml.permissions.words import ParseError, Word, WordReader

_RESERVED = re.compile(r"(?:[A-Za-z]+|[!{}])(?=[\s|&;()<>]|\Z)", re.ASCII)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_REDIRECTION = re.compile(r"(\d*)(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||>|<)")
_VARIABLE_DESCRIPTOR = re.compile(r"\{\w+\}[<>]", re.ASCII)
_DESCRIPTOR = re.compile(r"\d+-?|-")
_TIMED_ODDLY = frozenset(
    ("!", "time", "function", "[[", "coproc", "{", "if", "while", "until", "for", "case", "select")
)


@frozen
class Redirection:
    """A redirection to or from a file."""

    target: Word
    writes: bool


@frozen
class SimpleCommand:
    """A program with its arguments, what is assigned before it, and its own redirections."""

    assignments: tuple[Word, ...] = ()
    words: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()

    @property
    def text(self) -> str:
        """The command for users: its words with spaces between."""
        return " ".join(word.text for word in (*self.assignments, *self.words))


@define
class Found:
    """What was found in a line so far, substitutions included. `listed`: the words that loops go through."""

    commands: list[SimpleCommand] = Factory(list)
    redirections: list[Redirection] = Factory(list)
    listed: list[Word] = Factory(list)
    evaluates: bool = False


@frozen
class _HereDocument:
    delimiter: str
    quoted: bool
    tabs: bool


class SimpleCommandReader(WordReader):
    """Reads simple commands at a place in a text, and what separates them."""

    def __init__(self, text: str, found: Found) -> None:
        super().__init__(text)
        self.found = found
        self.here_documents: list[_HereDocument] = []

    @abstractmethod
    def inner(self, text: str) -> SimpleCommandReader:
        """Return a reader of a text that stands within this one."""

    def evaluation(self) -> None:
        """Note arithmetic over variables."""
        self.found.evaluates = True

    # ------------------------------------------------------------------------------------ blanks and tokens

    def blanks(self) -> None:
        """Skip blanks, line continuations and a comment, up to the end of the line."""
        while self.peek() in (" ", "\t") or self.text.startswith("\\\n", self.at):
            self.at += 2 if self.peek() == "\\" else 1
        if self.peek() == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def newlines(self) -> None:
        """Skip blanks and newlines; here-documents are read where the line ends."""
        self.blanks()
        while self.peek() == "\n":
            self.at += 1
            for here_document in self.here_documents:
                self._here_document(here_document)
            self.here_documents = []
            self.blanks()

    def reserved(self) -> str:
        """Return the word here if it could be one of the grammar's, else nothing."""
        found = _RESERVED.match(self.text, self.at)
        return found[0] if found else ""

    def operator(self, operator: str) -> None:
        """Skip this operator, which must come next."""
        self.blanks()
        if not self.text.startswith(operator, self.at):
            raise ParseError
        self.at += len(operator)

    def keyword(self, word: str) -> None:
        """Skip this word of the grammar, which must come next."""
        self.newlines()
        if self.reserved() != word:
            raise ParseError
        self.at += len(word)

    # ------------------------------------------------------------------------------------ simple commands

    def simple(self) -> None:
        """Read one simple command."""
        assignments: list[Word] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while (found := self.redirection()) is not None or not self.word_ends(self.peek()):
            if found is not None:
                redirections += found
            elif not words and _ASSIGNMENT.match(self.text, self.at):
                assignments.append(self._assignment())
            else:
                words.append(self.word())
            self.blanks()
        if self.peek() == "(" or not (assignments or words or found is not None or redirections):
            raise ParseError
        if words and _is_odd(words):
            raise ParseError
        self.found.commands.append(SimpleCommand(tuple(assignments), tuple(words), tuple(redirections)))

    def _assignment(self) -> Word:
        """Read `name=value` or, for a list, `name=(values)`."""
        word = self.word()
        if self.peek() != "(" or not word.text.endswith("="):
            return word
        begin = self.at
        self.at += 1
        self.newlines()
        while self.peek() != ")":
            if self.peek() == "[":
                self.evaluation()
            self.word()
            self.newlines()
        self.at += 1
        if not self.word_ends(self.peek()):
            raise ParseError  # what stands right behind the list is more of the same word
        return Word(word.text + self.text[begin : self.at], len(word.text), hidden=True)

    def redirection(self) -> list[Redirection] | None:
        """Read a redirection, if one stands here: empty where it copies a descriptor or has no file."""
        found = _REDIRECTION.match(self.text, self.at)
        if _VARIABLE_DESCRIPTOR.match(self.text, self.at):
            raise ParseError
        if found is None or (found[1] and found[2].startswith("&")):
            return None
        operator = found[2]
        if operator in ("<", ">") and self.text.startswith("(", found.end()) and not found[1]:
            return None
        self.at = found.end()
        self.blanks()
        begin = self.at
        target = self.word()
        if operator in ("<<", "<<-"):
            self._announce_here_document(target, self.text[begin : self.at], tabs=operator == "<<-")
            return []
        if operator == "<<<" or target.text in ("<()", ">()"):
            return []
        if operator in ("<&", ">&") and _DESCRIPTOR.fullmatch(target.text):
            return []
        if operator == "<&" or (operator == ">&" and "\\" in self.text[begin : self.at]):
            raise ParseError  # bash takes the quotes of `>&word` away twice
        return [Redirection(target, writes=operator != "<")]

    # ------------------------------------------------------------------------------------ here-documents

    def _announce_here_document(self, delimiter: Word, written: str, *, tabs: bool) -> None:
        if not delimiter.literal:
            raise ParseError
        quoted = any(char in written for char in "'\"\\")
        self.here_documents.append(_HereDocument(delimiter.text, quoted, tabs))

    def _here_document(self, here_document: _HereDocument) -> None:
        """Skip the lines of a here-document; where its delimiter is not quoted, what they expand is looked at."""
        begin = self.at
        while True:
            end = self.text.find("\n", self.at)
            line = self.text[self.at : end if end >= 0 else len(self.text)]
            if (line.lstrip("\t") if here_document.tabs else line) == here_document.delimiter:
                break
            if end < 0 or (line.endswith("\\") and not here_document.quoted):
                raise ParseError
            self.at = end + 1
        if not here_document.quoted:
            self.inner(self.text[begin : self.at]).double_quoted()
        self.at += len(line)


def _is_odd(words: list[Word]) -> bool:
    """Return whether a reserved word makes more of these words than a program and its arguments."""
    if words[0].text == "[[":
        return words[-1].text != "]]"
    return words[0].text == "time" and any(word.text in _TIMED_ODDLY for word in words[1:5])
