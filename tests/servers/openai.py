"""What a Chat Completions server streams: chunks as `http_server.Answer` steps.

HttpServer(openai.answer(openai.text("Hel"), openai.text("lo"), openai.finish("stop"), openai.usage(10, 2)))
"""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import Any

from servers.http_server import Answer, Step
from servers.said import Said


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


FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}


def reply(said: Said) -> Answer:
    """An answer that says this; its tool calls come interleaved."""
    steps: list[Step] = [thought(piece) for piece in said.thoughts]
    steps += [text(word) if isinstance(word, str) else word for word in said.words]
    steps += [tool_call(index, call.id, call.name, "") for index, call in enumerate(said.calls)]
    rows = zip_longest(*(call.pieces() for call in said.calls))
    steps += [tool_call(index, None, None, piece) for row in rows for index, piece in enumerate(row) if piece]
    tokens = said.tokens
    end = finish("tool_calls" if said.calls else FINISH[said.stop])
    return answer(*steps, end, usage(tokens.input, tokens.output, tokens.cached, tokens.reasoning))


def images(body: Any) -> list[tuple[str, str]]:
    """The images of a request: MIME type and base64 data."""
    parts = [
        part for message in body["messages"] if isinstance(message.get("content"), list) for part in message["content"]
    ]
    return [data_url(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]


def data_url(url: str) -> tuple[str, str]:
    kind, data = url.removeprefix("data:").split(";base64,")
    return kind, data


def tool_results(body: Any) -> dict[str, str]:
    """The results of tool calls in a request: id -> text."""
    return {message["tool_call_id"]: message["content"] for message in body["messages"] if message["role"] == "tool"}


def thoughts_sent_back(body: Any) -> list[str]:
    """The reasoning that a request gives back."""
    return [message["reasoning_content"] for message in body["messages"] if "reasoning_content" in message]
