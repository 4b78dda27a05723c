"""What a Chat Completions server streams: chunks as `http_server.Answer` steps.

HttpServer(openai.answer(openai.text("Hel"), openai.text("lo"), openai.finish("stop"), openai.usage(10, 2)))
"""

from __future__ import annotations

import json
from typing import Any

from servers.http_server import Answer, Step


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> str:
    """One event with one choice."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more})


def event(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"


def text(content: str) -> str:
    return chunk({"content": content})


def thought(content: str, name: str = "reasoning_content") -> str:
    return chunk({name: content})


def tool_call(index: int | None, id: str | None, name: str | None, arguments: Any) -> str:
    """A part of a tool call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    call = {"index": index, "id": id, "type": "function", "function": function}
    return chunk({"tool_calls": [{key: value for key, value in call.items() if value is not None}]})


def finish(reason: str) -> str:
    return chunk(finish=reason)


def usage(read: int, written: int, cached: int = 0, reasoning: int = 0) -> str:
    """The chunk that `stream_options.include_usage` asks for: no choices."""
    tokens = {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    return event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": tokens})


DONE = "data: [DONE]\n\n"


def answer(*steps: Step) -> Answer:
    """A stream of these steps that ends as it should."""
    return Answer((*steps, DONE))


def says(*words: str, read: int = 10) -> Answer:
    """A whole answer of text, a chunk each word."""
    return answer(*map(text, words), finish("stop"), usage(read, len(words)))


def calls(*tools: tuple[str, str, dict[str, Any]], read: int = 10) -> Answer:
    """A whole answer that asks for tools: (id, name, arguments) each, in parallel."""
    parts = (tool_call(index, id, name, json.dumps(args)) for index, (id, name, args) in enumerate(tools))
    return answer(*parts, finish("tool_calls"), usage(read, 5))
