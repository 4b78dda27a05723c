"""A Responses stream, event by event -> events of ours, and what is known at its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agentoml.errors import ModelError
from agentoml.models.failures import garbage
from agentoml.models.model import Event, Finished, StopKind, TextDelta, ThoughtDelta, ToolRequest, Usage
from agentoml.models.tokens import count

SENT_BACK = frozenset({"message", "function_call", "reasoning"})
NOT_SENT_BACK = frozenset({"status", "id"})
"""Keys of items. An id would be looked up in what the provider stored, which is nothing."""


class ResponsesAnswer:
    """Collects one answer. `finished`: the response is over, whole or cut off."""

    def __init__(self, where: str, failure: Callable[[Any], ModelError]) -> None:
        self._where = where
        self._failure = failure
        self._stop: StopKind | None = None
        self._usage: Usage | None = None
        self._items: list[dict[str, Any]] = []
        self._said = False

    @property
    def finished(self) -> bool:
        """Whether the response is over."""
        return self._stop is not None

    def take(self, data: str) -> list[Event]:
        """Return the events of one event of the stream.

        Raises:
            ModelError: it is an error, or nothing that belongs into such a stream.
        """
        if data == "[DONE]":  # not from OpenAI itself
            return []
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise garbage(self._where, "an event that is not JSON") from None
        try:
            return self._take(event)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise garbage(self._where, "an event that does not belong into a response") from None

    def result(self, origin: str) -> Finished:
        """Return the end of the answer. Calls that were cut off or refused are left out."""
        stop = self._stop or "end_turn"
        if any(part.get("type") == "refusal" for item in self._items for part in item.get("content") or ()):
            stop = "refusal"
        if stop not in ("end_turn", "tool_use"):
            return Finished(stop, usage=self._usage)
        calls = tuple(
            ToolRequest(item["call_id"], item["name"], item["arguments"] or "{}")
            for item in self._items
            if item["type"] == "function_call"
        )
        items = [_sent_back(item) for item in self._items if _worth_it(item)]
        opaque: Mapping[str, Any] | None = None
        if any(item["type"] == "reasoning" for item in items):
            opaque = {"origin": origin, "items": items}
        return Finished("tool_use" if calls else "end_turn", calls, self._usage, opaque)

    def _take(self, event: dict[str, Any]) -> list[Event]:
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                self._said = True
                return [TextDelta(_text(event["delta"]))] if event["delta"] else []
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return [ThoughtDelta(_text(event["delta"]))] if event["delta"] else []
            case "response.reasoning_summary_part.added":
                return [ThoughtDelta("\n\n")] if event.get("summary_index") else []
            case "response.output_item.done":
                self._add_item(event["item"])
            case "response.completed" | "response.incomplete":
                return self._end(event["response"])
            case "response.failed":
                raise self._failure(event["response"].get("error"))
            case "error":
                raise self._failure(event.get("error") or event)
            case None if event.get("error"):
                raise self._failure(event["error"])
            case None if event.get("object") == "response":  # an answer that is no stream
                return self._end(event)
        return []

    def _end(self, response: dict[str, Any]) -> list[Event]:
        usage = response.get("usage")
        if usage:
            self._usage = Usage(
                input=count(usage, "input_tokens"),
                output=count(usage, "output_tokens"),
                cached=count(usage.get("input_tokens_details"), "cached_tokens"),
                written=count(usage.get("input_tokens_details"), "cache_write_tokens"),
                reasoning=count(usage.get("output_tokens_details"), "reasoning_tokens"),
            )
        if not self._items:
            for item in response.get("output") or ():
                self._add_item(item)
        self._stop = "end_turn"
        if response.get("status") == "incomplete":
            reason = (response.get("incomplete_details") or {}).get("reason")
            self._stop = "refusal" if reason == "content_filter" else "max_tokens"
        if self._said:
            return []
        said = [item for item in self._items if item["type"] == "message"]
        texts = (part.get("text") or part.get("refusal") for item in said for part in item.get("content") or ())
        return [TextDelta(_text(text)) for text in texts if text]

    def _add_item(self, item: dict[str, Any]) -> None:
        if _text(item["type"]) == "function_call":
            _text(item["call_id"]), _text(item["name"]), _text(item["arguments"])
        if not all(isinstance(part, dict) for part in item.get("content") or ()):
            raise TypeError
        self._items.append(item)


def _worth_it(item: Mapping[str, Any]) -> bool:
    """Tell whether an item is sent back: reasoning only if it came encrypted, for nothing else keeps it."""
    return item["type"] in SENT_BACK and (item["type"] != "reasoning" or bool(item.get("encrypted_content")))


def _sent_back(item: Mapping[str, Any]) -> dict[str, Any]:
    without = NOT_SENT_BACK if item["type"] != "reasoning" else frozenset({"status"})
    return {name: value for name, value in item.items() if name not in without}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
