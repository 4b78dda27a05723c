from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator

import pytest

from agentoml.errors import ModelError
from agentoml.models import http
from agentoml.models.http import HttpClient, Response
from agentoml.models.urls import Url, parse_url
from servers.http_server import HANG_UP, Answer, HttpServer, Step, json_answer
from servers.loopback_tls import LoopbackTls

PLAIN = {"Content-Type": "text/plain"}


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    client = HttpClient(connect=5, idle=5, environ={})
    yield client
    await client.aclose()


def url_of(server: HttpServer) -> Url:
    return parse_url(f"{server.url}/v1?x=1")


async def post(client: HttpClient, url: Url, body: bytes = b"{}") -> Response:
    return await client.request("POST", url, {"X-Test": "yes"}, body)


async def whole(response: Response) -> bytes:
    try:
        return await response.read_all()
    finally:
        await response.aclose()


def raw(*pieces: bytes | Step) -> Answer:
    """An answer of raw bytes, after which the server hangs up."""
    return Answer(before=(*pieces, HANG_UP))


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
async def test_an_answer_of_any_framing_is_read_whole(client: HttpClient, framing: str) -> None:
    async with HttpServer(Answer(("one ", "two ", "three"), headers=PLAIN, framing=framing)) as server:  # type: ignore[arg-type]
        response = await post(client, url_of(server), b"[1]")

        assert (response.status, response.headers["content-type"]) == (200, "text/plain")
        assert await whole(response) == b"one two three"

    request = server.requests[0]
    assert (request.method, request.target, request.body) == ("POST", "/v1?x=1", b"[1]")
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["x-test"] == "yes"


async def test_a_piece_is_there_as_soon_as_it_was_sent(client: HttpClient) -> None:
    gate = asyncio.Event()
    async with HttpServer(Answer(("one", gate, "two"))) as server:
        response = await post(client, url_of(server))

        assert await response.read() == b"one"
        gate.set()
        assert await whole(response) == b"two"


async def test_a_connection_whose_answer_came_whole_is_used_again(client: HttpClient) -> None:
    async with HttpServer(Answer(("one",)), Answer(("two",))) as server:
        assert await whole(await post(client, url_of(server))) == b"one"
        assert await whole(await post(client, url_of(server))) == b"two"

        assert server.connections == 1


async def test_a_connection_whose_end_was_not_read_is_used_again_after_its_last_bytes(client: HttpClient) -> None:
    gate = asyncio.Event()
    other = HttpClient(connect=5, idle=5, environ={})
    async with HttpServer(Answer(("one", gate, "")), Answer(("between",)), Answer(("two",))) as server:
        response = await post(client, url_of(server))
        await response.read()
        response.understood()
        await response.aclose()
        gate.set()
        await server.exchanges[0].answered.wait()
        await whole(await post(other, url_of(server)))  # what was written before this has been read by now

        assert await whole(await post(client, url_of(server))) == b"two"
        assert [request.connection for request in server.requests] == [1, 2, 1]
        await other.aclose()


async def test_closing_the_client_waits_for_the_sockets_that_nothing_needs() -> None:
    client = HttpClient(connect=5, idle=5, environ={})
    endless, whole_one = Answer(("one", asyncio.Event())), Answer(("two",))
    async with HttpServer(endless, whole_one) as server:
        understood = await post(client, url_of(server))
        await understood.read()
        kept = await post(client, url_of(server))
        await whole(kept)
        understood.understood()
        await understood.aclose()

        await client.aclose()

        assert understood._connection.gone.done() and kept._connection.gone.done()
        for exchange in server.exchanges:
            await asyncio.wait_for(exchange.hung_up.wait(), 5)


async def test_an_answer_that_was_not_read_to_its_end_closes_the_connection(client: HttpClient) -> None:
    async with HttpServer(Answer(("one", asyncio.Event()))) as server:
        response = await post(client, url_of(server))
        await response.read()

        await response.aclose()

        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)


@pytest.mark.parametrize("answer", [Answer(before=(asyncio.Event(),)), Answer(("one", asyncio.Event()))])
async def test_cancelling_closes_the_socket(client: HttpClient, answer: Answer) -> None:
    async def ask() -> None:
        response = await post(client, url_of(server))
        try:
            await response.read()
            reading.set()
            await response.read()
        finally:
            await response.aclose()

    reading = asyncio.Event()
    async with HttpServer(answer) as server:
        asking = asyncio.create_task(ask())
        await (reading if answer.steps else server.arrived).wait()
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking

        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)


async def test_a_kept_connection_that_the_server_closed_is_replaced(client: HttpClient) -> None:
    gone = Answer(before=(HANG_UP,))
    async with HttpServer(Answer(("one",)), gone, Answer(("two",))) as server:
        await whole(await post(client, url_of(server)))

        assert await whole(await post(client, url_of(server))) == b"two"
        assert [request.connection for request in server.requests] == [1, 1, 2]


async def test_a_new_connection_that_the_server_closes_is_an_error(client: HttpClient) -> None:
    async with HttpServer(Answer(before=(HANG_UP,))) as server:
        with pytest.raises(ModelError, match=rf"127.0.0.1:{server.port} closed the connection") as error:
            await post(client, url_of(server))

    assert error.value.kind == "connection"


async def test_an_old_connection_is_not_used_again(client: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "KEPT_SECONDS", -1.0)
    async with HttpServer(Answer(("one",)), Answer(("two",))) as server:
        await whole(await post(client, url_of(server)))
        await whole(await post(client, url_of(server)))

        assert server.connections == 2


async def test_a_refused_connection_is_a_connection_error(client: HttpClient) -> None:
    async with HttpServer() as server:
        pass

    with pytest.raises(ModelError, match=f"127.0.0.1:{server.port} refused") as error:
        await post(client, url_of(server))

    assert error.value.kind == "connection"


async def test_a_host_that_has_no_address_is_a_connection_error(client: HttpClient) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.invalid") as error:
        await post(client, parse_url("http://nowhere.invalid:81/"))

    assert error.value.kind == "connection"


async def test_a_body_that_breaks_off_gives_what_came_and_then_an_error(client: HttpClient) -> None:
    async with HttpServer(Answer(("one", HANG_UP))) as server:
        response = await post(client, url_of(server))

        assert await response.read() == b"one"
        with pytest.raises(ModelError, match="broke the answer off") as error:
            await response.read()
        await response.aclose()

    assert error.value.kind == "connection"


@pytest.mark.parametrize("answer", [Answer(before=(asyncio.Event(),)), Answer(("one", asyncio.Event()))])
async def test_silence_is_a_timeout(answer: Answer) -> None:
    client = HttpClient(connect=5, idle=0.05, environ={})
    async with HttpServer(answer) as server:
        with pytest.raises(ModelError, match=r"sent nothing for 0\.05 s") as error:
            await whole(await post(client, url_of(server)))

        assert error.value.kind == "timeout"
        await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 5)


async def test_silence_of_the_reader_is_no_timeout() -> None:
    client = HttpClient(connect=5, idle=0.02, environ={})
    gate = asyncio.Event()
    async with HttpServer(Answer(("one", gate, "two"))) as server:
        response = await post(client, url_of(server))
        assert await response.read() == b"one"
        await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=0.06)
        gate.set()

        assert await whole(response) == b"two"
    await client.aclose()


async def test_a_server_that_takes_no_connection_is_a_timeout(loopback_tls: LoopbackTls) -> None:
    client = HttpClient(connect=0.05, idle=5, environ={})
    async with HttpServer() as server:  # speaks no TLS and waits for a request
        with pytest.raises(ModelError, match="no connection within") as error:
            await post(client, parse_url(f"https://127.0.0.1:{server.port}/"))

    assert error.value.kind == "timeout"


async def test_a_connection_that_is_given_up_at_whatever_moment_leaves_no_socket(loopback_tls: LoopbackTls) -> None:
    await http.tls_context()
    async with HttpServer() as server:  # speaks no TLS and waits for a request
        for step in range(100):
            client = HttpClient(connect=step * 0.00003, idle=5, environ={})
            with pytest.raises(ModelError, match="no connection within"):
                await post(client, parse_url(f"https://127.0.0.1:{server.port}/"))
    gc.collect()  # a socket that nobody closed is a warning, and so a failure


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (raw(b"SSH-2.0-OpenSSH_9.9\r\n"), "does not speak HTTP"),
        (raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"), "another protocol"),
        (raw(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 60_000, asyncio.Event()), "headers without end"),
    ],
)
async def test_what_is_no_http_is_a_protocol_error(client: HttpClient, answer: Answer, what: str) -> None:
    async with HttpServer(answer) as server:
        with pytest.raises(ModelError, match=what) as error:
            await post(client, url_of(server))

    assert error.value.kind == "protocol"


async def test_a_broken_chunk_is_a_protocol_error(client: HttpClient) -> None:
    answer = raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\nnonsense\r\n")
    async with HttpServer(answer) as server:
        response = await post(client, url_of(server))
        with pytest.raises(ModelError) as error:
            await whole(response)

    assert error.value.kind == "protocol"


async def test_interim_answers_are_passed_over(client: HttpClient) -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    async with HttpServer(Answer(("one",), before=(early,))) as server:
        response = await post(client, url_of(server))

        assert response.status == 200
        assert "link" not in response.headers
        assert await whole(response) == b"one"


async def test_bytes_that_nobody_asked_for_close_the_connection(client: HttpClient) -> None:
    extra = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"
    async with HttpServer(Answer(before=(extra, asyncio.Event())), Answer(("two",))) as server:
        response = await post(client, url_of(server))
        assert await response.read_all(3) == b"one"
        await response.aclose()

        assert await whole(await post(client, url_of(server))) == b"two"


async def test_a_redirect_is_not_followed(client: HttpClient) -> None:
    async with HttpServer(json_answer({}, 307, Location="/elsewhere")) as server:
        response = await post(client, url_of(server))
        await whole(response)

        assert response.status == 307
        assert len(server.requests) == 1


async def test_a_fast_server_waits_for_a_slow_reader(client: HttpClient) -> None:
    piece = b"x" * 100_000
    async with HttpServer(Answer([piece] * 100)) as server:
        response = await post(client, url_of(server))
        sizes = []
        while data := await response.read():
            sizes.append(len(data))
            await asyncio.sleep(0)
        await response.aclose()

    assert sum(sizes) == 10_000_000
    assert max(sizes) < 2_000_000


@pytest.mark.parametrize("headers", [{"a b": "c"}, {"a": "b\r\nc: d"}, {"a": "☃"}])
async def test_a_header_that_cannot_be_sent_is_an_error_that_names_it_only(
    client: HttpClient, headers: dict[str, str]
) -> None:
    async with HttpServer() as server:
        with pytest.raises(ModelError, match="the header") as error:
            await client.request("POST", url_of(server), headers)

    assert error.value.kind == "bad_request"
    assert all(value not in str(error.value) for value in headers.values() if value != "c")


async def test_many_requests_at_once_each_get_their_own_answer(client: HttpClient) -> None:
    async with HttpServer(*[lambda request: Answer((request.body,))] * 20) as server:

        async def ask(body: bytes) -> bytes:
            return await whole(await post(client, url_of(server), body))

        bodies = [str(number).encode() for number in range(20)]
        assert await asyncio.gather(*map(ask, bodies)) == bodies


# ------------------------------------------------------------------------------------------------ TLS, proxies


def trust(monkeypatch: pytest.MonkeyPatch, tls: LoopbackTls) -> None:
    monkeypatch.setattr(http, "_make_context", lambda: tls.client)


async def test_https_is_spoken_to_servers_that_are_trusted(
    client: HttpClient, loopback_tls: LoopbackTls, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(monkeypatch, loopback_tls)
    async with HttpServer(Answer(("one",)), Answer(("two", asyncio.Event())), tls=loopback_tls.server) as server:
        assert await whole(await post(client, url_of(server))) == b"one"
        response = await post(client, url_of(server))
        await response.read()
        await response.aclose()

        await asyncio.wait_for(server.exchanges[1].hung_up.wait(), 5)
        assert server.connections == 1


async def test_an_unknown_certificate_is_refused(client: HttpClient, loopback_tls: LoopbackTls) -> None:
    async with HttpServer(tls=loopback_tls.server) as server:
        with pytest.raises(ModelError, match="not trusted") as error:
            await post(client, url_of(server))

    assert error.value.kind == "protocol"


async def test_there_is_one_tls_context() -> None:
    first, second = await asyncio.gather(http.tls_context(), http.tls_context())

    assert first is second


async def test_plain_http_goes_through_a_proxy_with_the_whole_url() -> None:
    async with HttpServer(Answer(("one",))) as proxy:
        client = HttpClient(connect=5, idle=5, environ={"HTTP_PROXY": f"http://u:p@127.0.0.1:{proxy.port}"})
        response = await post(client, parse_url("http://provider.example:8080/v1"))

        assert await whole(response) == b"one"
        await client.aclose()

    assert proxy.requests[0].target == "http://provider.example:8080/v1"
    assert proxy.requests[0].headers["host"] == "provider.example:8080"
    assert proxy.requests[0].headers["proxy-authorization"] == "Basic dTpw"


@contextlib.asynccontextmanager
async def tunnelling_proxy(port: int, answer: bytes, heads: list[bytes]) -> AsyncIterator[int]:
    """A proxy that answers CONNECT with `answer` and passes bytes on to a port of loopback if that is a 200."""
    pipes: list[asyncio.Task[None]] = []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        if b" 200 " not in answer:
            writer.close()
            return
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
        pipes.append(asyncio.create_task(pipe(reader, upstream_writer)))
        pipes.append(asyncio.create_task(pipe(upstream_reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        await asyncio.gather(*pipes)


async def test_https_goes_through_a_tunnel(loopback_tls: LoopbackTls, monkeypatch: pytest.MonkeyPatch) -> None:
    trust(monkeypatch, loopback_tls)
    heads: list[bytes] = []
    async with (
        HttpServer(Answer(("one",)), Answer(("two",)), tls=loopback_tls.server) as server,
        tunnelling_proxy(server.port, b"HTTP/1.1 200 Connection established\r\n\r\n", heads) as port,
    ):
        client = HttpClient(connect=5, idle=5, environ={"HTTPS_PROXY": f"http://127.0.0.1:{port}"})
        url = parse_url("https://provider.example/v1")

        assert await whole(await post(client, url)) == b"one"
        assert await whole(await post(client, url)) == b"two"
        await client.aclose()

    assert len(heads) == 1
    assert heads[0].startswith(b"CONNECT provider.example:443 HTTP/1.1\r\n")
    assert b"X-Test" not in heads[0]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "auth"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "connection"),
        (b"", "connection"),
        (b"nonsense\r\n\r\n", "connection"),
    ],
)
async def test_a_proxy_that_opens_no_tunnel_is_named(answer: bytes, kind: str) -> None:
    async with tunnelling_proxy(0, answer, heads := []) as port:
        client = HttpClient(connect=5, idle=5, environ={"HTTPS_PROXY": f"http://127.0.0.1:{port}"})
        with pytest.raises(ModelError, match=f"the proxy 127.0.0.1:{port}") as error:
            await post(client, parse_url("https://provider.example/v1"))

    assert error.value.kind == kind
    assert len(heads) == 1
