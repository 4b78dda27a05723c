"""One JSON-RPC connection: ids, pending requests, cancellation, error replies, an orderly end. Knows no ACP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple

from agentoml.errors import (
    ConnectionLost,
    InternalError,
    InvalidRequest,
    MethodNotFound,
    RemoteError,
    RequestCancelled,
    RequestError,
)
from agentoml.wire import frames
from agentoml.wire.stdio import Reader, Writer

log = logging.getLogger("agentoml")

CANCEL = "$/cancel_request"
HANDLERS_END_WITHIN = 5.0
"""Seconds that cancelled handlers have to clean up when the connection ends."""
FLUSHED_WITHIN = 1.0
"""Seconds that a client has to read the last replies."""

Params = dict[str, Any]
Handler = Callable[[Params], Awaitable[dict[str, Any] | None]]
"""Params (a `_meta` stays a key of them) -> result; None is answered as {}. Raises RequestError for an error reply."""


Observer = Callable[[Literal["received", "sent"], bytes], None]
"""Is shown every line that passes, without changing any."""


class Handlers(NamedTuple):
    """What this side answers to. `unknown` gets the method too, and only requests; without it they get -32601."""

    requests: Mapping[str, Handler]
    notifications: Mapping[str, Handler] = {}
    unknown: Callable[[str, Params], Awaitable[dict[str, Any] | None]] | None = None


class Connection:
    """Two sides that send each other requests and notifications.

    Everything outgoing is enqueued at the call, so what a handler sends precedes its response. What must follow the
    response: `asyncio.get_running_loop().call_soon(...)` right before the handler returns.

    A request's handler runs as a task and has reached its first wait before the next message is looked at; a
    notification's handler is awaited first.
    """

    def __init__(self, reader: Reader, writer: Writer, *, observer: Observer | None = None) -> None:
        self._reader = reader
        self._writer = writer
        self._observer = observer
        self._running: dict[frames.Id, asyncio.Task[None]] = {}
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._closing = asyncio.Event()

    @property
    def backlog(self) -> int:
        """Bytes that the pipe has not accepted yet."""
        return self._writer.backlog

    async def drain(self) -> None:
        """Wait until the pipe has accepted everything. Raises ConnectionLost."""
        await self._writer.drain()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification; nothing happens where the other side is gone.

        Raises:
            ValueError: params hold what JSON can't say.
        """
        self._send(frames.encode(frames.notification(method, params)))

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request and return its result. Cancelled while waiting, it tells the other side.

        Raises:
            RemoteError: the other side answered with an error.
            ConnectionLost: it is gone, or the connection is closing.
            ValueError: params hold what JSON can't say.
        """
        if self._closing.is_set() or self._writer.lost:
            raise ConnectionLost("The client is gone")
        self._last_id += 1
        id_ = self._last_id
        line = frames.encode(frames.request(id_, method, params))
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[id_] = future
        self._send(line)
        try:
            return await future
        finally:
            del self._pending[id_]
            if future.cancelled():
                self.notify(CANCEL, {"requestId": id_})

    def _send(self, line: bytes) -> None:
        if self._observer is not None:
            self._observer("sent", line)
        self._writer.write(line)

    def close(self) -> None:
        """End `serve`: no message is read any more."""
        self._closing.set()

    async def serve(self, handlers: Handlers) -> None:
        """Answer messages until the input ends, the other side stops listening, or `close`.

        Then running handlers are cancelled (and answered), what is written is flushed, and the output closed, each in
        bounded time.
        """
        self._writer.watch(self.close)
        reading = asyncio.create_task(self._read(handlers), name="wire")
        reading.add_done_callback(lambda _: self.close())
        try:
            await self._closing.wait()
        finally:
            self.close()
            await self._end(reading)

    # ---------------------------------------------------------------------------------------------- incoming

    async def _read(self, handlers: Handlers) -> None:
        lines = frames.Lines()
        while data := await self._reader.read():
            for line in lines.feed(data):
                if self._observer is not None and line is not None:
                    self._observer("received", line + b"\n")
                message = frames.decode(line)
                if isinstance(message, frames.Request):
                    await self._start(message, handlers)
                elif isinstance(message, frames.Response):
                    self._settle(message)
                elif isinstance(message, frames.Notification):
                    await self._note(message, handlers)
                elif message is not None:
                    self._send(frames.encode(message.reply))

    async def _start(self, message: frames.Request, handlers: Handlers) -> None:
        if message.id in self._running:
            error = InvalidRequest("A request with this id is running", reason="duplicate_id")
            self._send(frames.encode(frames.error_response(message.id, error)))
            return
        task = asyncio.create_task(self._answer(message, handlers), name=message.method)
        self._running[message.id] = task
        await asyncio.sleep(0)  # what comes next (a cancel, say) must find it started

    async def _answer(self, message: frames.Request, handlers: Handlers) -> None:
        try:
            reply = frames.encode(frames.response(message.id, await _call(message, handlers) or {}))
        except asyncio.CancelledError:
            reply = _failure(message, RequestCancelled())
        except RequestError as error:
            reply = _failure(message, error)
        except ConnectionLost:
            reply = _failure(message, InternalError())  # nobody is there to read it, or to be told more
        except Exception:
            log.exception("%s failed", message.method)
            reply = _failure(message, InternalError())
        del self._running[message.id]
        self._send(reply)

    async def _note(self, message: frames.Notification, handlers: Handlers) -> None:
        if message.method == CANCEL:
            id_ = message.params.get("requestId")
            task = self._running.get(id_) if frames.is_id(id_) else None
            if task is not None:
                task.cancel()
            return
        handler = handlers.notifications.get(message.method)
        if handler is None:
            return
        try:
            await handler(message.params)
        except RequestError as error:
            log.debug("%s ignored: %s", message.method, error.message)
        except Exception:
            log.exception("%s failed", message.method)

    def _settle(self, message: frames.Response) -> None:
        future = self._pending.get(message.id) if type(message.id) is int else None
        if future is None:
            if message.error is not None:
                log.warning("The client reports an error: %s", _one_line(message.error.get("message")))
        elif not future.done():
            if message.error is None:
                future.set_result(message.result)
            else:
                future.set_exception(_remote_error(message.error))

    # --------------------------------------------------------------------------------------------------- end

    async def _end(self, reading: asyncio.Task[None]) -> None:
        reading.cancel()
        running = {reading, *self._running.values()}
        for task in running:
            task.cancel()
        _, late = await asyncio.wait(running, timeout=HANDLERS_END_WITHIN)
        for task in late:
            log.warning("%s does not end", task.get_name())
        if reading.done() and not reading.cancelled() and (error := reading.exception()) is not None:
            log.error("The connection failed", exc_info=error)
        for future in self._pending.values():
            if not future.done():
                future.set_exception(ConnectionLost("The client is gone"))
        self._reader.close()
        try:
            await asyncio.wait_for(self._writer.drain(), FLUSHED_WITHIN)
        except ConnectionLost:
            pass
        except TimeoutError:
            log.warning("The client did not read the last replies")
        self._writer.close()


async def _call(message: frames.Request, handlers: Handlers) -> dict[str, Any] | None:
    handler = handlers.requests.get(message.method)
    if handler is not None:
        return await handler(message.params)
    if handlers.unknown is not None:
        return await handlers.unknown(message.method, message.params)
    raise MethodNotFound(method=message.method)


def _failure(message: frames.Request, error: RequestError) -> bytes:
    try:
        return frames.encode(frames.error_response(message.id, error))
    except ValueError:
        log.exception("%s: the data of its error is not JSON", message.method)
        return frames.encode(frames.error_response(message.id, type(error)(error.message)))


def _remote_error(error: dict[str, Any]) -> RemoteError:
    code = error.get("code")
    return RemoteError(code if type(code) is int else -32603, _one_line(error.get("message")), error.get("data"))


def _one_line(message: object) -> str:
    return " ".join(message.split()) if isinstance(message, str) else "no message"
