from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from attrs import evolve

from agentoml.errors import ToolError
from agentoml.tools import fetch
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.html_text import html_to_text
from agentoml.tools.tool import ToolContext

fetch_url = built_in_tools()["fetch_url"].run

PAGES = {
    "/plain": (200, {"Content-Type": "text/plain; charset=iso-8859-1"}, "grüß".encode("latin-1")),
    "/page": (200, {"Content-Type": "text/html"}, b"<title>T</title><p>Hello <a href='/next'>there</a>"),
    "/gr%C3%BCn": (200, {"Content-Type": "text/plain; charset=hex"}, "grün".encode()),
    "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
    "/missing": (404, {"Content-Type": "text/plain"}, b"no such page"),
    "/hop": (302, {"Location": "/plain"}, b""),
    "/away": (301, {"Location": "http://localhost:PORT/plain"}, b""),
    "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    "/round": (302, {"Location": "/round"}, b""),
    "/long": (200, {"Content-Type": "text/plain"}, b"x" * 200_000),
}


class Site(ThreadingHTTPServer):
    """A small site; `seen` is what was asked, `silent` is set when somebody waits for /silent."""

    daemon_threads = True

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.silent = threading.Event()
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), Page)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Page(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.seen.append(self.path)
        if self.path == "/silent":
            self.server.silent.set()
            self.server.over.wait()
            return
        status, headers, body = PAGES[self.path]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value.replace("PORT", str(self.server.server_port)))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "*")
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


async def test_text_comes_as_text_and_html_without_markup(context: ToolContext, site: Site) -> None:
    assert (await fetch_url({"url": f"{site.url}/plain"}, context)).text == "grüß"
    assert (await fetch_url({"url": f"{site.url}/page#x"}, context)).text == f"T\nHello [there]({site.url}/next)"


async def test_letters_in_a_path_are_sent_as_servers_take_them_and_no_charset_is_trusted(
    context: ToolContext, site: Site
) -> None:
    assert (await fetch_url({"url": f"{site.url}/grün"}, context)).text == "grün"


async def test_an_error_page_is_a_failure_with_its_text(context: ToolContext, site: Site) -> None:
    result = await fetch_url({"url": f"{site.url}/missing"}, context)

    assert result.failed
    assert result.text == f"[{site.url}/missing: 404 Not Found]\nno such page"


async def test_a_redirect_is_followed_on_the_same_host(context: ToolContext, site: Site) -> None:
    result = await fetch_url({"url": f"{site.url}/hop"}, context)

    assert result.text.endswith("grüß")
    assert site.seen == ["/hop", "/plain"]


async def test_a_redirect_to_another_host_is_judged_first(context: ToolContext, site: Site) -> None:
    judged: list[str] = []

    async def allowed(url: str) -> None:
        judged.append(url)

    async def refused(url: str) -> None:
        raise ToolError("not there")

    with pytest.raises(ToolError, match="another host"):
        await fetch_url({"url": f"{site.url}/away"}, context)
    with pytest.raises(ToolError, match="not there"):
        await fetch_url({"url": f"{site.url}/away"}, evolve(context, check_url=refused))
    assert site.seen == ["/away", "/away"]
    assert (await fetch_url({"url": f"{site.url}/away"}, evolve(context, check_url=allowed))).text.endswith("grüß")
    assert judged == [f"http://localhost:{site.server_port}/plain"]


@pytest.mark.parametrize(
    ("path", "said"), [("/file", "only http"), ("/round", "more than 10"), ("/image", "image/png")]
)
async def test_what_leads_nowhere_is_a_clear_error(context: ToolContext, site: Site, path: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        await fetch_url({"url": site.url + path}, context)


async def test_a_long_page_is_cut(context: ToolContext, site: Site) -> None:
    text = (await fetch_url({"url": f"{site.url}/long"}, context)).text

    assert text.endswith("x\n[Cut here: the page is longer.]")
    assert len(text) < fetch.CHARACTERS + 100


async def test_a_silent_server_is_given_up(context: ToolContext, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "SECONDS", 0.1)

    with pytest.raises(ToolError, match=r"within 0\.1 s"):
        await fetch_url({"url": f"{site.url}/silent"}, context)


async def test_a_cancelled_fetch_waits_for_nobody(context: ToolContext, site: Site) -> None:
    running = asyncio.create_task(fetch_url({"url": f"{site.url}/silent"}, context))
    await asyncio.to_thread(site.silent.wait)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_nobody_listening_is_a_clear_error(context: ToolContext, site: Site) -> None:
    with pytest.raises(ToolError, match="can't be fetched"):
        await fetch_url({"url": "http://127.0.0.1:1/"}, context)


def test_html_becomes_readable_text() -> None:
    html = """<html><head><title>Title</title><style>p {}</style><script>x < y</script>
    <body><h1>One &amp; two</h1><ul><li>a <b>b</b><li><a href="#top">top</a></ul>
    <pre>  x
    y</pre><img alt="cat"><p>end<svg><text>no</text></svg>"""

    assert html_to_text(html, "http://h/") == "Title\n\n# One & two\n- a b\n- top\n  x\n    y\n[cat]\nend"
