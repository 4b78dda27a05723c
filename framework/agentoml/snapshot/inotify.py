"""File events straight from the Linux kernel: one descriptor in the event loop, no thread, silent in between."""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

READ_SIZE = 65536

MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF, MOVE_SELF = (
    0x002, 0x004, 0x008, 0x040, 0x080, 0x100, 0x200, 0x400, 0x800,
)  # fmt: skip
ONLY_DIRECTORIES = 0x01000000
EVENTS = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF


async def inotify_hints(directories: tuple[Path, ...], hint: Callable[[], None]) -> None:
    """Call `hint` whenever something happens in `directories`, themselves only, until cancelled.

    What happened is not looked at, so neither names that are not text nor an overflow of the kernel's queue (an event
    too) can lead it astray. It listens before it waits for the first time.

    Raises:
        OSError: the limits of inotify instances or watches are used up, or a directory is gone.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        raise _error()
    loop = asyncio.get_running_loop()

    def happened() -> None:
        with suppress(BlockingIOError):
            while os.read(descriptor, READ_SIZE):
                pass
        hint()

    try:
        for directory in directories:
            if libc.inotify_add_watch(descriptor, os.fsencode(directory), EVENTS | ONLY_DIRECTORIES) < 0:
                raise _error()
        loop.add_reader(descriptor, happened)
        await asyncio.Event().wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
