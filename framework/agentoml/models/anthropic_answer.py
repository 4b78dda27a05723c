"""A Messages stream, event by event -> events of ours, and what is known at its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agentoml.errors import ModelError
from agentoml.models.failures import garbage
from agentoml.models.model import Event, Finished, StopKind, TextDelta, ThoughtDelta, ToolRequest, Usage
from agentoml.models.tokens import count
from agentoml.models.tool_arguments import argument_object

STOPS: Mapping[str, StopKind] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
PIECES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Kind of a delta -> the key of its block that it adds to; the same key holds its text."""


class MessagesAnswer:
    """Collects one answer; with `before`, the one that it continues.

    `done`: nothing more will come. `finished`: the model ended its answer. `paused`: it wants to be continued.
    """

    def __init__(self, where: str, failure: Callable[[Any], ModelError], before: MessagesAnswer | None = None) -> None:
        self._where = where
        self._failure = failure
        self._before = before
        self._stop: str | None = None
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self.done = False

    @property
    def finished(self) -> bool:
        """Whether the model ended its answer."""
        return self._stop is not None

    @property
    def paused(self) -> bool:
        """Whether the provider paused and wants to be asked to go on."""
        return self._stop == "pause_turn"

    def take(self, data: str) -> list[Event]:
        """Return the events of one event of the stream.

        Raises:
            ModelError: it is an error, or nothing that belongs into such a stream.
        """
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise garbage(self._where, "an event that is not JSON") from None
        try:
            return self._take(event)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise garbage(self._where, "an event that does not belong into a message") from None

    def own_blocks(self) -> list[dict[str, Any]]:
        """Return the blocks of this answer, whole, as they are to be sent back."""
        blocks = []
        for index, block in sorted(self._blocks.items()):
            whole = dict(block)
            for (place, name), pieces in self._pieces.items():
                if place == index and name != "input":
                    whole[name] = (block.get(name) or "") + "".join(pieces)
            if "input" in block:
                whole["input"] = argument_object(self._request(index, block))
            if block["type"] != "text" or whole.get("text", "").strip():
                blocks.append(whole)
        return blocks

    def result(self, origin: str) -> Finished:
        """Return the end of the answer. Calls that were cut off or refused are left out."""
        stop = STOPS.get(self._stop or "", "end_turn")
        calls: tuple[ToolRequest, ...] = ()
        opaque: Mapping[str, Any] | None = None
        if stop in ("end_turn", "tool_use"):
            calls = tuple(
                self._request(index, block)
                for index, block in sorted(self._blocks.items())
                if block["type"] == "tool_use"
            )
            stop = "tool_use" if calls else "end_turn"
            blocks = self._all_blocks()
            if any(block["type"] != "text" for block in blocks):
                opaque = {"origin": origin, "blocks": blocks}
        return Finished(stop, calls, self._tokens(), opaque)

    def _take(self, event: dict[str, Any]) -> list[Event]:
        match event.get("type"):
            case "content_block_delta":
                return self._take_delta(event["index"], event["delta"])
            case "content_block_start":
                return self._start_block(event["index"], event["content_block"])
            case "message_start":
                self._add_usage(event["message"].get("usage"))
            case "message_delta":
                self._add_usage(event.get("usage"))
                self._end(event["delta"].get("stop_reason"))
            case "message_stop":
                self.done = True
                self._end(self._stop or "end_turn")
            case "error":
                raise self._failure(event.get("error"))
        return []

    def _end(self, reason: Any) -> None:
        if not isinstance(reason, str | None):
            raise TypeError
        self._stop = reason or self._stop

    def _start_block(self, index: int, block: dict[str, Any]) -> list[Event]:
        texts = ["type", *(name for name in PIECES.values() if name in block)]
        if block["type"] in ("tool_use", "server_tool_use"):
            texts += ["id", "name"]
        if not all(isinstance(block[name], str) for name in texts):
            raise TypeError
        self._blocks[index] = block
        if block["type"] == "text" and block.get("text"):
            return [TextDelta(block["text"])]
        if block["type"] == "thinking" and block.get("thinking"):
            return [ThoughtDelta(block["thinking"])]
        return []

    def _take_delta(self, index: int, delta: dict[str, Any]) -> list[Event]:
        kind = delta["type"]
        if kind == "input_json_delta":
            self._add(index, "input", delta["partial_json"])
            return []
        name = PIECES.get(kind)
        if name is None:  # citations, and what may come later
            return []
        text = delta[name]
        self._add(index, name, text)
        if kind == "text_delta":
            return [TextDelta(text)] if text else []
        return [ThoughtDelta(text)] if kind == "thinking_delta" and text else []

    def _add(self, index: int, name: str, text: str) -> None:
        if not isinstance(text, str) or index not in self._blocks:
            raise TypeError
        self._pieces.setdefault((index, name), []).append(text)

    def _request(self, index: int, block: Mapping[str, Any]) -> ToolRequest:
        text = "".join(self._pieces.get((index, "input"), ())) or json.dumps(block.get("input") or {})
        return ToolRequest(block["id"], block["name"], text)

    def _all_blocks(self) -> list[dict[str, Any]]:
        return (self._before._all_blocks() if self._before else []) + self.own_blocks()

    def _add_usage(self, usage: dict[str, Any] | None) -> None:
        self._usage.update({name: value for name, value in (usage or {}).items() if value is not None})

    def _tokens(self) -> Usage | None:
        before = self._before._tokens() if self._before else None
        if not self._usage:
            return before
        usage = self._usage
        cached = count(usage, "cache_read_input_tokens")
        written = count(usage, "cache_creation_input_tokens")
        earlier = before or Usage()
        return Usage(
            input=earlier.input + count(usage, "input_tokens") + cached + written,
            output=earlier.output + count(usage, "output_tokens"),
            cached=earlier.cached + cached,
            written=earlier.written + written,
            reasoning=earlier.reasoning + count(usage.get("output_tokens_details"), "thinking_tokens"),
        )
