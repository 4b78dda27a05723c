"""A Chat Completions stream, piece by piece -> events, and what is known at its end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from agentoml.errors import ModelError
from agentoml.models.failures import garbage
from agentoml.models.model import Event, Finished, StopKind, TextDelta, ThoughtDelta, ToolRequest, Usage
from agentoml.models.tokens import count

STOPS: Mapping[str, StopKind] = {
    "stop": "end_turn",
    "end_turn": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
}


@define
class _Call:
    """A tool call that is still coming."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(factory=list)


class ChatAnswer:
    """Collects one answer.

    `done`: nothing more will come that matters. `finished`: the model ended its answer.
    """

    def __init__(self, where: str, failure: Callable[[Any], ModelError]) -> None:
        self._where = where
        self._failure = failure
        self._stop: StopKind | None = None
        self._usage: Usage | None = None
        self._calls: list[_Call] = []
        self._places: dict[int, _Call] = {}
        self._reasoning: dict[str, list[str]] = {}
        self._details: list[Any] = []
        self._thinking: list[list[dict[str, Any]]] = []
        self._refused = False
        self.done = False

    @property
    def finished(self) -> bool:
        """Whether the model ended its answer."""
        return self._stop is not None

    def take(self, data: str) -> list[Event]:
        """Return the events of one piece.

        Raises:
            ModelError: the piece is an error, or nothing that belongs into such a stream.
        """
        if data == "[DONE]":
            self.done = True
            self._stop = self._stop or "end_turn"
            return []
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            raise garbage(self._where, "an event that is not JSON") from None
        return self.take_chunk(chunk)

    def take_chunk(self, chunk: Any) -> list[Event]:
        """Return the events of one piece that is taken apart already.

        Raises:
            ModelError: the piece is an error, or nothing that belongs into such a stream.
        """
        try:
            return self._take(chunk)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise garbage(self._where, "an event that is no chunk of a chat completion") from None

    def result(self, origin: str) -> Finished:
        """Return the end of the answer. Calls that were cut off or refused are left out."""
        stop = self._stop or "end_turn"
        if self._refused:
            stop = "refusal"
        calls: tuple[ToolRequest, ...] = ()
        if stop in ("end_turn", "tool_use"):
            calls = tuple(
                ToolRequest(call.id or f"call_{os.urandom(12).hex()}", call.name, "".join(call.arguments) or "{}")
                for call in self._calls
                if call.name
            )
            stop = "tool_use" if calls else "end_turn"
        fields: dict[str, Any] = {name: "".join(texts) for name, texts in self._reasoning.items()}
        if self._details:
            fields["reasoning_details"] = self._details
        if self._thinking:
            fields["thinking_blocks"] = [_joined(block) for block in self._thinking]
        return Finished(stop, calls, self._usage, {"origin": origin, "fields": fields} if fields and calls else None)

    def _take(self, chunk: dict[str, Any]) -> list[Event]:
        if chunk.get("error"):
            raise self._failure(chunk["error"])
        if usage := chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage"):
            tokens = usage_of(usage)
            self._usage = tokens if tokens.input or tokens.output else self._usage
        choices = chunk.get("choices")
        if not choices:
            return []
        choice = choices[0]
        events: list[Event] = []
        delta = choice.get("delta") or choice.get("message")
        if delta:
            self._take_delta(delta, events)
        if (reason := choice.get("finish_reason")) is not None:
            if reason == "error":
                raise self._failure(choice.get("error") or "the model failed")
            self._stop = STOPS.get(reason, "end_turn")
        return events

    def _take_delta(self, delta: dict[str, Any], events: list[Event]) -> None:
        for name in ("reasoning_content", "reasoning"):
            if thought := delta.get(name):
                if not isinstance(thought, str):
                    raise TypeError
                events.append(ThoughtDelta(thought))
                self._reasoning.setdefault(name, []).append(thought)
                break  # some send both, with the same text
        if details := delta.get("reasoning_details"):
            self._details += details
        for block in delta.get("thinking_blocks") or ():
            self._take_thinking(block)
        if content := delta.get("content"):
            if isinstance(content, str):
                events.append(TextDelta(content))
            else:
                events += _content_events(content)
        if refusal := delta.get("refusal"):
            self._refused = True
            events.append(TextDelta(_text(refusal)))
        for call in delta.get("tool_calls") or ():
            self._take_call(call)

    def _take_thinking(self, part: dict[str, Any]) -> None:
        """Add a part of a signed thought, as LiteLLM passes them on; its signature is its last part."""
        last = self._thinking[-1][-1] if self._thinking else {}
        if part.get("type") == last.get("type") == "thinking" and not last.get("signature"):
            self._thinking[-1].append(part)
        else:
            self._thinking.append([part])

    def _take_call(self, part: dict[str, Any]) -> None:
        """Add a part of a tool call.

        Parts belong together by their index. Some providers send none, or the same one for several calls: then an id
        or name that differs begins a new call.
        """
        index = part.get("index")
        function = part.get("function") or {}
        new_id, name, arguments = part.get("id") or "", function.get("name") or "", function.get("arguments") or ""
        if not isinstance(arguments, str):  # a whole object
            arguments = json.dumps(arguments)
        call = self._places.get(index) if isinstance(index, int) else self._calls[-1] if self._calls else None
        if call is not None:
            another_id = new_id and call.id and new_id != call.id
            another_name = index is None and not new_id and name and call.name
            if another_id or another_name:
                call = None
        if call is None:
            call = _Call()
            self._calls.append(call)
            if isinstance(index, int):
                self._places[index] = call
        call.id = call.id or _text(new_id)
        call.name = call.name or _text(name)
        call.arguments.append(arguments)


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a signed thought from its parts; one that is redacted is a single part."""
    if parts[0].get("type") != "thinking":
        return parts[0]
    return {
        "type": "thinking",
        "thinking": "".join(str(part.get("thinking") or "") for part in parts),
        "signature": parts[-1].get("signature") or "",
    }


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _content_events(parts: list[dict[str, Any]]) -> list[Event]:
    """Return the events of content in parts: texts, and thoughts that are lists of texts."""
    events: list[Event] = []
    for part in parts:
        if part.get("type") == "text" and part.get("text"):
            events.append(TextDelta(_text(part["text"])))
        elif part.get("type") == "thinking":
            thinking = part.get("thinking") or ""
            pieces = [thinking] if isinstance(thinking, str) else [_text(piece.get("text") or "") for piece in thinking]
            events += [ThoughtDelta(piece) for piece in pieces if piece]
    return events


def usage_of(usage: dict[str, Any]) -> Usage:
    """Return the tokens of a `usage` object; what is not told is 0."""
    read = usage.get("prompt_tokens_details")
    return Usage(
        input=count(usage, "prompt_tokens"),
        output=count(usage, "completion_tokens"),
        cached=count(read, "cached_tokens") or count(usage, "prompt_cache_hit_tokens"),
        written=count(read, "cache_write_tokens", "cache_creation_tokens")
        or count(usage, "cache_creation_input_tokens"),
        reasoning=count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )
