"""URLs that tools ask: what can be asked, and whose host that is."""

from __future__ import annotations

from urllib.parse import quote, urlsplit, urlunsplit

from agentoml.errors import ToolError

AS_WRITTEN = "".join(map(chr, range(0x21, 0x7F)))


def checked_url(url: str) -> str:
    """Return a URL as it is asked for: without its fragment, other letters than ASCII percent-encoded. Its host is what
    everybody takes it for.

    Raises:
        ToolError: it is not http or https, has no host, carries credentials or characters that programs read apart.
    """
    if any(character <= " " or character in "\\\x7f" for character in url):
        raise ToolError("the URL holds blanks, control characters or a backslash; percent-encode them")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ToolError(f"this is no URL: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ToolError(f"only http and https can be fetched, not {parts.scheme or 'a relative URL'}")
    if not host:
        raise ToolError("the URL names no host")
    if "@" in parts.netloc:
        raise ToolError("the URL carries credentials; they are not sent")
    try:
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except UnicodeError:
        raise ToolError(f"{host} is no host name") from None
    host = f"[{host}]" if ":" in host else host
    path, query = (quote(part, safe=AS_WRITTEN, errors="replace") for part in (parts.path or "/", parts.query))
    return urlunsplit((parts.scheme, host if port is None else f"{host}:{port}", path, query, ""))


def host_of(url: str) -> str | None:
    """Return the host that a URL asks, in lower case; None where it can't be fetched anyway."""
    try:
        return urlsplit(checked_url(url)).hostname
    except ToolError:
        return None
