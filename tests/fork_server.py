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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field

LIMIT = 64 * 1024 * 1024


@define(eq=False)
class Forked:
    """A process as `asyncio.subprocess` shows them, as far as tests look at it."""

    pid: int
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    returncode: int | None = None
    _ended: asyncio.Event = field(factory=asyncio.Event)
    _handle: int = -1

    def __attrs_post_init__(self) -> None:
        self._handle = os.pidfd_open(self.pid)
        asyncio.get_running_loop().add_reader(self._handle, self._gone)

    def _gone(self) -> None:
        asyncio.get_running_loop().remove_reader(self._handle)
        os.close(self._handle)
        self.returncode = 0
        self._ended.set()

    async def wait(self) -> int:
        await self._ended.wait()
        return 0

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


@define(eq=False)
class ForkServer:
    """The process that is forked."""

    control: socket.socket

    async def start(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Forked:
        """Start `agentoml ARGUMENTS` with these variables beside the inherited ones."""
        (stdin, to_child), (from_child, stdout), (errors, stderr) = os.pipe(), os.pipe(), os.pipe()
        said = json.dumps({"arguments": list(arguments), "environment": dict(environment)}).encode()
        socket.send_fds(self.control, [said], [stdin, stdout, stderr])
        pid = json.loads(self.control.recv(64))
        for theirs in (stdin, stdout, stderr):
            os.close(theirs)
        return Forked(pid, await _writer(to_child), await _reader(from_child), await _reader(errors))


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
        said, fds, _, _ = socket.recv_fds(control, 1 << 20, 3)
        if not said:
            return
        pid = os.fork()
        if pid == 0:
            control.close()
            become(json.loads(said), fds)
        for fd in fds:
            os.close(fd)
        control.send(json.dumps(pid).encode())


def become(said: Mapping[str, Any], fds: Sequence[int]) -> None:
    """Be the command, never to return."""
    from agentoml.cli.main import main

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.update(said["environment"])
    code = 70
    try:
        code = main(list(said["arguments"]))
    finally:
        os._exit(code)


def warm() -> None:
    """Import all that `agentoml run` imports, and have it read a configuration once."""

    from agentoml.snapshot.build import build

    assert build(None).snapshot is not None


if __name__ == "__main__":
    warm()
    serve(socket.socket(fileno=int(sys.argv[1])))
