"""Blocking work beside the event loop, in a thread that nobody has to wait for."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")

USUAL_SWITCH_INTERVAL = sys.getswitchinterval()
SHORT_SWITCH_INTERVAL = 0.0005


@contextmanager
def giving_way() -> Iterator[None]:
    """Let the event loop in sooner while this holds, in a thread that computes for seconds: every answer needs the
    interpreter several times, and waits a switch interval for it each time.
    """
    sys.setswitchinterval(SHORT_SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(USUAL_SWITCH_INTERVAL)


async def in_thread(work: Callable[[], Result], name: str) -> Result:
    """Run work in a thread of its own and return its result. When the call is cancelled or the agent ends, the thread
    is left to itself; asyncio's own pool would be joined at exit.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop is closed: nobody wants it any more
            return

    threading.Thread(target=run, daemon=True, name=name).start()
    return await done
