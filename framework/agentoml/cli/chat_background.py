"""An event loop in a thread of its own, so that the main thread may wait for keys and hear Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

NUDGE = signal.SIGURG
NUDGE_AFTER_SECONDS = (0.05, 0.5, 2.0)


class Background:
    """Runs coroutines while it is entered (by the main thread); leaving it cancels what still runs.

    A Ctrl-C that arrives just before `input` begins to wait would be noticed only at the next key. So the loop hears
    of each too, and interrupts the main thread a little later by a signal that does nothing else.
    """

    def __init__(self) -> None:
        self._over: asyncio.Event
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="agent", daemon=True)

    def __enter__(self) -> Background:
        self._thread.start()
        self._loop = self._started.result()
        self._signals, signals = os.pipe()
        os.set_blocking(signals, False)
        signal.set_wakeup_fd(signals, warn_on_full_buffer=False)
        signal.signal(NUDGE, lambda *_: None)
        self.call(lambda: self._loop.add_reader(self._signals, self._heard_signals))
        return self

    def __exit__(self, *_: object) -> None:
        self.call(self._over.set)
        self._thread.join()
        os.close(signal.set_wakeup_fd(-1))
        os.close(self._signals)
        signal.signal(NUDGE, signal.SIG_DFL)

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

    def _heard_signals(self) -> None:
        if signal.SIGINT in os.read(self._signals, 4096):
            main = threading.main_thread().ident
            assert main is not None
            for delay in NUDGE_AFTER_SECONDS:
                self._loop.call_later(delay, signal.pthread_kill, main, NUDGE)
