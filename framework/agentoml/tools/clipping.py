"""Texts that are too long for a model or a title: what is kept, and how the rest is marked."""

from __future__ import annotations

import codecs
import re
from collections import deque

from attrs import define, field


def clipped(text: str, length: int) -> str:
    """Return the text in one line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def fenced(text: str) -> str:
    """Return the text as a Markdown code block: users see it as it is."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.removesuffix(chr(10))}\n{fence}"


def code_span(text: str) -> str:
    """Return a line as Markdown code within a text: nothing in it is taken for markup, and hides what follows."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{space}{text}{space}{fence}"


@define
class HeadAndTail:
    """The first and the last characters of a stream of bytes, in bounded memory; the middle is dropped."""

    head_limit: int
    tail_limit: int
    _head: str = ""
    _tail: deque[str] = field(factory=deque)
    _tail_length: int = 0
    _dropped: int = 0
    _decoder: codecs.IncrementalDecoder = field(factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take more of the stream."""
        text = self._decoder.decode(data, final)
        room = self.head_limit - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            self._tail.append(text)
            self._tail_length += len(text)
        while self._tail_length > self.tail_limit:
            excess = self._tail_length - self.tail_limit
            first = self._tail.popleft()
            cut = min(excess, len(first))
            if cut < len(first):
                self._tail.appendleft(first[cut:])
            self._tail_length -= cut
            self._dropped += cut

    @property
    def text(self) -> str:
        """What is kept, with a note where something is left out."""
        note = f"\n[... {self._dropped} characters left out ...]\n" if self._dropped else ""
        return self._head + note + "".join(self._tail)

    def last(self, length: int) -> str:
        """Return the end of what is kept."""
        text = self.text
        return text if len(text) <= length else "[...]" + text[-length:]
