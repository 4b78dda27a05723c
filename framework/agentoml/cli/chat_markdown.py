"""An answer in Markdown, drawn while it streams: finished blocks for good, the open one again and again."""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.markdown import Heading, Markdown

from agentoml.cli.chat_lines import CONTROL

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
LIST_ITEM = re.compile(r"([-*+]|\d+[.)])\s")
REDRAWS_PER_SECOND = 10


class PlainHeading(Heading):
    """A heading on the left, without a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class Message(Markdown):
    """Markdown as a chat shows it."""

    elements = {**Markdown.elements, "heading_open": PlainHeading}  # noqa: RUF012  # as rich has it


class MarkdownAnswer:
    """One message of the agent on a terminal."""

    def __init__(self, out: TextIO, *, colour: bool) -> None:
        self._console = Console(file=out, force_terminal=True, no_color=not colour, highlight=False)
        self._open = ""
        self._drawn_any = False
        self._live: Live | None = None

    def add(self, text: str) -> None:
        """Take more of the message."""
        text = text.translate(CONTROL)
        finished, self._open = split_blocks(self._open + text)
        if finished:
            self._draw(finished)
        if self._live is None:
            self._live = Live(
                console=self._console,
                transient=True,
                refresh_per_second=REDRAWS_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        self._live.update(_markdown(self._open))

    def finish(self) -> None:
        """Draw what is left; the message is over."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._open.strip():
            self._draw(self._open)
        self._open = ""

    def _draw(self, block: str) -> None:
        if self._drawn_any:
            self._console.print()
        self._drawn_any = True
        self._console.print(_markdown(block))


def split_blocks(text: str) -> tuple[str, str]:
    """Split Markdown before its last block: the first part will not change any more, the second may still grow.

    A block begins at a line without indentation behind an empty line, outside of code fences; the items of one list
    stay together.
    """
    start, offset, fence, after_empty = 0, 0, "", False
    for line in text.splitlines(keepends=True):
        opened = FENCE.match(line)
        begins = after_empty and not fence and line[:1] not in (" ", "\t")
        goes_on = LIST_ITEM.match(line) and LIST_ITEM.match(text[start:].lstrip("\n"))
        if begins and line.strip() and line.endswith("\n") and not goes_on:
            start = offset
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1].startswith(fence) and line.strip() == opened[1]:
            fence = ""
        after_empty = not line.strip()
        offset += len(line)
    return text[:start], text[start:]


def _markdown(text: str) -> Message:
    return Message(text, code_theme="ansi_dark", hyperlinks=False)
