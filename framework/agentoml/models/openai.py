"""The adapter `openai`: Chat Completions, streamed. OpenAI's own, and what most other providers speak as well."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from agentoml.models.api import Api
from agentoml.models.model import (
    AssistantMessage,
    Event,
    ImagePart,
    Message,
    ModelRequest,
    Part,
    TextPart,
    ToolMessage,
    UserMessage,
)
from agentoml.models.openai_answer import ChatAnswer
from agentoml.models.settings import HttpSettings
from agentoml.models.tool_arguments import argument_text

OUTPUT_LIMITS = ("max_completion_tokens", "max_tokens")


class OpenAi:
    """Chat Completions under `base_url`/chat/completions."""

    def __init__(self, settings: HttpSettings) -> None:
        self._api = Api(settings)
        self._origin = f"openai {settings.base_url.address}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Ask the model and yield its answer as it comes.

        Raises:
            ModelError: the provider refused, failed or broke off.
        """
        origin = f"{self._origin} {request.model_id}"
        events = await self._api.post("chat/completions", request_body(request, origin))
        answer = ChatAnswer(events.where, events.failure)
        try:
            while not answer.done and (batch := await events.next(optional=answer.finished)):
                for _, data in batch:
                    for event in answer.take(data):
                        yield event
            if not answer.finished:
                raise events.broken_off()
            events.understood()
        finally:
            await events.aclose()
        yield answer.result(origin)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._api.aclose()


def request_body(request: ModelRequest, origin: str) -> dict[str, Any]:
    """Return the JSON body of a request; `params` come last and win.

    `origin` says which model's opaque content may be sent back.
    """
    body: dict[str, Any] = {
        "model": request.model_id,
        "messages": messages(request, origin),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
    if request.reasoning_budget is not None:  # what gateways in front of models with budgets understand
        on = {"type": "enabled", "budget_tokens": request.reasoning_budget}
        body["thinking"] = on if request.reasoning_budget > 0 else {"type": "disabled"}
    elif request.reasoning is not None:
        body["reasoning_effort"] = request.reasoning
    if request.max_output is not None and not any(name in request.params for name in OUTPUT_LIMITS):
        body["max_completion_tokens"] = request.max_output
    body.update(request.params)
    return body


def messages(request: ModelRequest, origin: str) -> list[dict[str, Any]]:
    """Return the conversation as Chat Completions has it.

    A tool's message holds text only, so images of tool results follow in a message of the user. Reasoning is sent
    back as its provider gave it, and only within the tool calls of the last question, where it is wanted.
    """
    said: list[dict[str, Any]] = []
    if request.instructions:
        said.append({"role": "system", "content": request.instructions})
    last_question = _last_question(request.messages)
    images: list[Part] = []
    for index, message in enumerate(request.messages):
        if images and not isinstance(message, ToolMessage):
            said.append({"role": "user", "content": _content(tuple(images))})
            images = []
        match message:
            case UserMessage(parts=parts):
                said.append({"role": "user", "content": _content(parts)})
            case AssistantMessage():
                said.append(_assistant(message, origin if index > last_question else None))
            case ToolMessage(request_id=request_id, parts=parts):
                text = "\n".join(part.text for part in parts if isinstance(part, TextPart))
                found = [part for part in parts if isinstance(part, ImagePart)]
                if found:
                    text = text or "The image follows."
                    images += (TextPart(f"Images of the tool call {request_id}:"), *found)
                said.append({"role": "tool", "tool_call_id": request_id, "content": text})
    if images:
        said.append({"role": "user", "content": _content(tuple(images))})
    return said


def _last_question(messages: tuple[Message, ...]) -> int:
    places = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    return places[-1] if places else -1


def _assistant(message: AssistantMessage, origin: str | None) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.tool_requests:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": argument_text(call)}}
            for call in message.tool_requests
        ]
    elif not message.text:
        said["content"] = ""
    opaque: Mapping[str, Any] = message.opaque or {}
    if origin is not None and opaque.get("origin") == origin:
        said.update(opaque.get("fields", {}))
    return said


def _content(parts: tuple[Part, ...]) -> str | list[dict[str, Any]]:
    if all(isinstance(part, TextPart) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, TextPart))
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image_url", "image_url": {"url": f"data:{part.mime_type};base64,{part.data}"}}
        for part in parts
    ]
