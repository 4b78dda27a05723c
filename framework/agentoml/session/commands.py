"""Slash commands: a prompt that begins with `/name` -> the command and what follows it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from agentoml.snapshot.resolve import Resolved
from agentoml.snapshot.snapshot import Command
from agentoml.wire.messages import available_command, text_block

INPUT = "{input}"
SLASH = re.compile(r"/(?P<name>\S+)(?:\s+(?P<input>.*))?\Z", re.DOTALL)


@frozen
class Sent:
    """A slash command as it was sent: its name, what follows it, and the other content blocks."""

    name: str
    input: str
    others: tuple[Mapping[str, Any], ...]


def sent_command(prompt: Sequence[Mapping[str, Any]], known: Collection[str]) -> Sent | None:
    """Return the command that a prompt begins with; None where it begins with nothing known."""
    first = prompt[0] if prompt else {}
    text = first.get("text", "") if first.get("type") == "text" else ""
    found = SLASH.match(text)
    if found is None or found["name"] not in known:
        return None
    return Sent(found["name"], (found["input"] or "").strip(), tuple(prompt[1:]))


def prompt_of(command: Command, sent: Sent) -> list[Mapping[str, Any]]:
    """Return the prompt that a command stands for; input that the template does not place comes behind it."""
    template = command.prompt or ""
    text = template.replace(INPUT, sent.input) if INPUT in template else f"{template}\n\n{sent.input}".strip()
    return [text_block(text), *sent.others]


def available_commands(resolved: Resolved) -> list[dict[str, Any]]:
    """Return the complete list as the client is sent it."""
    found = (resolved.shown.snapshot.commands[name] for name in resolved.commands)
    return [
        available_command(command.name, command.value.shown.description or command.value.shown.name, command.hint)
        for command in found
    ]
