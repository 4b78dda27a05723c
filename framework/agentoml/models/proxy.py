"""Proxies named by the environment: which one a request goes through, and tunnels through it.

HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, lower case first, as curl and Go read them; this machine itself is
never asked for through a proxy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from agentoml.errors import ModelError
from agentoml.models.urls import Url, parse_url

MAX_ANSWER_BYTES = 64 * 1024


def proxy_for(url: Url, environ: Mapping[str, str]) -> Url | None:
    """Return the proxy for a URL, None where it is asked directly.

    Raises:
        ModelError: the proxy's own URL can't be used.
    """
    if url.loopback or _excluded(url, _variable(environ, "no_proxy")):
        return None
    text = _variable(environ, f"{url.scheme}_proxy") or _variable(environ, "all_proxy")
    if not text:
        return None
    try:
        return parse_url(text if "://" in text else f"http://{text}")
    except ValueError as error:
        raise ModelError(
            "bad_request", f"the proxy for {url.scheme} in the environment can't be used: {error}"
        ) from None


def proxy_authorization(proxy: Url) -> dict[str, str]:
    """Return the header that a proxy with credentials in its URL wants."""
    if not proxy.user:
        return {}
    from base64 import b64encode

    return {"Proxy-Authorization": f"Basic {b64encode(proxy.user.encode()).decode('ascii')}"}


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper()) or ""


def _excluded(url: Url, names: str) -> bool:
    """Tell whether NO_PROXY names the host: `*`, a host, a domain (with all below it), each with a port or without."""
    for entry in names.replace(",", " ").split():
        if entry == "*":
            return True
        name = entry.lower().lstrip(".").removeprefix("*.")
        if ":" in name and name.rsplit(":", 1)[1].isdigit() and not name.startswith("[") and name.count(":") == 1:
            name, _, port = name.rpartition(":")
            if int(port) != url.port:
                continue
        name = name.strip("[]")
        if url.host == name or url.host.endswith(f".{name}"):
            return True
    return False


class Tunnel(asyncio.Protocol):
    """The conversation with a proxy before it passes bytes on: CONNECT and the head of its answer."""

    def __init__(self, target: Url, proxy: Url) -> None:
        host = f"[{target.host}]" if ":" in target.host else target.host
        lines = [f"CONNECT {host}:{target.port} HTTP/1.1", f"Host: {host}:{target.port}"]
        lines += [f"{name}: {value}" for name, value in proxy_authorization(proxy).items()]
        self._request = "\r\n".join((*lines, "", "")).encode("ascii")
        self._where = f"the proxy {proxy.address}"
        self._answer = b""
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the tunnel."""
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Take the answer: only a status of 2xx opens the tunnel."""
        self._answer += data
        if self.open.done() or (b"\r\n\r\n" not in self._answer and len(self._answer) <= MAX_ANSWER_BYTES):
            return
        words = self._answer.split(b"\r\n", 1)[0].split(b" ")
        status = words[1].decode("ascii", "replace") if len(words) > 1 else "nothing"
        if words[0].startswith(b"HTTP/1.") and len(status) == 3 and status[0] == "2":
            self.open.set_result(None)
        elif status == "407":
            self.open.set_exception(ModelError("auth", f"{self._where} wants a login"))
        else:
            self.open.set_exception(ModelError("connection", f"{self._where} answered {status[:20]}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Report that the proxy hung up."""
        if not self.open.done():
            self.open.set_exception(ModelError("connection", f"{self._where} hung up"))
