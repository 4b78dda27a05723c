"""Pieces of an answer -> chunks on the wire: at once while the pipe takes them, merged while it is behind."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from attrs import define, field

from agentoml.errors import ConnectionLost
from agentoml.wire.client import Client
from agentoml.wire.messages import agent_message_chunk, agent_thought_chunk

MERGED_CHARACTERS = 65_536
"""More than this is not gathered for a client that does not read; the model waits then."""

Chunk = Callable[[str, str], dict[str, Any]]


@define(eq=False)
class Chunks:
    """The chunks of one answer. A change between thought and text begins a new message."""

    session_id: str
    client: Client
    _chunk: Chunk | None = None
    _message_id: str = ""
    _waiting: list[str] = field(factory=list)
    _flusher: asyncio.Task[None] | None = None

    async def text(self, text: str) -> None:
        """Send more of the answer."""
        await self._send(agent_message_chunk, text)

    async def thought(self, text: str) -> None:
        """Send more of the reasoning."""
        await self._send(agent_thought_chunk, text)

    def flush(self) -> None:
        """Put everything in the queue of the wire: what is sent later comes behind it."""
        if self._waiting and self._chunk is not None:
            self.client.update(self.session_id, self._chunk("".join(self._waiting), self._message_id))
            self._waiting.clear()

    async def _send(self, chunk: Chunk, text: str) -> None:
        if chunk is not self._chunk:
            self.flush()
            self._chunk = chunk
            self._message_id = secrets.token_hex(8)
        self._waiting.append(text)
        if not self.client.backlog:
            self.flush()
        elif sum(map(len, self._waiting)) > MERGED_CHARACTERS:
            await self.client.drain()
            self.flush()
        elif self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush_when_drained())

    async def _flush_when_drained(self) -> None:
        with suppress(ConnectionLost):  # nobody is there to read it
            await self.client.drain()
            self.flush()
