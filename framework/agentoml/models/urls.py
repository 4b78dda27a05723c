"""URLs of providers and proxies, taken apart and checked."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}


class Url(NamedTuple):
    """An `http` or `https` URL. `path` is never empty and has no query; `user` is "name:password" or empty."""

    scheme: str
    host: str
    port: int
    path: str
    query: str
    user: str = ""

    @property
    def address(self) -> str:
        """Host and port as in a `Host` header and in messages: never credentials, no port that goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """What stands in the request line: path and query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def loopback(self) -> bool:
        """Whether the host is this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def under(self, path: str) -> Url:
        """Return the URL of something beneath this one; a query stays (`?api-version=...`)."""
        return self._replace(path=f"{self.path.rstrip('/')}/{path}")


def host_of(text: str) -> str | None:
    """Return the host of a URL, in small letters; None where it is no URL that could be asked."""
    try:
        return parse_url(text).host.lower()
    except ValueError:
        return None


def parse_url(text: str) -> Url:
    """Take a URL apart.

    Raises:
        ValueError: it is no usable http or https URL; the text says why and does not repeat it.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("it is not a URL") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("it must begin with http:// or https://")
    host = parts.hostname
    if not host:
        raise ValueError("it names no host")
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            raise ValueError("its host is not a name") from None
    rest = parts.path + parts.query + host
    if not rest.isascii() or not rest.isprintable() or " " in rest:
        raise ValueError("it has characters that must be written as %XX")
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}" if parts.username is not None else ""
    return Url(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], parts.path or "/", parts.query, user)
