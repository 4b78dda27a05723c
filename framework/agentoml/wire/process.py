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
    """Serve until the client or one of these signals ends it; return the exit code. Further signals change nothing."""
    import asyncio

    loop = asyncio.get_running_loop()
    code = 0

    def stop(new: int) -> None:
        nonlocal code
        code = code or new
        connection.close()

    for number, exit_code in exit_codes.items():
        loop.add_signal_handler(number, stop, exit_code)
    loop.add_signal_handler(signal.SIGHUP, on_hangup)
    await connection.serve(handlers)
    return code
