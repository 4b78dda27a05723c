"""Tasks that must have ended, however often whoever waits for them is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any


async def ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait until all of these have ended. Cancelling the wait cancels them, and they are waited for all the same."""
    while waited_for := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(waited_for)
        except asyncio.CancelledError:
            for task in waited_for:
                task.cancel()
