"""Content blocks of a prompt -> what the model is told, and the conversation so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field

from agentoml.errors import InvalidParams
from agentoml.models.model import AssistantMessage, ImagePart, Message, Part, TextPart, ToolMessage, UserMessage

INTERRUPTED = "The user cancelled before this call finished."


def user_parts(blocks: Sequence[Mapping[str, Any]]) -> tuple[Part, ...]:
    """Return the parts of a user message from ACP content blocks (checked already by the wire).

    Raises:
        InvalidParams: a block of a type that was not advertised at initialize.
    """
    parts: list[Part] = []
    for index, block in enumerate(blocks):
        match block["type"]:
            case "text":
                parts.append(TextPart(block["text"]))
            case "resource_link":
                parts.append(TextPart(f"[{block['name']}]({block['uri']})"))
            case "image":
                parts.append(ImagePart(block["data"], block["mimeType"]))
            case "resource" if "text" in block["resource"]:
                resource = block["resource"]
                parts.append(TextPart(f'<resource uri="{resource["uri"]}">\n{resource["text"]}\n</resource>'))
            case other:
                raise InvalidParams(
                    f"content blocks of type {other} can't be taken", path=f"$.prompt[{index}]", reason="unsupported"
                )
    return tuple(parts)


@define
class History:
    """The conversation of one session, always in a shape that a model accepts: every tool request is answered."""

    messages: list[Message] = field(factory=list)

    def add_user(self, parts: Iterable[Part]) -> None:
        """Add what the user said."""
        self.messages.append(UserMessage(tuple(parts)))

    def add_answer(self, answer: AssistantMessage) -> None:
        """Add what the model said; an answer without any content is left out."""
        if answer.text or answer.tool_requests or answer.opaque:
            self.messages.append(answer)

    def add_result(self, result: ToolMessage) -> None:
        """Add the result of a tool call."""
        self.messages.append(result)

    def close_open_requests(self) -> None:
        """Answer every tool request that was left without a result, so that the next turn can go on."""
        answered = {message.request_id for message in self.messages if isinstance(message, ToolMessage)}
        last = next((message for message in reversed(self.messages) if isinstance(message, AssistantMessage)), None)
        for request in last.tool_requests if last else ():
            if request.id not in answered:
                self.messages.append(ToolMessage(request.id, (TextPart(INTERRUPTED),), failed=True))
