from __future__ import annotations

import asyncio
from collections.abc import Callable

from attrs import define, field

from agentoml.tools.mcp import ServerStatus


@define
class Notices:
    """What was told of the servers, and a way to wait for more of it."""

    told: list[ServerStatus] = field(factory=list)
    news: asyncio.Event = field(factory=asyncio.Event)

    def __call__(self, status: ServerStatus) -> None:
        self.told.append(status)
        self.news.set()

    async def until(self, holds: Callable[[ServerStatus], bool]) -> ServerStatus:
        """Wait until something like this was told last."""
        while not (self.told and holds(self.told[-1])):
            self.news.clear()
            await self.news.wait()
        return self.told[-1]
