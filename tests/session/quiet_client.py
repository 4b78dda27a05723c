"""A client of a session in this process: keeps what it is sent; `backlog` says how much of it was not read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agentoml.wire.client import Client


class QuietClient(Client):
    """Shows booleans and notices. While `backlog` is set, `drain` waits for `read`."""

    def __init__(self) -> None:
        capabilities = {"session": {"configOptions": {"boolean": {}}, "notices": {}}}
        super().__init__(None, capabilities, {"name": "tests"})  # type: ignore[arg-type]
        self.updates: list[tuple[str, Mapping[str, Any]]] = []
        self.unread = 0
        self.read = asyncio.Event()
        self._heard = asyncio.Event()

    @property
    def backlog(self) -> int:
        return self.unread

    async def drain(self) -> None:
        if self.unread:
            await self.read.wait()

    def update(self, session_id: str, update: Mapping[str, Any]) -> None:
        self.updates.append((session_id, update))
        self._heard.set()

    async def has_heard(self, updates: int) -> None:
        """Wait until there are so many updates."""
        async with asyncio.timeout(20):
            while len(self.updates) < updates:
                self._heard.clear()
                await self._heard.wait()
