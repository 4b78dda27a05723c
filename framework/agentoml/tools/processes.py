"""Child processes of ours, each in a group of its own that ends with the call that started it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from agentoml.errors import ToolError

if TYPE_CHECKING:
    from asyncio.subprocess import Process

GRACE_SECONDS = 1.0
LEFTOVER_SECONDS = 0.1
LAST_OUTPUT_SECONDS = 0.5
CHUNK = 65_536


@frozen
class Ended:
    """How a process ended: `code` is negative where a signal ended it (as in asyncio)."""

    code: int
    timed_out: bool = False


async def run_process(
    argv: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    timeout: float | None,
    take: Callable[[bytes], None],
) -> Ended:
    """Run a program without a shell and hand its output, both streams in order, to `take`.

    However this ends (the program exits, the time is up, the task is cancelled), the whole group has ended when it
    returns: SIGTERM, then SIGKILL.

    Raises:
        ToolError: it can't be started.
    """
    import asyncio

    read_end, write_end = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(read_end)
        raise ToolError(why_not_started(argv[0], cwd, error)) from None
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    timed_out = False
    output = _Output(read_end, take)
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        try:
            await end_group(process, lambda: output.ended)
            await output.rest(LAST_OUTPUT_SECONDS)
        finally:
            output.close()
    return Ended(process.returncode if process.returncode is not None else -signal.SIGKILL, timed_out)


async def end_group(process: Process, silent: Callable[[], bool] = lambda: True) -> None:
    """End a process that leads a group, and the group: SIGTERM, after a grace SIGKILL, at once if cancelled.

    Where the process has ended and the others are `silent`, those may be dead and only waited for by nobody, or hide:
    they get a short grace.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    started, pause = loop.time(), 0.001
    grace = GRACE_SECONDS
    try:
        alive = signal_group(process.pid, signal.SIGTERM)
        while alive and loop.time() < started + grace:
            await asyncio.sleep(pause)
            if process.returncode is not None and silent():
                grace = LEFTOVER_SECONDS
            pause = min(pause * 2, 0.05)
            alive = signal_group(process.pid, 0)
    finally:
        signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group (0: none); tell whether there is anybody in it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class _Output:
    """The read end of a pipe, read whenever there is something; its own, so that a grandchild that keeps the other
    end open does not keep us waiting for the process."""

    def __init__(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        import asyncio

        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._take = take
        self._end = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, CHUNK)
        except BlockingIOError:
            return
        if data:
            self._take(data)
        else:
            self._loop.remove_reader(self._descriptor)
            self._end.set()

    @property
    def ended(self) -> bool:
        """Whether nobody holds the other end any more."""
        return self._end.is_set()

    async def rest(self, seconds: float) -> None:
        """Read to the end, but no longer than this: a process that left the group may hold the pipe open."""
        import asyncio

        try:
            async with asyncio.timeout(seconds):
                await self._end.wait()
        except TimeoutError:
            pass

    def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)


def why_not_started(program: str, cwd: str, error: OSError | ValueError) -> str:
    """Return why a program can't be started, in one sentence."""
    if isinstance(error, ValueError):
        return f"{program} can't be started: an argument holds a character that none can"
    if not Path(cwd).is_dir():
        return f"{program} can't be started: there is no directory {cwd}"
    return f"{program} can't be started: {error.strerror}"
