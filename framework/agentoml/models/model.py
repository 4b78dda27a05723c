"""The contract between a turn and a model: messages in, events out. Knows neither TOML nor ACP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, Protocol

from attrs import frozen

# ------------------------------------------------------------------------------------------------ messages


@frozen
class TextPart:
    """A text of a message."""

    text: str


@frozen
class ImagePart:
    """An image of a message: base64 data and its MIME type."""

    data: str
    mime_type: str


Part = TextPart | ImagePart


@frozen
class ToolRequest:
    """A tool call that the model asked for. `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@frozen
class UserMessage:
    """What the user said."""

    parts: tuple[Part, ...]


@frozen
class AssistantMessage:
    """What the model said. `opaque` is what its adapter wants back unchanged (signatures of thoughts, ids): JSON,
    with the `origin` it came from. An adapter sends it back to that origin only; any other builds the message anew.
    """

    text: str = ""
    thought: str = ""
    tool_requests: tuple[ToolRequest, ...] = ()
    opaque: Mapping[str, Any] | None = None


@frozen
class ToolMessage:
    """The result of one tool call."""

    request_id: str
    parts: tuple[Part, ...]
    failed: bool = False


Message = UserMessage | AssistantMessage | ToolMessage


@frozen
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@frozen
class ModelRequest:
    """One call of a model. `params` are merged already; `reasoning` is a level of the model or None."""

    model_id: str
    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    params: Mapping[str, Any] = {}
    reasoning: str | None = None
    reasoning_budget: int | None = None
    max_output: int | None = None


# -------------------------------------------------------------------------------------------------- events


@frozen
class TextDelta:
    """More of the answer."""

    text: str


@frozen
class ThoughtDelta:
    """More of the reasoning that is shown."""

    text: str


@frozen
class Usage:
    """Tokens of this call. `input` counts cached ones too; `cached` and `written` are the part of it read from and
    written to a cache; `output` counts reasoning too, `reasoning` is that part of it.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    reasoning: int = 0


StopKind = Literal["end_turn", "tool_use", "max_tokens", "refusal"]


@frozen
class Finished:
    """The end of every stream that did not fail, exactly once and last; tool requests are complete here."""

    stop: StopKind
    tool_requests: tuple[ToolRequest, ...] = ()
    usage: Usage | None = None
    opaque: Mapping[str, Any] | None = None


Event = TextDelta | ThoughtDelta | Finished


class Adapter(Protocol):
    """One provider, spoken to in its own protocol. Shared by all sessions, so it holds no state of a session."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Ask the model and yield its answer as it comes.

        Closing the generator (or cancelling the task that iterates it) closes the connection before it returns.

        Raises:
            ModelError: the provider refused, failed or broke off.
        """
        ...

    async def aclose(self) -> None:
        """Close connections that are kept open."""
        ...
