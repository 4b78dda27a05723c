"""The agent as a process: which signal ends it, and with which exit code."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentoml.wire.jsonrpc import Connection, Handlers

EXIT_CODES: Mapping[int, int] = {signal.SIGTERM: 143, signal.SIGINT: 130}


def exit_on_signals(exit_codes: Mapping[int, int] = EXIT_CODES) -> None:
    """Until `serve`, let these signals raise SystemExit, so that every `finally` runs. A hang-up does nothing yet."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(exit_codes[number])

    for number in exit_codes:
        signal.signal(number, leave)
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


async def serve(
    connection: Connection,
    handlers: Handlers,
    *,
    on_hangup: Callable[[], object],
    exit_codes: Mapping[int, int] = EXIT_CODES,
) -> int:
    """Serve until the client or one of these signals ends it; return the exit code. Further signals change nothing, to
    the end of the process: what a loop or the interpreter handles is deadly again once that closes.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    code = 0

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal code
        if not code:
            code = exit_codes[number]
            loop.call_soon_threadsafe(connection.close)

    for number in exit_codes:
        signal.signal(number, stop)
    loop.add_signal_handler(signal.SIGHUP, on_hangup)
    try:
        await connection.serve(handlers)
    finally:
        for number in exit_codes:
            signal.signal(number, signal.SIG_IGN)
    return code
