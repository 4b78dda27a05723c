"""The adapter `openai-responses`: Responses, streamed, without state on the provider's side."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from agentoml.models.api import Api
from agentoml.models.model import (
    AssistantMessage,
    Event,
    ImagePart,
    ModelRequest,
    Part,
    TextPart,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from agentoml.models.openai_responses_answer import ResponsesAnswer
from agentoml.models.settings import HttpSettings
from agentoml.models.tool_arguments import argument_text

Item = dict[str, Any]


class OpenAiResponses:
    """Responses under `base_url`/responses."""

    def __init__(self, settings: HttpSettings) -> None:
        self._api = Api(settings)
        self._origin = f"openai-responses {settings.base_url.address}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Ask the model and yield its answer as it comes.

        Raises:
            ModelError: the provider refused, failed or broke off.
        """
        origin = f"{self._origin} {request.model_id}"
        events = await self._api.post("responses", request_body(request, origin))
        answer = ResponsesAnswer(events.where, events.failure)
        try:
            while not answer.finished and (batch := await events.next()):
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

    Nothing is stored by the provider: reasoning comes back encrypted and is sent along. `origin` says which model's.
    """
    body: dict[str, Any] = {
        "model": request.model_id,
        "input": _input(request, origin),
        "stream": True,
        "store": False,
    }
    if request.instructions:
        body["instructions"] = request.instructions
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    if request.reasoning is not None:  # models that do not reason refuse both
        body["reasoning"] = {"effort": request.reasoning, "summary": "auto"}
        body["include"] = ["reasoning.encrypted_content"]
    if request.max_output is not None:
        body["max_output_tokens"] = request.max_output
    body.update(request.params)
    return body


def _input(request: ModelRequest, origin: str) -> list[Item]:
    items: list[Item] = []
    for message in request.messages:
        match message:
            case UserMessage(parts=parts):
                items.append({"role": "user", "content": _content(parts)})
            case ToolMessage(request_id=request_id, parts=parts):
                items.append({"type": "function_call_output", "call_id": request_id, "output": _output(parts)})
            case AssistantMessage():
                items += _assistant(message, origin)
    return items


def _assistant(message: AssistantMessage, origin: str) -> list[Item]:
    """Return an answer as it came where this model gave it, else built anew, without reasoning."""
    opaque = message.opaque or {}
    if opaque.get("origin") == origin:
        kept: list[Item] = list(opaque.get("items", ()))
        calls = [item["call_id"] for item in kept if item["type"] == "function_call"]
        if calls == [call.id for call in message.tool_requests]:
            return kept
    items: list[Item] = []
    if message.text:
        items.append({"role": "assistant", "content": [{"type": "output_text", "text": message.text}]})
    return items + [_call(call) for call in message.tool_requests]


def _call(call: ToolRequest) -> Item:
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": argument_text(call)}


def _output(parts: Sequence[Part]) -> str | list[Item]:
    if any(isinstance(part, ImagePart) for part in parts):
        return _content(parts)
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _content(parts: Sequence[Part]) -> list[Item]:
    return [
        {"type": "input_text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "input_image", "image_url": f"data:{part.mime_type};base64,{part.data}"}
        for part in parts
    ]
