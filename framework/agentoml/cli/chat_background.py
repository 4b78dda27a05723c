"""An event loop in a thread of its own, so that the main thread may wait for keys and hear Ctrl-C."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Runs coroutines while it is entered; leaving it cancels what still runs."""

    def __init__(self) -> None:
        self._over: asyncio.Event
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="agent", daemon=True)

    def __enter__(self) -> Background:
        self._thread.start()
        self._loop = self._started.result()
        return self

    def __exit__(self, *_: object) -> None:
        self.call(self._over.set)
        self._thread.join()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine on the loop and return its future."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and return its result."""
        return self.submit(coroutine).result()

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the loop soon."""
        self._loop.call_soon_threadsafe(function)

    async def _main(self) -> None:
        self._over = asyncio.Event()
        self._started.set_result(asyncio.get_running_loop())
        await self._over.wait()
