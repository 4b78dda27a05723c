"""What the user sees: streamed answers, lines about everything else, and the prompt kept below them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from attrs import define, field

from agentoml.cli import chat_lines
from agentoml.cli.chat_background import NUDGE
from agentoml.cli.chat_lines import CONTROL, Line, Style

ANSI: dict[Style, str] = {
    "plain": "",
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
    "cyan": "\x1b[36m",
}
RESET = "\x1b[0m"
ERASE_LINE = "\r\x1b[K"


class PromptChanged(Exception):
    """The prompt that a line is being typed behind is another one now."""


class Answer(Protocol):
    """A message of the agent while it streams."""

    def add(self, text: str) -> None:
        """Show more of it."""

    def finish(self) -> None:
        """Its end."""


@define
class Written:
    """A message written as it comes, in one style."""

    out: TextIO
    style: Style = "plain"
    _last: str = "\n"

    def add(self, text: str) -> None:
        """Show more of it."""
        if text:
            self.out.write(painted(self.out, Line(text, self.style)))
            self.out.flush()
            self._last = text[-1]

    def finish(self) -> None:
        """End its last line."""
        if self._last != "\n":
            self.out.write("\n")
            self.out.flush()


@define(eq=False)
class Screen:
    """Where a conversation is shown: answers to one file, everything else to another or the same.

    Called from the thread of the event loop and from the one that waits for keys.
    """

    answers: TextIO
    out: TextIO
    cwd: str
    usage: dict[str, Any] | None = None
    _stream: tuple[str, Answer] | None = None
    _calls: dict[str, dict[str, Any]] = field(factory=dict)
    _shown_content: dict[str, Any] = field(factory=dict)
    _prompt: str | None = None
    _prompt_now: Callable[[], str] = str
    _changed: bool = False
    """Whether the prompt changed since the user began to type behind it."""
    _deferred: list[dict[str, Any]] = field(factory=list)
    _lock: threading.RLock = field(factory=threading.RLock)

    def update(self, update: dict[str, Any]) -> None:
        """Show a session update."""
        with self._lock:
            match update["sessionUpdate"]:
                case "usage_update":
                    self.usage = update
                case "notice":
                    self.lines(chat_lines.notice(update))
                case "agent_message_chunk" | "agent_thought_chunk" | "tool_call" | "tool_call_update" | "plan":
                    if self._prompt is None:
                        self._show(update)
                    else:  # somebody is typing: it waits until the line is finished
                        self._deferred.append(update)

    def lines(self, lines: list[Line]) -> None:
        """Show lines, above the prompt if there is one."""
        with self._lock:
            self._interrupt()
            if self._prompt is not None and self.out.isatty():
                self.out.write(ERASE_LINE)
            for line in lines:
                self.out.write(painted(self.out, line) + "\n")
            if self._prompt is not None and self.out.isatty():
                self._show_prompt(self._prompt)
            self.out.flush()

    def line(self, text: str, style: Style = "plain") -> None:
        """Show one line."""
        self.lines([Line(text, style)])

    def log(self, line: str) -> None:
        """Pass on a line of the agent's stderr."""
        with self._lock:
            self._interrupt()
            between = self._prompt is not None and self.out.isatty()
            sys.stderr.write((ERASE_LINE if between else "") + painted(sys.stderr, Line(line)) + "\n")
            sys.stderr.flush()
            if between:
                self.lines([])

    def call(self, update: dict[str, Any]) -> dict[str, Any]:
        """Return all that is known of a tool call, with an update folded in."""
        known = self._calls.setdefault(update["toolCallId"], {})
        known.update({key: value for key, value in update.items() if value is not None})
        return known

    def question(self, tool_call: dict[str, Any], options: list[dict[str, Any]]) -> None:
        """Show a permission question with its numbered answers."""
        with self._lock:
            call = self.call(tool_call)
            headline = chat_lines.tool_call({**call, "status": "pending"}, self.cwd)
            self.lines(
                [
                    Line(f"? {headline.text[2:]}", "yellow"),
                    *self._content(call, in_full=True),
                    *chat_lines.question(options),
                ]
            )

    def read(self, prompt: Callable[[], str]) -> str:
        """Show a prompt and return the line that the user types, without its end. `prompt` is asked again with each
        line that comes between: what it says may change meanwhile.

        Raises:
            EOFError: there is no more input.
            KeyboardInterrupt.
        """
        with self._lock:
            self.finish()
            if sys.stdin.isatty():
                self._prompt_now, self._prompt = prompt, prompt()
        try:
            return self._read_line()
        finally:
            with self._lock:
                self._prompt = None
                deferred, self._deferred = self._deferred, []
                for update in deferred:
                    self._show(update)

    def finish(self) -> None:
        """End what streams."""
        with self._lock:
            if self._stream is not None:
                self._stream[1].finish()
                self._stream = None

    def show_usage(self) -> None:
        """Show how full the context is, if the agent said so since the last time."""
        with self._lock:
            if self.usage is not None:
                self.lines([chat_lines.usage(self.usage)])
                self.usage = None

    def _interrupt(self) -> None:
        """End what streams where a line comes between; an answer that goes into a file of its own has no such lines."""
        apart = self.answers is not self.out and not self.answers.isatty()
        if not (apart and self._stream is not None and self._stream[0].startswith("agent_message_chunk")):
            self.finish()

    def _show_prompt(self, shown: str) -> None:
        """Show the prompt again, and what was typed. For another one than `shown`, `input` must begin anew."""
        self._prompt = self._prompt_now()
        if self._prompt == shown or not self._edits():
            self.out.write(self._prompt + _typed())
        else:
            self._changed = True
            main = threading.main_thread().ident
            assert main is not None
            signal.pthread_kill(main, NUDGE)

    def _edits(self) -> bool:
        return sys.stdin.isatty() and self.out is sys.stdout and self.out.isatty()

    def _read_line(self) -> str:
        if self._edits():
            return self._edit_line()
        if self._prompt is not None:
            self.out.write(self._prompt)
            self.out.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")

    def _edit_line(self) -> str:
        import readline  # gives `input` editing and a history

        typed, editing = "", False

        def nudged(*_: object) -> None:
            nonlocal typed, editing
            if self._changed and editing:
                typed, editing = readline.get_line_buffer(), False
                raise PromptChanged

        before = signal.signal(NUDGE, nudged)
        readline.set_startup_hook(lambda: readline.insert_text(typed))
        try:
            while True:
                try:
                    self._changed, editing = False, True
                    line = input(self._prompt)
                    editing = False
                    return line
                except PromptChanged:
                    with self._lock:
                        self.out.write(ERASE_LINE)
        finally:
            editing = False
            readline.set_startup_hook()
            signal.signal(NUDGE, before)

    def _show(self, update: dict[str, Any]) -> None:
        match update["sessionUpdate"]:
            case "agent_message_chunk" | "agent_thought_chunk" as kind:
                self._continue(f"{kind} {update.get('messageId')}", kind, chat_lines.block_text(update["content"]))
            case "tool_call" | "tool_call_update":
                self._show_call(update)
            case "plan":
                self.lines(chat_lines.plan(update["entries"]))

    def _show_call(self, update: dict[str, Any]) -> None:
        begins = update["toolCallId"] not in self._calls
        status_before = self._calls.get(update["toolCallId"], {}).get("status")
        call = self.call(update)
        ended = call.get("status") in ("completed", "failed") and call.get("status") != status_before
        if begins or ended:
            self.lines([chat_lines.tool_call(call, self.cwd), *(self._content(call) if ended else ())])

    def _content(self, call: dict[str, Any], *, in_full: bool = False) -> list[Line]:
        """Return the lines of a call's content, unless just that was shown before."""
        content = call.get("content") or []
        if self._shown_content.get(call["toolCallId"]) == content:
            return []
        self._shown_content[call["toolCallId"]] = content
        return chat_lines.content(content, self.cwd, in_full=in_full)

    def _continue(self, stream: str, kind: str, text: str) -> None:
        if self._stream is None or self._stream[0] != stream:
            self.finish()
            self._stream = (stream, self._answer() if kind == "agent_message_chunk" else Written(self.out, "dim"))
        self._stream[1].add(text)

    def _answer(self) -> Answer:
        if not self.answers.isatty():
            return Written(self.answers)
        from agentoml.cli.chat_markdown import MarkdownAnswer

        return MarkdownAnswer(self.answers, colour=coloured(self.answers))


def painted(out: TextIO, line: Line) -> str:
    """Return a line as it is written to `out`: for a terminal without control characters and in its style."""
    if not out.isatty():
        return line.text
    text = line.text.translate(CONTROL)
    return f"{ANSI[line.style]}{text}{RESET}" if line.style != "plain" and coloured(out) else text


def coloured(out: TextIO) -> bool:
    """Return whether colours are wanted there."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _typed() -> str:
    """Return what the user has typed so far."""
    import readline

    return readline.get_line_buffer()
