"""An MCP server on stdio: its process in a group of ours, its lines as messages of the `mcp` library.

The library's own transport leaves the server's children alone when the server ends well, and waits for a grandchild
that holds the pipe.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from agentoml.errors import ConnectionLost, ToolError
from agentoml.tools.processes import end_group, why_not_started
from agentoml.wire.frames import Lines
from agentoml.wire.stdio import Reader, Writer

if TYPE_CHECKING:
    from asyncio.subprocess import Process

logger = logging.getLogger("agentoml.mcp")

FAREWELL_SECONDS = 0.5
"""How long a server may take to end by itself after its input was closed."""
LAST_WORDS_SECONDS = 0.2


@asynccontextmanager
async def stdio_transport(
    argv: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    complains: Callable[[bytes], None],
    ended: Callable[[], None],
) -> AsyncIterator[tuple[Any, Any]]:
    """Run a server and give the two streams that the library wants; its whole group ends with the context.

    `complains` gets what the server writes to stderr, `ended` is called when its process or its output ends.

    Raises:
        ToolError: it can't be started.
    """
    import anyio

    pipes = _Pipes(*await _started(argv, cwd, environment))
    try:
        async with anyio.create_task_group() as group:
            for work in (pipes.receive, pipes.send, pipes.watch):
                group.start_soon(work)
            group.start_soon(pipes.hear, complains)
            group.start_soon(pipes.end_when_silent, ended)
            try:
                yield pipes.read_stream, pipes.write_stream
            finally:
                try:
                    with anyio.CancelScope(shield=True):
                        await pipes.stop()
                finally:
                    group.cancel_scope.cancel()
    finally:
        pipes.close()


class _Pipes:
    """Our ends of the pipes of one server process, and the two streams that the library has instead."""

    def __init__(self, process: Process, stdin: int, stdout: int, stderr: int) -> None:
        import anyio

        self._process = process
        self._writer = Writer(stdin)
        self._stdout, self._stderr = stdout, stderr
        self._incoming, self.read_stream = anyio.create_memory_object_stream[Any](0)
        self.write_stream, self._outgoing = anyio.create_memory_object_stream[Any](0)
        self._silent = anyio.Event()

    async def receive(self) -> None:
        """Hand on what the server says, line by line."""
        import anyio

        lines = Lines()
        try:
            async with aclosing(_chunks(self._stdout)) as chunks:  # at once: the descriptor is closed next
                async for data in chunks:
                    for message in filter(None, map(_message, lines.feed(data))):
                        await self._incoming.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # nobody reads any more
        finally:
            self._silent.set()

    async def hear(self, complains: Callable[[bytes], None]) -> None:
        """Hand on what the server writes to stderr."""
        async for data in _chunks(self._stderr):
            complains(data)

    async def send(self) -> None:
        """Hand on what the library says."""
        async for sent in self._outgoing:
            self._writer.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            try:
                await self._writer.drain()
            except ConnectionLost:
                break

    async def watch(self) -> None:
        """Notice the end of the process, even while somebody else holds its output open."""
        import anyio

        await self._process.wait()
        with anyio.move_on_after(LAST_WORDS_SECONDS):
            await self._silent.wait()
        self._silent.set()

    async def end_when_silent(self, ended: Callable[[], None]) -> None:
        """Let the library know that nothing more comes."""
        await self._silent.wait()
        await self._incoming.aclose()
        ended()

    async def stop(self) -> None:
        """Close the server's input and give it a moment, then end its group, in any case."""
        self._writer.close()
        try:
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self._process.wait()
        except TimeoutError:
            pass
        finally:
            await end_group(self._process)

    def close(self) -> None:
        """Close everything that is ours."""
        self._writer.close()
        for stream in (self._incoming, self.read_stream, self.write_stream, self._outgoing):
            stream.close()
        os.close(self._stdout)
        os.close(self._stderr)


async def _started(argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> tuple[Process, int, int, int]:
    """Start the process; return it with our ends of its stdin, stdout and stderr.

    The pipes are ours, so that waiting for the process does not mean waiting for all who hold them.
    """
    their_stdin, stdin = os.pipe()
    stdout, their_stdout = os.pipe()
    stderr, their_stderr = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=dict(environment),
            stdin=their_stdin,
            stdout=their_stdout,
            stderr=their_stderr,
            start_new_session=True,
        )
    except BaseException as error:
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        if isinstance(error, OSError | ValueError):
            raise ToolError(why_not_started(argv[0], cwd, error)) from None
        raise
    finally:
        for descriptor in (their_stdin, their_stdout, their_stderr):
            os.close(descriptor)
    return process, stdin, stdout, stderr


async def _chunks(descriptor: int) -> AsyncGenerator[bytes, None]:
    os.set_blocking(descriptor, False)
    reader = Reader(descriptor)
    try:
        while data := await reader.read():
            yield data
    finally:
        reader.close()


def _message(line: bytes | None) -> Any:
    """Return a line as the library takes it; None where it is no message, which many servers print by mistake."""
    import mcp_types
    from mcp.shared.message import SessionMessage

    if line is None or not line.strip():
        return None
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        logger.debug("an MCP server wrote a line that is no message")
        return None
