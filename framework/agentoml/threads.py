"""Blocking work beside the event loop, in a thread that nobody has to wait for."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")

USUAL_SWITCH_INTERVAL = sys.getswitchinterval()
SHORT_SWITCH_INTERVAL = 0.0005

WRITE_SECONDS = 2.0
"""How long what writes a file may go on once its call is cancelled, so that no half of one is left behind."""


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


async def in_thread(work: Callable[[], Result], name: str, *, linger: float = 0.0) -> Result:
    """Run work in a thread of its own and return its result.

    When the call is cancelled, the work has `linger` seconds to end; then, and when the agent ends, the thread is left
    to itself. The pool of `asyncio.to_thread` would be joined at exit, however long a file system hangs.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
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
        except BaseException as raised:  # whoever waits hears of it; nobody else does
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop is closed: nobody wants it any more
            return

    threading.Thread(target=run, daemon=True, name=name).start()
    try:
        await asyncio.wait((done,))
        return done.result()
    except asyncio.CancelledError:
        if linger:
            await asyncio.wait((done,), timeout=linger)
        raise
    finally:
        if not done.cancel():
            done.exception()  # heard of, also where nobody waits for it any more


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a program as `asyncio.run` does, on a loop whose names of hosts are looked up in threads of their own: a name
    server that does not answer does not hold up the exit.
    """
    import asyncio
    import socket

    class Loop(asyncio.SelectorEventLoop):
        async def getaddrinfo(self, *args: Any, **settings: Any) -> Any:
            return await in_thread(partial(socket.getaddrinfo, *args, **settings), "look-up")

    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main)
