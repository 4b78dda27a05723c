"""The process's stdin and stdout as a private wire: bytes in, bytes out, and nothing else ever on stdout.

asyncio is imported only where bytes are waited for, so that `guard_stdout` and the handshake do without it.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentoml.errors import ConnectionLost

if TYPE_CHECKING:
    import asyncio

READ_SIZE = 65536


def guard_stdout() -> tuple[int, int]:
    """Take stdin and stdout for the wire and return them as (read fd, write fd), neither inherited by children.

    From then on fd 0 is empty and fd 1 is stderr, so no stray print, C library or child process reaches the wire.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, so this is `fd` itself
    wire = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return wire


def read_some(fd: int) -> bytes:
    """Wait for bytes and return them, none at the end; whoever started us may have made the fd non-blocking."""
    while True:
        try:
            return os.read(fd, READ_SIZE)
        except BlockingIOError:
            wait_until_ready(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write and wait until everything is written."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            wait_until_ready(fd, to_write=True)


def wait_until_ready(fd: int, *, to_write: bool = False) -> None:
    """Wait until there is something to read, or room for more to write."""
    import select

    waiting = select.poll()
    waiting.register(fd, select.POLLOUT if to_write else select.POLLIN)
    waiting.poll()


def open_stdio(fds: tuple[int, int], already_read: bytes = b"") -> tuple[Reader, Writer]:
    """Return reader and writer over the fds of `guard_stdout`; `already_read` comes before all else."""
    return Reader(fds[0], already_read), Writer(fds[1])


class Reader:
    """Bytes from a pipe, socket, terminal, file or /dev/null, as they come. One task reads."""

    def __init__(self, fd: int, already_read: bytes = b"") -> None:
        self._fd = fd
        self._already_read = already_read
        self._watched = False
        self._waiter: asyncio.Future[bytes] | None = None

    async def read(self) -> bytes:
        """Wait for more bytes; none at the end of the input, also where that is an error."""
        import asyncio

        if self._already_read:
            data, self._already_read = self._already_read, b""
            return data
        loop = asyncio.get_running_loop()
        if not self._watched:
            try:
                loop.add_reader(self._fd, self._readable)
            except PermissionError:  # a file: always readable, never watchable
                await asyncio.sleep(0)
                return self._take() or b""
            self._watched = True
        self._waiter = loop.create_future()
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """Stop watching; the fd stays open."""
        if self._watched:
            import asyncio

            asyncio.get_running_loop().remove_reader(self._fd)
            self._watched = False

    def _readable(self) -> None:
        if self._waiter is None or self._waiter.done():
            self.close()  # nobody is waiting now: let the pipe hold it back
        elif (data := self._take()) is not None:
            self._waiter.set_result(data)

    def _take(self) -> bytes | None:
        try:
            return os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            return b""


class Writer:
    """Bytes to a pipe, socket, terminal, file or /dev/null: written at once, queued while the other side is behind."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._queue: deque[memoryview] = deque()
        self._drained: list[asyncio.Future[None]] = []
        self._on_lost: Callable[[], None] | None = None
        self.backlog = 0
        """Bytes that the other side has not yet made room for."""
        self.lost = False
        """Whether the other side is gone, or the writer closed."""
        mode = os.fstat(fd).st_mode
        self._is_pipe = stat.S_ISFIFO(mode)
        if self._is_pipe or stat.S_ISSOCK(mode):
            os.set_blocking(fd, False)

    def watch(self, on_lost: Callable[[], None]) -> None:
        """Call `on_lost` when the other side stops listening: at the next write, for a pipe at once."""
        import asyncio

        self._on_lost = on_lost
        if self._is_pipe and not self.lost:
            asyncio.get_running_loop().add_reader(self._fd, self._lose)  # a write end wakes up only by its closing

    def write(self, data: bytes) -> None:
        """Write, or queue behind what is queued. Nothing happens where the other side is gone."""
        if self.lost:
            return
        view = memoryview(data)
        if not self._queue:
            view = self._accepted(view)
            if not view:
                return
            import asyncio

            asyncio.get_running_loop().add_writer(self._fd, self._writable)
        self._queue.append(view)
        self.backlog += len(view)

    async def drain(self) -> None:
        """Wait until nothing is queued.

        Raises:
            ConnectionLost: the other side is gone.
        """
        if self._queue:
            import asyncio

            future = asyncio.get_running_loop().create_future()
            self._drained.append(future)
            await future
        if self.lost:
            raise ConnectionLost("The client is gone")

    def close(self) -> None:
        """Give up what is queued and close the fd, which tells the other side that nothing more comes."""
        if self._fd < 0:
            return
        self._stop()
        os.close(self._fd)
        self._fd = -1

    def _accepted(self, view: memoryview) -> memoryview:
        """Write what fits and return what does not."""
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except BlockingIOError:
            pass
        except OSError:
            self._lose()
            return view[:0]
        return view

    def _writable(self) -> None:
        while self._queue:
            before = self._queue[0]
            after = self._accepted(before)
            if self.lost:
                return
            self.backlog -= len(before) - len(after)
            if after:
                self._queue[0] = after
                return
            self._queue.popleft()
        self._idle()

    def _idle(self) -> None:
        """Nothing is queued any more: let the waiting go on."""
        import asyncio

        asyncio.get_running_loop().remove_writer(self._fd)
        waiting, self._drained = self._drained, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _stop(self) -> None:
        import asyncio

        self.lost = True
        self._queue.clear()
        self.backlog = 0
        self._idle()
        asyncio.get_running_loop().remove_reader(self._fd)

    def _lose(self) -> None:
        if self.lost:
            return
        self._stop()
        if self._on_lost is not None:
            self._on_lost()
