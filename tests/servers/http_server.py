"""A scripted HTTP server on loopback: records requests, plays prepared answers, knows when its peer hung up.

    async with HttpServer(Answer(steps=(b"data: 1\\n\\n", gate, b"data: 2\\n\\n"))) as server:
        ...  # server.url; server.exchanges[0].request.json; await server.exchanges[0].hung_up.wait()

The n-th request gets the n-th answer, or what a function makes of the request; one too many gets status 599.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

from attrs import define, field, frozen


class HangUp:
    """A step: close the socket in the middle of the answer."""


HANG_UP = HangUp()

Step = bytes | str | asyncio.Event | HangUp
"""What is written; or an event that is waited for; or hanging up."""


@frozen
class Answer:
    """One answer. `framing` says how its end is told: a chunk each step, a length, or closing the connection."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = {"Content-Type": "text/event-stream"}
    framing: Literal["chunked", "length", "close"] = "chunked"
    before: Sequence[Step] = ()
    """What happens before the head is written; bytes are written raw."""


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    """An answer that is one JSON value; underscores in the names of headers stand for hyphens."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer([json.dumps(value)], status, {"Content-Type": "application/json", **named}, framing="length")


@frozen
class Request:
    """A request as it came; names of headers in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@define
class Exchange:
    """A request and what became of it."""

    request: Request
    hung_up: asyncio.Event
    """Set when the peer closed its side or the connection, at whatever time."""
    answered: asyncio.Event = field(factory=asyncio.Event)
    """Set when the whole answer was written."""


Choice = Callable[[Request], Answer]


class HttpServer:
    """Serves while it is entered. `arrived` is set with each request, `connections` counts accepted ones."""

    def __init__(self, *answers: Answer | Choice, tls: ssl.SSLContext | None = None) -> None:
        self.answers = list(answers)
        self.exchanges: list[Exchange] = []
        self.arrived = asyncio.Event()
        self.connections = 0
        self._tls = tls
        self._peers: set[_Peer] = set()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Peer(self), "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for peer in tuple(self._peers):
            await peer.stop()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[Request]:
        return [exchange.request for exchange in self.exchanges]

    def answer_to(self, request: Request) -> Answer:
        index = len(self.exchanges) - 1
        if index >= len(self.answers):
            return json_answer({"error": {"message": f"no answer prepared for request {index}"}}, 599)
        answer = self.answers[index]
        return answer if isinstance(answer, Answer) else answer(request)


class _Peer(asyncio.Protocol):
    """One accepted connection."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.buffer = b""
        self.came = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections += 1
        self.number = self.server.connections
        self.server._peers.add(self)
        self.task = asyncio.create_task(self.serve())

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self.came.set()

    def eof_received(self) -> bool:
        self.hung_up.set()
        self.came.set()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.hung_up.set()
        self.came.set()
        self.lost.set()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
        self.transport.abort()
        await self.lost.wait()
        self.server._peers.discard(self)

    async def serve(self) -> None:
        while (request := await self.read_request()) is not None:
            exchange = Exchange(request, self.hung_up)
            self.server.exchanges.append(exchange)
            answer = self.server.answer_to(request)
            self.server.arrived.set()
            if not await self.play(answer):
                self.transport.abort()
                return
            exchange.answered.set()
            if answer.framing == "close":
                self.transport.close()
                return

    async def read_request(self) -> Request | None:
        head = await self.until(b"\r\n\r\n")
        if head is None:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        length = int(headers.get("content-length", "0"))
        while len(self.buffer) < length:
            if not await self.more():
                return None
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Request(method, target, headers, body, self.number)

    async def until(self, mark: bytes) -> bytes | None:
        while mark not in self.buffer:
            if not await self.more():
                return None
        found, _, self.buffer = self.buffer.partition(mark)
        return found

    async def more(self) -> bool:
        if self.hung_up.is_set():
            return False
        self.came.clear()
        await self.came.wait()
        return True

    async def play(self, answer: Answer) -> bool:
        """Write an answer; False if the connection must go (hung up by us or by the peer)."""
        for step in answer.before:
            if not await self.step(step, raw=True):
                return False
        lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {text}" for name, text in answer.headers.items())]
        if answer.framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
        elif answer.framing == "length":
            lines.append(f"Content-Length: {sum(len(_bytes(step)) for step in answer.steps)}")
        else:
            lines.append("Connection: close")
        self.transport.write("\r\n".join((*lines, "", "")).encode())
        *steps, last = answer.steps or ("",)
        for step in steps:
            if not await self.step(step, raw=answer.framing != "chunked"):
                return False
        if isinstance(last, asyncio.Event | HangUp):
            if not await self.step(last, raw=True):
                return False
            last = ""
        end = b"0\r\n\r\n" if answer.framing == "chunked" else b""
        self.write(_bytes(last), end, raw=answer.framing != "chunked")  # together, as most servers do
        return True

    def write(self, data: bytes, end: bytes = b"", *, raw: bool) -> None:
        self.transport.write((b"%x\r\n%s\r\n" % (len(data), data) if data and not raw else data) + end)

    async def step(self, step: Step, *, raw: bool) -> bool:
        if isinstance(step, HangUp):
            return False
        if isinstance(step, asyncio.Event):
            waits = [asyncio.create_task(step.wait()), asyncio.create_task(self.hung_up.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
        else:
            self.write(_bytes(step), raw=raw)
            await asyncio.sleep(0)
        return not self.hung_up.is_set()


def _bytes(step: Step) -> bytes:
    if isinstance(step, str):
        return step.encode()
    return step if isinstance(step, bytes) else b""
