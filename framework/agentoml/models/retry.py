"""An adapter that asks again: retries with growing waits, and no more requests at one time than the provider takes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, nullcontext

from agentoml.config.schema import Retry
from agentoml.errors import ModelError
from agentoml.models.model import Adapter, Event, ModelRequest


class Retrying:
    """An adapter around another one.

    A call that failed in a way that may pass is tried again as long as nothing of its answer was given away.
    `concurrency` is how many calls of this provider run at one time; the others wait for their turn.
    """

    def __init__(self, adapter: Adapter, retry: Retry, concurrency: int | None = None) -> None:
        self._adapter = adapter
        self._retry = retry
        self._turns = asyncio.Semaphore(concurrency) if concurrency is not None else None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Ask the model, again where that helps, and yield its answer as it comes.

        Raises:
            ModelError: it can't be retried, the tries are used up, or the provider asks for a wait beyond `max`.
        """
        attempt = 0
        while True:
            begun = False
            attempt += 1
            try:
                async with self._turn():
                    events = self._adapter.stream(request)
                    try:
                        async for event in events:
                            begun = True
                            yield event
                    finally:
                        await events.aclose()
                return
            except ModelError as error:
                if begun or not error.retryable or attempt >= self._retry.attempts:
                    raise
                wait = self._wait(attempt, error)
                if wait is None:
                    raise
            await asyncio.sleep(wait)

    async def aclose(self) -> None:
        """Close the connections of the adapter."""
        await self._adapter.aclose()

    def _turn(self) -> AbstractAsyncContextManager[None]:
        return self._turns if self._turns is not None else nullcontext()

    def _wait(self, attempt: int, error: ModelError) -> float | None:
        """Return the seconds before the next try: what the provider asked for, else a growing wait, half of it by
        chance so that many clients do not come back at once; None where it asked for more than we wait.
        """
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self._retry.max else None
        wait: float = min(self._retry.base * 2.0 ** (attempt - 1), self._retry.max)
        return wait * random.uniform(0.5, 1.0)
