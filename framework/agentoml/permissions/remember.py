"""What a user's "always" remembers (E51): rules that join `auto_answers`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentoml.config.schema import Rule
from agentoml.config.vocabulary.notation import Patterns
from agentoml.permissions.calls import Call
from agentoml.permissions.commands import CommandLine, Redirection, SimpleCommand, take_apart
from agentoml.permissions.parts import COMMAND_LINES, NOT_JUDGED
from agentoml.permissions.patterns import ANY_WORDS
from agentoml.permissions.words import Word

ON_PATHS = frozenset(("edit", "delete", "move"))
"""Kinds of tools of which the path is remembered, not the tool alone."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_:@%+,-]*\Z", re.ASCII)
_LITERAL = re.compile(r"[^*?!'\"\s\\][^*?'\"\s\\]*\Z")
_PATH = re.compile(r"[^*?!~][^*?]*\Z", re.DOTALL)


def remember(call: Call) -> tuple[Rule, ...]:
    """Return the rules that answer calls like this one from now on; empty where nothing can be remembered.

    The tool; for a command line, of each command its words up to the first argument that is not a plain word, and the
    paths it redirects to; for an edit, the paths.
    """
    if call.tool in COMMAND_LINES:
        line = call.args.get(COMMAND_LINES[call.tool])
        taken = take_apart(line) if isinstance(line, str) else CommandLine(False)
        return _of_line(call.tool, taken) if taken.parsed else ()
    if call.kind in ON_PATHS:
        if not call.paths or not all(_PATH.match(path) for path in call.paths):
            return ()
        return (Rule(tool=Patterns((call.tool,)), path=Patterns(call.paths), action="allow"),)
    return (Rule(tool=Patterns((call.tool,)), action="allow"),)


def describe(call: Call) -> str:
    """Return what `remember` would remember, in a few words for the user."""
    return " and ".join(_described(rule) for rule in remember(call)) or call.tool


def _described(rule: Rule) -> str:
    if rule.command:
        return ", ".join(f"`{pattern}`" for pattern in rule.command)
    if rule.path:
        return f"edits of {', '.join(rule.path)}"
    return ", ".join(rule.tool or ())


def _of_line(tool: str, line: CommandLine) -> tuple[Rule, ...]:
    patterns = [_pattern(command) for command in line.commands if command.words or command.assignments]
    paths = [redirection.target for redirection in _redirections(line)]
    if not patterns or not all(patterns) or not all(path.literal and _PATH.match(path.text) for path in paths):
        return ()
    commands = Rule(
        tool=Patterns((tool,)), command=Patterns(tuple(dict.fromkeys(filter(None, patterns)))), action="allow"
    )
    edited = tuple(dict.fromkeys(path.text for path in paths))
    return (commands, Rule(kind=Patterns(("edit",)), path=Patterns(edited), action="allow")) if edited else (commands,)


def _redirections(line: CommandLine) -> Iterator[Redirection]:
    every = (*line.redirections, *(redirection for command in line.commands for redirection in command.redirections))
    return (each for each in every if each.writes and each.target.text not in NOT_JUDGED)


def _pattern(command: SimpleCommand) -> str | None:
    """Return the pattern of a command, None where it can't be said: its assignments and program must be literal."""
    head = (*command.assignments, *command.words[:1])
    if not command.words or not all(word.literal and _LITERAL.match(word.text) for word in head):
        return None
    plain: list[Word] = []
    for word in command.words[1:]:
        if not word.literal or not _PLAIN.match(word.text):
            break
        plain.append(word)
    rest = [ANY_WORDS] if len(plain) < len(command.words) - 1 else []
    return " ".join([*(word.text for word in (*head, *plain)), *rest])
