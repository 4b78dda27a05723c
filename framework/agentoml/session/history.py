"""Content blocks of a prompt -> what the model is told, and the conversation so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field

from agentoml.errors import InvalidParams
from agentoml.models.model import AssistantMessage, ImagePart, Message, Part, TextPart, ToolMessage, UserMessage
from agentoml.snapshot.snapshot import CatalogModel, Snapshot

INTERRUPTED = "The turn ended before this call finished."
OUT_OF_CALLS = "This call was not run: no more tool calls were allowed."


def user_parts(blocks: Sequence[Mapping[str, Any]], snapshot: Snapshot, model: CatalogModel) -> tuple[Part, ...]:
    """Return the parts of a user message from ACP content blocks (checked already by the wire).

    Raises:
        InvalidParams: a block of a type that the agent does not take, or that this model can't take.
    """
    parts = []
    for index, block in enumerate(blocks):
        part = _part(block, snapshot.prompt)
        if part is None:
            raise _refused(index, f"content of type {block['type']} is not taken by this agent", "unsupported")
        if isinstance(part, ImagePart) and model.capabilities_known and "images" not in model.capabilities:
            raise _refused(index, f"the model {model.name} can't take images", "unsupported_by_model")
        parts.append(part)
    return tuple(parts)


def _part(block: Mapping[str, Any], taken: Collection[str]) -> Part | None:
    match block["type"]:
        case "text":
            return TextPart(block["text"])
        case "resource_link":
            return TextPart(f"[{block['name']}]({block['uri']})")
        case "image" if "image" in taken:
            return ImagePart(block["data"], block["mimeType"])
        case "resource" if "embedded" in taken:
            return _embedded(block["resource"])
        case _:
            return None


def _embedded(resource: Mapping[str, Any]) -> Part | None:
    if "text" in resource:
        return TextPart(f'<resource uri="{resource["uri"]}">\n{resource["text"]}\n</resource>')
    mime_type = resource.get("mimeType") or ""
    return ImagePart(resource["blob"], mime_type) if mime_type.startswith("image/") else None


def _refused(index: int, message: str, reason: str) -> InvalidParams:
    return InvalidParams(message, path=f"$.prompt[{index}]", reason=reason)


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

    def close_open_requests(self, reason: str = INTERRUPTED) -> None:
        """Answer every tool request of the last answer that was left without a result with the reason, so that the
        model can be asked again.

        Some providers give the same ids in every answer.
        """
        answered = set()
        for message in reversed(self.messages):
            if isinstance(message, ToolMessage):
                answered.add(message.request_id)
            elif isinstance(message, AssistantMessage):
                left = (request for request in message.tool_requests if request.id not in answered)
                self.messages += [ToolMessage(request.id, (TextPart(reason),), failed=True) for request in left]
                return
