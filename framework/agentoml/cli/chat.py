"""`agentoml chat [CONFIG] [-p PROMPT]`: a terminal client that drives the agent over ACP as any editor would."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, get_args

from attrs import define, field

from agentoml.cli.chat_background import Background
from agentoml.cli.chat_client import AgentGone, Conversation, Question, Stop, run_command, sentence
from agentoml.cli.chat_completion import candidates, install
from agentoml.cli.chat_lines import one_line
from agentoml.cli.chat_options import NotOffered, current, find, pick, prompt_line, table, values
from agentoml.cli.chat_screen import Screen
from agentoml.cli.choosing import add_configuration
from agentoml.errors import RemoteError
from agentoml.wire.messages import ToolKind

HELP = """\
/mode [ID]               the modes, or switch to one
/set [OPTION [VALUE]]    the options, the values of one, or switch one
/log                     what the agent logged last
/help                    this
/quit                    leave; so does Ctrl-D. Ctrl-C cancels a running turn, twice leaves"""

COMMAND = re.compile(r"/([\w:.-]+)(?:\s+(.*))?$", re.DOTALL)
EVERYTHING = "everything"
LOG_LINES = 50


class Leave(Exception):
    """The user wants to go, now."""


class Asked(NamedTuple):
    """A question that waits for the user, and where the answer goes."""

    question: Question
    answer: Future[str | None]


def main(args: list[str]) -> int:
    """Run the command and return its exit code: 0, or 1 where a turn did not end well."""
    arguments = _arguments().parse_args(args)
    for out in (sys.stdout, sys.stderr):
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="replace")  # a narrow terminal encoding is no reason to fail
    alone = arguments.prompt is not None  # then stdout carries the answer and nothing else
    screen = Screen(answers=sys.stdout, out=sys.stderr if alone else sys.stdout, cwd=str(Path.cwd()))
    allowed = frozenset([EVERYTHING] if arguments.yes else arguments.allow)
    with Background() as background:
        chat = Chat(screen, background, allowed, arguments.config, tuple(arguments.settings))
        try:
            chat.open()
            return int(not chat.turn(arguments.prompt)) if alone else chat.talk()
        except (AgentGone, RemoteError) as error:
            chat.tell(error)
            return 1
        except (Leave, KeyboardInterrupt):
            return 130
        finally:
            screen.finish()
            chat.close()


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml chat",
        description="Talk to an agent in this terminal, over ACP as any editor would.",
        epilog=f"while it runs:\n\n{HELP}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_configuration(parser)
    parser.add_argument("-p", "--prompt", help="send this, print the answer and leave: exit 0 if the turn ended well")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="allow, once each, whatever a tool needs permission for; whether a project is trusted, or an edited "
        "configuration may allow more, stays your answer",
    )
    parser.add_argument(
        "--allow",
        metavar="KIND",
        action="append",
        default=[],
        choices=get_args(ToolKind),
        help=f"the same for one kind of tool: {', '.join(get_args(ToolKind))}",
    )
    return parser


@define(eq=False)
class Chat:
    """One user and one agent. The agent is heard on the loop's thread; this one waits for keys and for turns."""

    screen: Screen
    background: Background
    allowed: frozenset[str]
    config: str | None
    settings: tuple[str, ...] = ()
    conversation: Conversation | None = None
    _inbox: SimpleQueue[Asked | None] = field(factory=SimpleQueue)
    _in_turn: bool = False
    _leaving: bool = False
    _gone: bool = False
    _log: deque[str] = field(factory=lambda: deque(maxlen=LOG_LINES))
    _keeps_log: bool = False
    """Whether the log would be shown amid the conversation: then it is kept for who asks for it."""

    # ------------------------------------------------------------------------------------------ the user's thread

    def open(self) -> None:
        """Start the agent.

        Raises:
            AgentGone, RemoteError.
        """
        command = run_command(self.config, self.settings)
        self.conversation = self.background.run(Conversation.start(command, self.screen.cwd, self))
        self.background.submit(self._watch_for_the_end(self.conversation))

    def close(self) -> None:
        """Let the agent go."""
        self._leaving = True
        if self.conversation is not None:
            self.background.run(self.conversation.close())

    def talk(self) -> int:
        """Read lines until the user leaves; return 0 if every turn ended well."""
        conversation = self._open_conversation()
        info = conversation.agent.get("agentInfo") or {}
        self.screen.line(f"{info.get('title') or info.get('name') or 'agent'} {info.get('version', '')} · /help", "dim")
        if sys.stdin.isatty():
            install(lambda typed: candidates(typed, conversation.options, self._agent_commands()))
        self._keeps_log = sys.stdin.isatty() and sys.stderr.isatty()
        well, interrupted = True, False
        while not self._gone:
            try:
                self._answer_what_waits()
                line = self.screen.read(lambda: f"{prompt_line(conversation.options)} > ".lstrip()).strip()
                interrupted = False
                if not sys.stdin.isatty():
                    self.screen.line(f"> {line}", "bold")
                if line in ("/quit", "/exit"):
                    break
                well = self._take(line) and well
            except KeyboardInterrupt:
                if interrupted:
                    raise Leave from None
                interrupted = True
                self.screen.line("\nCtrl-C again, or /quit, leaves", "dim")
            except EOFError:
                break
        return int(self._gone or not well)

    def turn(self, text: str) -> bool:
        """Send a prompt, answer what is asked meanwhile, and return whether its turn ended well.

        Raises:
            AgentGone: there is nobody to talk to any more.
            Leave: Ctrl-C, twice.
        """
        conversation, interrupted = self._open_conversation(), False
        prompt = self.background.submit(conversation.prompt(text))
        prompt.add_done_callback(lambda _: self._inbox.put(None))
        self._in_turn = True
        try:
            while not prompt.done():
                try:
                    self._ask(self._inbox.get())
                except KeyboardInterrupt:
                    if interrupted:
                        raise Leave from None
                    interrupted = True
                    self.background.call(conversation.cancel)
        finally:
            self._in_turn = False
        return self._ended(prompt)

    def tell(self, error: AgentGone | RemoteError) -> None:
        """Show an error in one line, with what would help."""
        if isinstance(error, AgentGone):
            self._show_what_was_kept()
            self.screen.line(f"error: {error}; {self._check()} tells whether the file is at fault", "red")
        elif isinstance(error.data, dict) and error.data.get("reason") == "no_valid_configuration":
            self.screen.line(f"error: the configuration is not valid; {self._check()} shows every problem", "red")
        else:
            self.screen.line(f"error: {sentence(error)}", "red")

    def _check(self) -> str:
        words = [
            "agentoml",
            "check",
            *([self.config] if self.config else []),
            *(f"--set={one}" for one in self.settings),
        ]
        return f"`{shlex.join(words)}`"

    def _open_conversation(self) -> Conversation:
        assert self.conversation is not None, "open comes first"
        return self.conversation

    def _ended(self, prompt: Future[Stop]) -> bool:
        try:
            stop = prompt.result()
        except RemoteError as error:
            self.tell(error)
            return False
        self.screen.finish()
        if stop.reason != "end_turn":
            self.screen.line(f"stopped: {stop.reason.replace('_', ' ')}", "yellow")
        self.screen.show_usage()
        return stop.reason == "end_turn" and not stop.failed

    def _take(self, line: str) -> bool:
        """Act on a line of the user's; return whether that went well."""
        command = COMMAND.match(line)
        try:
            match (command[1], (command[2] or "").strip()) if command else ("", ""):
                case ("mode", wanted):
                    return self._mode(wanted)
                case ("set", wanted):
                    return self._set(*wanted.split(maxsplit=1))
                case ("log", ""):
                    return self._show_log()
                case ("help", _):
                    return self._help()
                case (name, _) if name and name not in self._agent_commands():
                    self.screen.line(f"no command /{name}; /help lists what there is", "red")
                    return False
        except (NotOffered, RemoteError) as error:
            self.screen.line(f"error: {sentence(error) if isinstance(error, RemoteError) else error}", "red")
            return False
        return self.turn(line) if line else True

    def _mode(self, wanted: str) -> bool:
        conversation = self._open_conversation()
        if any(option.get("category") == "mode" for option in conversation.options):
            return self._set("mode", *([wanted] if wanted else []))
        if wanted:
            self.background.run(conversation.set_mode(wanted))
        for mode in conversation.modes:
            self.screen.line(f"{'*' if mode['id'] == conversation.mode else ' '} {mode['id']}  {mode['name']}")
        return True

    def _set(self, word: str = "", value: str = "") -> bool:
        conversation = self._open_conversation()
        option = find(conversation.options, word) if word else None
        if option is None or not value:
            for line in values(option) if option else table(conversation.options):
                self.screen.line(line)
            return True
        picked = pick(option, value)
        self.background.run(conversation.set_option(option["id"], picked))
        if picked == option["currentValue"]:
            self.screen.line(f"{option['id']}: {current(option)}, as before", "cyan")
        return True

    def _show_log(self) -> bool:
        for line in tuple(self._log):
            self.screen.log(line)
        return True

    def _show_what_was_kept(self) -> None:
        if self._keeps_log:
            self._show_log()

    def _help(self) -> bool:
        for line in HELP.splitlines():
            self.screen.line(line)
        for command in self._open_conversation().commands:
            hint = (command.get("input") or {}).get("hint")
            usage = f"/{command['name']}{f' [{one_line(hint)}]' if hint else ''}"
            self.screen.line(f"{usage:23}  {one_line(command['description'])}")
        return True

    def _agent_commands(self) -> list[str]:
        return [command["name"] for command in self._open_conversation().commands]

    # ------------------------------------------------------------------------------------------------- questions

    def _answer_what_waits(self) -> None:
        while not self._inbox.empty():
            self._ask(self._inbox.get())

    def _ask(self, asked: Asked | None) -> None:
        """Let the user choose; what can't be understood is asked again."""
        if asked is None:
            return
        options = asked.question.options
        self.screen.question(asked.question.tool_call, options)
        while not asked.answer.done():
            try:
                word = self.screen.read(lambda: f"1-{len(options)} > ").strip()
            except EOFError:
                self._settle(asked, rejection(options))
            else:
                if word.isdecimal() and 1 <= int(word) <= len(options):
                    self._settle(asked, options[int(word) - 1]["optionId"])
                elif word:
                    self.screen.line(f"answer with a number, 1 to {len(options)}", "dim")

    def _settle(self, asked: Asked, chosen: str | None) -> None:
        if asked.answer.set_running_or_notify_cancel():
            asked.answer.set_result(chosen)

    # ------------------------------------------------------------------------------------------ the loop's thread

    def update(self, update: dict[str, Any]) -> None:
        """Take a session update."""
        self.screen.update(update)

    def options_changed(self, phrases: list[str]) -> None:
        """Show what became of the options, in one line."""
        self.screen.line("; ".join(phrases), "cyan")

    def stderr(self, line: str) -> None:
        """Pass on what the agent logged, or keep it."""
        self._log.append(line)
        if not self._keeps_log:
            self.screen.log(line)

    async def question(self, question: Question) -> str | None:
        """Answer a permission question: by --yes and --allow, by the user, or, where nobody can be asked, with no."""
        from asyncio import wrap_future

        call = self.screen.call(question.tool_call)
        once = approval(question.options)
        if once is not None and self.allowed & {EVERYTHING, call.get("kind") or "other"}:
            return once
        if not sys.stdin.isatty():
            remedy = "--yes, --allow" if once is not None else "no answer to it is for this once"
            self.screen.line(f"? {one_line(call.get('title', ''))}: rejected, nobody can be asked ({remedy})", "yellow")
            return rejection(question.options)
        answer: Future[str | None] = Future()
        self._inbox.put(Asked(question, answer))
        if not self._in_turn:
            self.screen.line("the agent has a question: press Enter", "yellow")
        return await wrap_future(answer)

    async def _watch_for_the_end(self, conversation: Conversation) -> None:
        code = await conversation.ended()
        self._gone = True
        if not self._leaving and not self._in_turn:
            self._show_what_was_kept()
            self.screen.line(f"the agent ended (exit code {code})", "red")


def approval(options: list[dict[str, Any]]) -> str | None:
    """Return the answer that allows once; there may be none."""
    return next((option["optionId"] for option in options if option["kind"] == "allow_once"), None)


def rejection(options: list[dict[str, Any]]) -> str | None:
    """Return the answer that says no, for this once if possible; None leaves the question unanswered."""
    kinds = {option["kind"]: option["optionId"] for option in reversed(options)}
    return kinds.get("reject_once", kinds.get("reject_always"))
