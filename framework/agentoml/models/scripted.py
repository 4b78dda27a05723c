"""The adapter `scripted`: plays the replies of `[providers.x.replies]`, offline, for demos and tests.

It keeps no state: which part of a reply comes next follows from the messages of the request, so a reply goes on
after a reload, in a loaded session, and for any number of sessions at once.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, get_args

from attrs import frozen

from agentoml.config.schema import ScriptReply, ScriptStep
from agentoml.errors import ModelError, ModelErrorKind
from agentoml.models.model import (
    AssistantMessage,
    Event,
    Finished,
    Message,
    ModelRequest,
    Part,
    StopKind,
    TextDelta,
    TextPart,
    ThoughtDelta,
    ToolMessage,
    ToolRequest,
    Usage,
    UserMessage,
)

DEFAULT_REPLY = ScriptReply(
    steps=(
        ScriptStep(
            text="This is the offline model: it plays prepared replies and has none for this message. You said: {input}"
        ),
    )
)
CHARACTERS_PER_TOKEN = 4

_WORDS = re.compile(r"\S+\s*|\s+")


@frozen
class Scripted:
    """Plays the first reply that matches the user's last message; without one, says that it is the offline model."""

    replies: Mapping[str, ScriptReply]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Play the next part of the reply: up to and with its next group of tool calls.

        Raises:
            ModelError: a step says `error`, or names an error that does not exist.
        """
        said, result, calls_made = _where_we_are(request.messages)
        reply = self._reply_to(said)
        texts = {"{input}": said, "{result}": result}
        tools: list[ToolRequest] = []
        stop: StopKind = "end_turn"
        answered = sum(isinstance(message, AssistantMessage) for message in request.messages)
        written = 0
        for step in _part(reply.steps, calls_made):
            if step.wait is not None:
                await asyncio.sleep(step.wait)
            if step.error is not None:
                raise _failure(step.error)
            if step.stop is not None:
                stop = step.stop
                break
            if step.tool is not None:
                arguments = json.dumps(_filled(step.args, texts), default=dict)
                tools.append(ToolRequest(f"call_{answered}_{len(tools)}", step.tool, arguments))
                written += len(arguments)
                continue
            delta = TextDelta if step.text is not None else ThoughtDelta
            for word in _WORDS.findall(_filled(step.text if step.text is not None else step.thought or "", texts)):
                written += len(word)
                yield delta(word)
                await asyncio.sleep(0)
        yield Finished("tool_use" if tools else stop, tuple(tools), _usage(reply.usage, request, written))

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""

    def _reply_to(self, said: str) -> ScriptReply:
        for reply in self.replies.values():
            if reply.match is None or _fits(said.lower(), reply.match):
                return reply
        return DEFAULT_REPLY


def _where_we_are(messages: Sequence[Message]) -> tuple[str, str, int]:
    """Return the last user text, the last tool result, and how many model calls answered that text so far."""
    calls_made = 0
    result: str | None = None
    for message in reversed(messages):
        match message:
            case UserMessage(parts=parts) if text := _text(parts):
                return text, result or "", calls_made
            case AssistantMessage():
                calls_made += 1
            case ToolMessage(parts=parts) if result is None:
                result = _text(parts)
    return "", result or "", calls_made


def _text(parts: Sequence[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _part(steps: Sequence[ScriptStep], index: int) -> Sequence[ScriptStep]:
    """Return the steps of one model call; neighbouring tool calls end it."""
    parts: list[list[ScriptStep]] = [[]]
    for step in steps:
        if parts[-1] and parts[-1][-1].tool is not None and step.tool is None:
            parts.append([])
        parts[-1].append(step)
    return parts[index] if index < len(parts) else ()


def _fits(text: str, patterns: Sequence[str]) -> bool:
    positive = [pattern.lower() for pattern in patterns if not pattern.startswith("!")]
    negative = [pattern[1:].lower() for pattern in patterns if pattern.startswith("!")]
    return (not positive or any(fnmatchcase(text, pattern) for pattern in positive)) and not any(
        fnmatchcase(text, pattern) for pattern in negative
    )


def _filled(value: Any, texts: Mapping[str, str]) -> Any:
    """Return a text, or every text inside arguments, with `{input}` and `{result}` filled in (once: never inside
    what was filled in).
    """
    if isinstance(value, str):
        return re.sub(r"\{(?:input|result)\}", lambda found: texts[found.group()], value)
    if isinstance(value, Mapping):
        return {name: _filled(item, texts) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(item, texts) for item in value]
    return value


def _failure(kind: str) -> ModelError:
    for known in get_args(ModelErrorKind):
        if kind == known:
            return ModelError(known, f"the script plays the error {kind}")
    return ModelError("bad_request", "the script plays an error that does not exist")


def _usage(declared: Mapping[str, int], request: ModelRequest, written: int) -> Usage:
    """Return the declared usage; what is not declared is estimated from the number of characters."""
    read = len(request.instructions)
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            read += len(message.text) + sum(len(call.arguments) for call in message.tool_requests)
        else:
            read += len(_text(message.parts))
    return Usage(
        input=declared.get("input", read // CHARACTERS_PER_TOKEN),
        output=declared.get("output", written // CHARACTERS_PER_TOKEN),
        cached=declared.get("cached_read", 0),
    )
