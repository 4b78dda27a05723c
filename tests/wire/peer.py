"""The other side of a connection in this process: pipes between it and a `Connection` that serves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from typing import Any

from agentoml.wire import frames, stdio
from agentoml.wire.jsonrpc import Connection, Handlers, Observer

WAIT_SECONDS = 10.0

Frame = dict[str, Any]
Params = dict[str, Any]


class Peer:
    """What a client does: `send` frames or bytes, `receive` frames, close either direction."""

    def __init__(self, handlers: Handlers, observer: Observer | None = None) -> None:
        read_fd, self._write_fd = os.pipe()
        self._read_fd, write_fd = os.pipe()
        self._agent_read_fd = read_fd
        self.connection = Connection(*stdio.open_stdio((read_fd, write_fd)), observer=observer)
        self._reader = stdio.Reader(self._read_fd)
        self._writer = stdio.Writer(self._write_fd)
        self._lines = frames.Lines()
        self._received: list[Frame] = []
        self.serving = asyncio.create_task(self.connection.serve(handlers))

    def send(self, *messages: Frame | bytes) -> None:
        """Send all in one write."""
        self._writer.write(
            b"".join(
                message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n" for message in messages
            )
        )

    def request(self, id_: Any, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def receive(self) -> Frame:
        async with asyncio.timeout(WAIT_SECONDS):
            while not self._received:
                data = await self._reader.read()
                assert data, "the agent closed the connection"
                self._received += [json.loads(line) for line in self._lines.feed(data) if line is not None]
        return self._received.pop(0)

    async def receive_all(self) -> list[Frame]:
        """Everything up to the end."""
        async with asyncio.timeout(WAIT_SECONDS):
            while data := await self._reader.read():
                self._received += [json.loads(line) for line in self._lines.feed(data) if line is not None]
        return self._received

    def hang_up(self) -> None:
        """Send no more."""
        self._writer.close()

    def stop_listening(self) -> None:
        """Close the agent's output."""
        if self._read_fd >= 0:
            self._reader.close()
            os.close(self._read_fd)
            self._read_fd = -1

    async def served(self) -> None:
        await asyncio.wait_for(self.serving, WAIT_SECONDS)

    async def end(self) -> None:
        self.hang_up()
        self.stop_listening()
        await self.served()
        os.close(self._agent_read_fd)


@contextlib.asynccontextmanager
async def peer(handlers: Handlers, observer: Observer | None = None) -> AsyncIterator[Peer]:
    """A client of an agent with these handlers."""
    client = Peer(handlers, observer)
    try:
        yield client
    finally:
        await client.end()
