"""A small HTTP/1.1 client for streamed answers: connections kept per origin, TLS, proxies, timeouts.

It follows no redirect: credentials never go to another origin.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from agentoml.errors import ModelError
from agentoml.models.connection import Connection, Origin
from agentoml.models.proxy import Tunnel, proxy_authorization, proxy_for
from agentoml.models.urls import Url
from agentoml.threads import in_thread

if TYPE_CHECKING:
    import ssl

P = TypeVar("P", bound=asyncio.Protocol)

KEPT_PER_ORIGIN = 8
KEPT_SECONDS = 30.0
MAX_WHOLE_BODY = 64 * 1024 * 1024

_CONTEXT_LOCK = Lock()


class Response:
    """An answer whose body is still coming. Whoever has it must `aclose` it."""

    def __init__(self, status: int, headers: Mapping[str, str], connection: Connection, client: HttpClient) -> None:
        self.status = status
        self.headers = headers
        self._connection = connection
        self._client = client
        self._understood = False

    async def read(self) -> bytes:
        """Return the next piece of the body, b"" at its end.

        Raises:
            ModelError: connection, timeout or protocol.
        """
        return await self._connection.read()

    async def read_all(self, limit: int = MAX_WHOLE_BODY) -> bytes:
        """Return the rest of the body, cut off at `limit` bytes.

        Raises:
            ModelError: connection, timeout or protocol.
        """
        pieces: list[bytes] = []
        size = 0
        while size < limit and (piece := await self.read()):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)[:limit]

    def understood(self) -> None:
        """Say that nothing more is needed: the connection may be used again after the last bytes of the body."""
        self._understood = True

    async def aclose(self) -> None:
        """Give the connection back if the answer came whole (or was `understood`); else close it before returning."""
        if self._understood or self._connection.complete:
            self._client.take_back(self._connection)
        else:
            await closed(self._connection)


class HttpClient:
    """Sends requests; keeps the connections whose answers came whole, for `KEPT_SECONDS`."""

    def __init__(self, *, connect: float, idle: float, environ: Mapping[str, str] = os.environ) -> None:
        self._connect_seconds = connect
        self._idle_seconds = idle
        self._environ = environ
        self._kept: dict[Origin, list[tuple[float, Connection]]] = {}
        self._unused: set[Connection] = set()
        self._closing = False

    async def request(self, method: str, url: Url, headers: Mapping[str, str], body: bytes = b"") -> Response:
        """Send a request and return the answer as soon as its head is there, whatever its status.

        A kept connection that the server closed before it answered anything is replaced by a new one, once.

        Raises:
            ModelError: connection, timeout, protocol, or bad_request for headers that can't be sent.
        """
        proxy = proxy_for(url, self._environ)
        through = proxy if url.scheme == "http" else None
        data = _head(method, url, headers, len(body), through) + body
        connection = self._take((url.scheme, url.host, url.port))
        while True:
            kept = connection is not None
            if connection is None:
                connection = await self._connect(url, proxy)
                connection.gone.add_done_callback(partial(self._forget, connection))
            try:
                connection.send(data)
                status, answer_headers = await connection.head()
            except BaseException as error:
                await closed(connection)
                if isinstance(error, ModelError) and error.kind == "connection" and kept and not connection.heard:
                    connection = None
                    continue
                raise
            return Response(status, answer_headers, connection, self)

    async def aclose(self) -> None:
        """Close what no answer needs, before returning; a connection that is in use closes when its answer is done."""
        self._closing = True
        self._kept.clear()
        await asyncio.gather(*map(closed, self._unused))

    def take_back(self, connection: Connection) -> None:
        """Take a connection back whose answer came whole, or will within a moment."""
        if not connection.gone.done():
            self._unused.add(connection)
        connection.free(self._keep)

    def _keep(self, connection: Connection) -> None:
        connections = self._kept.setdefault(connection.origin, [])
        if self._closing or len(connections) >= KEPT_PER_ORIGIN:
            connection.abort()
        else:
            connections.append((asyncio.get_running_loop().time(), connection))

    def _forget(self, connection: Connection, _: asyncio.Future[None]) -> None:
        self._unused.discard(connection)

    def _take(self, origin: Origin) -> Connection | None:
        """Return the kept connection that was used last; close those that are too old."""
        connections = self._kept.pop(origin, [])
        oldest = asyncio.get_running_loop().time() - KEPT_SECONDS
        usable = []
        for since, connection in connections:
            if connection.reusable and since >= oldest:
                usable.append((since, connection))
            else:
                connection.abort()
        if not usable:
            return None
        _, taken = usable.pop()
        self._unused.discard(taken)
        self._kept[origin] = usable
        return taken

    async def _connect(self, url: Url, proxy: Url | None) -> Connection:
        where = url.address
        try:
            async with asyncio.timeout(self._connect_seconds):
                if proxy is None:
                    return await self._direct(url, url)
                where = f"the proxy {proxy.address}"
                if url.scheme == "http":
                    return await self._direct(proxy, url)
                return await self._tunnelled(url, proxy)
        except TimeoutError:
            raise ModelError("timeout", f"{where} took no connection within {self._connect_seconds:g} s") from None
        except OSError as error:
            raise _unreachable(where, error) from None

    async def _direct(self, peer: Url, url: Url) -> Connection:
        """Connect to the peer, which is the origin of the URL or a proxy."""
        connection = Connection(url, self._idle_seconds)
        if peer.scheme == "http":
            await _connected(lambda: connection, peer)
            return connection
        transport, _ = await _connected(asyncio.Protocol, peer)
        return await _secured(transport, connection, peer)

    async def _tunnelled(self, url: Url, proxy: Url) -> Connection:
        context = await tls_context() if proxy.scheme == "https" else None
        transport, tunnel = await _connected(lambda: Tunnel(url, proxy), proxy, context)
        try:
            await tunnel.open
        except BaseException:
            transport.abort()
            raise
        return await _secured(transport, Connection(url, self._idle_seconds), url)


async def _connected(
    protocol: Callable[[], P], peer: Url, context: ssl.SSLContext | None = None
) -> tuple[asyncio.Transport, P]:
    """Connect. Families of addresses are raced only for a name; a race that is cancelled may lose a socket."""
    is_address = ":" in peer.host or peer.host.replace(".", "").isdigit()
    return await asyncio.get_running_loop().create_connection(
        protocol, peer.host, peer.port, ssl=context, happy_eyeballs_delay=None if is_address else 0.25
    )


async def _secured(transport: asyncio.Transport, connection: Connection, peer: Url) -> Connection:
    """Begin TLS on a transport; it is closed if that fails, at whatever point."""
    try:
        context = await tls_context()
        loop = asyncio.get_running_loop()
        secure = await loop.start_tls(transport, connection, context, server_hostname=peer.host)
    except BaseException:
        transport.abort()
        raise
    assert secure is not None
    connection.connection_made(secure)
    return connection


async def closed(connection: Connection) -> None:
    """Close a connection and wait until its socket is closed."""
    connection.abort()
    if not connection.gone.done():
        await asyncio.wait([connection.gone], timeout=1)


async def tls_context() -> ssl.SSLContext:
    """Return the one TLS context of this process. Making it costs 70 ms, so that happens once and in a thread."""
    return await in_thread(_locked_context, "TLS context")


def _locked_context() -> ssl.SSLContext:
    with _CONTEXT_LOCK:
        return _make_context()


@cache
def _make_context() -> ssl.SSLContext:
    import ssl

    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if paths.cafile is None and paths.capath is None:  # a Python that knows no certificates of the system
        try:
            import certifi
        except ImportError:
            return context
        context.load_verify_locations(certifi.where())
    return context


def _head(method: str, url: Url, headers: Mapping[str, str], length: int, proxy: Url | None) -> bytes:
    """Return the head of a request; through a proxy (http only) its target is the whole URL."""
    target = f"http://{url.address}{url.target}" if proxy is not None else url.target
    own = {"Host": url.address, "Accept-Encoding": "identity", "Content-Length": str(length)}
    if proxy is not None:
        own |= proxy_authorization(proxy)
    taken = {name.lower() for name in own}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in own.items())]
    for name, value in headers.items():
        if name.lower() in taken:
            continue
        if not _sendable(name, value):
            raise ModelError("bad_request", f"the header {name!r} has characters that can't be sent")
        lines.append(f"{name}: {value}")
    return "\r\n".join((*lines, "", "")).encode("latin-1")


def _sendable(name: str, value: str) -> bool:
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return (
        name.isascii()
        and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
        and not any((character < " " and character != "\t") or character == "\x7f" for character in value)
    )


def _unreachable(where: str, error: OSError) -> ModelError:
    import socket
    import ssl

    if isinstance(error, ssl.SSLCertVerificationError):
        return ModelError("protocol", f"{where} has a certificate that is not trusted: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        return ModelError("protocol", f"{where} does not speak TLS as it should: {error.reason}")
    if isinstance(error, socket.gaierror):
        return ModelError("connection", f"{where} can't be found: its name does not resolve")
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        return ModelError("connection", f"{where} refused the connection")
    return ModelError("connection", f"{where} can't be reached: {error.strerror or type(error).__name__}")
