"""The adapter `anthropic`: Messages, streamed, with thinking that is sent back signed and prompt caching."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from agentoml.models.anthropic_answer import MessagesAnswer
from agentoml.models.anthropic_request import request_body
from agentoml.models.api import Api
from agentoml.models.model import Event, ModelRequest
from agentoml.models.settings import HttpSettings

VERSION = "2023-06-01"
MAX_CONTINUATIONS = 8


class Anthropic:
    """Messages under `base_url`, which may or may not end in /v1."""

    def __init__(self, settings: HttpSettings) -> None:
        self._api = Api(settings, key_header)
        self._path = "messages" if settings.base_url.path.rstrip("/").endswith("/v1") else "v1/messages"
        self._origin = f"anthropic {settings.base_url.address}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Ask the model and yield its answer as it comes.

        An answer that the provider paused (it runs tools of its own) is continued here.

        Raises:
            ModelError: the provider refused, failed or broke off.
        """
        origin = f"{self._origin} {request.model_id}"
        body = request_body(request, origin)
        answer: MessagesAnswer | None = None
        for _ in range(MAX_CONTINUATIONS):
            events = await self._api.post(self._path, body, {"anthropic-version": VERSION})
            answer = MessagesAnswer(events.where, events.failure, answer)
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
            if not answer.paused:
                break
            body["messages"] = [*body["messages"], {"role": "assistant", "content": answer.own_blocks()}]
        assert answer is not None
        yield answer.result(origin)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._api.aclose()


def key_header(key: str) -> Mapping[str, str]:
    """Return the header that Anthropic takes a key in."""
    return {"x-api-key": key}
