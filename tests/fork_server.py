"""Real `agentoml run` processes without the half second in which each imports: forked off one that did.

Everything else is as it is: a process of its own, pipes, an environment, the command's own `main`.

    with fork_server() as server:
        async with agent_process(config, start=server.start) as agent:
            ...
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from attrs import define, field

LIMIT = 64 * 1024 * 1024


@define(eq=False)
class Forked:
    """A process as `asyncio.subprocess` shows them, as far as tests look at it."""

    pid: int
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    report: asyncio.StreamReader
    returncode: int | None = None
    _ended: asyncio.Task[int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._ended = asyncio.create_task(self._end())

    async def _end(self) -> int:
        self.returncode = int(await self.report.read())  # to the end of the pipe: it is closed by that
        return self.returncode

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


@define(eq=False)
class ForkServer:
    """The process that is forked."""

    control: socket.socket

    async def start(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Forked:
        """Start `agentoml ARGUMENTS` with these variables beside the inherited ones."""
        (stdin, to_child), (from_child, stdout), (errors, stderr), (told, report) = (os.pipe() for _ in range(4))
        said = json.dumps({"arguments": list(arguments), "environment": dict(environment)}).encode()
        socket.send_fds(self.control, [said], [stdin, stdout, stderr, report])
        for theirs in (stdin, stdout, stderr, report):
            os.close(theirs)
        keeper = await _reader(told)
        pid = int(await keeper.readline())
        return Forked(pid, await _writer(to_child), await _reader(from_child), await _reader(errors), keeper)


async def _reader(fd: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(LIMIT)
    pipe = os.fdopen(fd, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def _writer(fd: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(fd, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


@contextlib.contextmanager
def fork_server() -> Iterator[ForkServer]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([sys.executable, "-P", __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()])
        theirs.close()
        try:
            yield ForkServer(ours)
        finally:
            ours.close()
            process.wait()


# ---------------------------------------------------------------------------------------- the forked process


def serve(control: socket.socket) -> None:
    """Fork for each message until the other side is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        said, fds, _, _ = socket.recv_fds(control, 1 << 20, 4)
        if not said:
            return
        if os.fork() == 0:
            control.close()
            keep(json.loads(said), fds[:3], fds[3])
        for fd in fds:
            os.close(fd)


def keep(said: Mapping[str, Any], fds: Sequence[int], report: int) -> NoReturn:
    """Be the parent of the command: report its process id, wait for its end, and report the exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(report)
        become(said, fds)
    for fd in fds:
        os.close(fd)
    os.write(report, b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(BrokenPipeError):
        os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def become(said: Mapping[str, Any], fds: Sequence[int]) -> NoReturn:
    """Be the command, never to return; what would end a process of its own ends it here with the same exit code."""
    from agentoml.cli.main import main

    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.update(said["environment"])
    code: int | str | None = 1
    try:
        code = main(list(said["arguments"]))
    except SystemExit as left:
        code = left.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def warm() -> None:
    """Import all that `agentoml run` imports, and have it read a configuration once."""

    from agentoml.snapshot.build import build

    assert build(None).snapshot is not None


if __name__ == "__main__":
    warm()
    serve(socket.socket(fileno=int(sys.argv[1])))
