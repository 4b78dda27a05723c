"""A model request -> the JSON body of Messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agentoml.models.model import (
    AssistantMessage,
    ImagePart,
    ModelRequest,
    Part,
    TextPart,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from agentoml.models.tool_arguments import argument_object

Block = dict[str, Any]

DEFAULT_OUTPUT = 32_000
"""Tokens of an answer where the catalog does not say how long one may be; Messages must be told."""

OFF_LEVELS = frozenset({"none", "off"})
CACHED = {"type": "ephemeral"}
CACHED_MESSAGES = 2

_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


def request_body(request: ModelRequest, origin: str) -> dict[str, Any]:
    """Return the JSON body of a request; `params` come last and win.

    `origin` says which model's opaque content may be sent back. The tools, the instructions and the last messages
    end with marks for the prompt cache: what comes before a mark is read from the cache by the next request.
    """
    output = request.max_output or DEFAULT_OUTPUT
    messages = _messages(request, origin)
    body: dict[str, Any] = {"model": request.model_id, "max_tokens": output, "messages": messages, "stream": True}
    if request.instructions.strip():
        body["system"] = [{"type": "text", "text": request.instructions, "cache_control": CACHED}]
    if request.tools:
        tools: list[Block] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        tools[-1]["cache_control"] = CACHED
        body["tools"] = tools
    if request.reasoning_budget is not None:
        if request.reasoning_budget <= 0 or _thinking_missing(messages):
            body["thinking"] = {"type": "disabled"}
        else:
            body["thinking"] = {"type": "enabled", "budget_tokens": request.reasoning_budget}
            if request.max_output is None or request.max_output <= request.reasoning_budget:
                body["max_tokens"] = request.reasoning_budget + output  # the budget is a part of it
    elif request.reasoning is not None:
        if request.reasoning in OFF_LEVELS:
            body["thinking"] = {"type": "disabled"}
        else:
            body["thinking"] = {"type": "adaptive", "display": "summarized"}
            body["output_config"] = {"effort": request.reasoning}
    body.update(request.params)
    return body


def _messages(request: ModelRequest, origin: str) -> list[Block]:
    """Return the conversation with roles that alternate: tool results and what the user says next are one message."""
    said: list[Block] = []
    for message in request.messages:
        match message:
            case UserMessage(parts=parts):
                role, blocks = "user", _blocks(parts) or [{"type": "text", "text": "(nothing)"}]
            case ToolMessage():
                role, blocks = "user", [_tool_result(message)]
            case AssistantMessage():
                role, blocks = "assistant", _assistant(message, origin)
        if said and said[-1]["role"] == role:
            said[-1]["content"] += blocks
        elif blocks:
            said.append({"role": role, "content": blocks})
    for asked in [one for one in said if one["role"] == "user"][-CACHED_MESSAGES:]:
        asked["content"][-1] = {**asked["content"][-1], "cache_control": CACHED}
    return said


def _assistant(message: AssistantMessage, origin: str) -> list[Block]:
    """Return an answer as it came where this model gave it, else built anew, without thoughts."""
    opaque = message.opaque or {}
    if opaque.get("origin") == origin:
        blocks: list[Block] = list(opaque.get("blocks", ()))
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if calls == [call.id for call in message.tool_requests]:
            return blocks
    blocks = [{"type": "text", "text": message.text}] if message.text.strip() else []
    return blocks + [_tool_use(call) for call in message.tool_requests]


def _tool_use(call: ToolRequest) -> Block:
    return {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": argument_object(call)}


def _tool_result(message: ToolMessage) -> Block:
    result: Block = {"type": "tool_result", "tool_use_id": _id(message.request_id)}
    if blocks := _blocks(message.parts):
        result["content"] = blocks
    if message.failed:
        result["is_error"] = True
    return result


def _id(text: str) -> str:
    """Return an id that Messages takes; other providers' may have dots and colons."""
    return _NOT_IN_IDS.sub("_", text)


def _blocks(parts: Sequence[Part]) -> list[Block]:
    """Return the blocks of the parts; texts without a character are not allowed and left out."""
    blocks: list[Block] = []
    for part in parts:
        match part:
            case TextPart(text=text):
                if text.strip():
                    blocks.append({"type": "text", "text": text})
            case ImagePart(data=data, mime_type=mime_type):
                source = {"type": "base64", "media_type": mime_type, "data": data}
                blocks.append({"type": "image", "source": source})
    return blocks


def _thinking_missing(messages: Sequence[Block]) -> bool:
    """Tell whether the tool calls under way began without thinking (another model made them): then a budget for it
    is refused until they are over.
    """
    for message in reversed(messages):
        blocks = message["content"]
        if message["role"] == "assistant":
            calls = any(block["type"] == "tool_use" for block in blocks)
            return calls and blocks[0]["type"] not in ("thinking", "redacted_thinking")
        if not any(block["type"] == "tool_result" for block in blocks):
            return False
    return False
