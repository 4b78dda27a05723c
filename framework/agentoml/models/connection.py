"""One HTTP/1.1 connection: asyncio feeds httptools, whose pieces of the body wait here for whoever reads.

Works in bytes and callbacks; http.py decides where to connect and which connection is used again.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httptools

from agentoml.errors import ModelError
from agentoml.models.urls import Url

if TYPE_CHECKING:
    from collections.abc import Callable

Origin = tuple[str, str, int]

MAX_HEAD_BYTES = 256 * 1024
HIGH_WATER = 1024 * 1024
DRAIN_SECONDS = 1.0


class Connection(asyncio.Protocol):
    """A connection and the one exchange that is under way on it.

    Made for the origin of `url`, which its messages name. `head` and `read` wait, all else is immediate.
    """

    def __init__(self, url: Url, idle: float) -> None:
        self.origin: Origin = (url.scheme, url.host, url.port)
        self._where = url.address
        self._idle = idle
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._pieces: list[bytes] = []
        self.on_body = self._pieces.append  # called by the parser: no Python frame a piece
        self._parser = httptools.HttpResponseParser(self)
        self._on_free: Callable[[Connection], None] | None = None
        self.gone: asyncio.Future[None] = self._loop.create_future()
        self.used = False
        self._start()

    def _start(self) -> None:
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self._head_done = False
        self._error: ModelError | None = None
        self._paused = False
        self._waiting_since = self._loop.time()
        self._keep_alive = False
        self.heard = False
        self.complete = False

    # ---------------------------------------------------------------------------------------- the exchange

    def send(self, data: bytes) -> None:
        """Begin an exchange with a whole request."""
        self._start()
        self.used = True
        if self._transport is None:
            self._error = self._broken_off()
            return
        self._transport.write(data)
        self._stop_watch()
        self._watch = self._loop.call_later(self._idle, self._check_idle)

    async def head(self) -> tuple[int, dict[str, str]]:
        """Return status and headers (names in lower case) when they are there.

        Raises:
            ModelError: connection, timeout or protocol.
        """
        while not self._head_done:
            await self._more()
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self._headers}
        return self._parser.get_status_code(), headers

    async def read(self) -> bytes:
        """Return what has come of the body since the last time, b"" at its end.

        Raises:
            ModelError: connection, timeout or protocol; also where the body breaks off.
        """
        pieces = self._pieces
        while not pieces:
            if self.complete:
                return b""
            await self._more()
        piece = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if self._paused:
            self._paused = False
            if self._transport is not None:
                self._transport.resume_reading()
        return piece

    async def _more(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiting_since = self._loop.time()
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, error: ModelError) -> None:
        if self._error is None and not self.complete:
            self._error = error
        self._wake()
        self.abort()

    def _check_idle(self) -> None:
        """Fail the exchange if a reader waited for too long; one timer an exchange, not one a piece."""
        self._watch = None
        if self.complete or self._transport is None:
            return
        rest = self._waiting_since + self._idle - self._loop.time() if self._waiter is not None else self._idle
        if rest > 0:
            self._watch = self._loop.call_later(rest, self._check_idle)
            return
        self._fail(ModelError("timeout", f"{self._where} sent nothing for {self._idle:g} s"))

    # ------------------------------------------------------------------------------------------- its end

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent."""
        return self._transport is not None and not self._transport.is_closing() and self.complete

    def free(self, on_free: Callable[[Connection], None]) -> None:
        """Give the connection back: at once if the answer is complete, else as soon as its last bytes came.

        One whose answer goes on for more than a second is closed.
        """
        self._stop_watch()
        if self.complete:
            self._set_free(on_free)
        elif self._transport is not None:
            self._on_free = on_free
            self._watch = self._loop.call_later(DRAIN_SECONDS, self.abort)

    def _set_free(self, on_free: Callable[[Connection], None]) -> None:
        self._on_free = None
        self._stop_watch()
        self._pieces.clear()
        if self._keep_alive and self.reusable:
            on_free(self)
        else:
            self.abort()

    def abort(self) -> None:
        """Close the socket without waiting; `gone` is done when it is closed."""
        self._stop_watch()
        if self._transport is not None:
            self._transport.abort()

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    # ------------------------------------------------------------------------------- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Parse what came and wake the reader."""
        if self.complete:  # bytes that no request asked for
            self.abort()
            return
        self.heard = True
        if not self._head_done:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail(ModelError("protocol", f"{self._where} switches to another protocol"))
        except httptools.HttpParserError:
            self._fail(ModelError("protocol", f"{self._where} does not speak HTTP/1.1"))
            return
        if not self._head_done and self._head_bytes > MAX_HEAD_BYTES:
            self._fail(ModelError("protocol", f"{self._where} sends headers without end"))
        if len(data) > 4096 and not self._paused and sum(map(len, self._pieces)) > HIGH_WATER:
            self._paused = True
            assert self._transport is not None
            self._transport.pause_reading()
        self._wake()
        if self.complete and self._on_free is not None:
            self._set_free(self._on_free)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the exchange: an answer without a length is complete now, any other has broken off."""
        self._transport = None
        self._stop_watch()
        if not self.complete and self._error is None:
            if exc is None and self._head_done and self._until_close():
                self.complete = True
            else:
                self._error = self._broken_off()
        self._wake()
        if not self.gone.done():
            self.gone.set_result(None)

    def _broken_off(self) -> ModelError:
        reason = "broke the answer off" if self.heard else "closed the connection without an answer"
        return ModelError("connection", f"{self._where} {reason}")

    def _until_close(self) -> bool:
        names = {name.lower() for name, _ in self._headers}
        return not names & {b"content-length", b"transfer-encoding"}

    # ------------------------------------------------------------------------------ called by the parser

    def on_message_begin(self) -> None:
        """Stop the parser at an answer that no request asked for; data_received closes the connection then."""
        if self.complete:
            raise ModelError("protocol", f"{self._where} sent more than was asked for")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header (or a trailer, which nobody needs)."""
        if not self._head_done:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is there, unless it is that of an interim answer (1xx)."""
        if self._parser.get_status_code() < 200:
            self._headers.clear()
        else:
            self._head_done = True
            self._keep_alive = self._parser.should_keep_alive()

    def on_message_complete(self) -> None:
        """The whole answer is there."""
        if self._head_done:
            self.complete = True
