"""The tool fetch_url: GET over http or https, each redirect judged again, its text without markup."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from agentoml.errors import ToolError
from agentoml.threads import in_thread
from agentoml.tools.tool import Tool, ToolContext, ToolResult
from agentoml.tools.urls import checked_url, host_of

if TYPE_CHECKING:
    from http.client import HTTPResponse

SECONDS = 30.0
SILENT_SECONDS = 10.0
LARGEST_BODY = 5 * 1024 * 1024
CHARACTERS = 100_000
REDIRECTS = 10
REDIRECT_CODES = frozenset({301, 302, 303, 307, 308})
TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/x-yaml")


class Answer(NamedTuple):
    """What a server answered to one request."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    complete: bool


async def fetch_url(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Fetch a page and return its text."""
    import asyncio

    url = checked_url(args["url"])
    try:
        async with asyncio.timeout(SECONDS):
            for _ in range(REDIRECTS):
                answer = await in_thread(partial(get, url), "fetch_url")
                location = answer.headers.get("location")
                if answer.status not in REDIRECT_CODES or not location:
                    break
                url = await _followed(url, location, context)
            else:
                raise ToolError(f"{args['url']} redirects more than {REDIRECTS} times")
            text = await in_thread(partial(readable, answer, url), "fetch_url")
    except TimeoutError:
        raise ToolError(f"{url} did not answer within {SECONDS:g} s") from None
    failed = answer.status >= 400
    head = f"[{url}: {answer.status} {answer.reason}]\n" if failed or url != checked_url(args["url"]) else ""
    if len(text) > CHARACTERS or not answer.complete:
        text = f"{text[:CHARACTERS]}\n[Cut here: the page is longer.]"
    return ToolResult(head + (text or "[The page has no text.]"), failed=failed)


async def _followed(url: str, location: str, context: ToolContext) -> str:
    """Return where a redirect leads to, if the call may go there."""
    target = checked_url(urljoin(url, location))
    if context.check_url is not None:
        await context.check_url(target)
    elif host_of(target) != host_of(url):
        raise ToolError(f"{url} redirects to {target}, which is another host; fetch that URL itself")
    return target


def get(url: str) -> Answer:
    """Ask for a URL once, without following redirects; proxies are taken from the environment. Blocks.

    Raises:
        ToolError: there is no answer.
    """
    import urllib.request
    from http.client import HTTPException

    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
        opener.add_handler(handler())
    headers = {"User-Agent": "agentoml", "Accept": "text/html, text/*;q=0.9, */*;q=0.5", "Accept-Encoding": "identity"}
    request = urllib.request.Request(url, headers=headers)
    try:
        response: HTTPResponse = opener.open(request, timeout=SILENT_SECONDS)
        with response:
            body = _body(response, time.monotonic() + SECONDS)
            found = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, response.reason, found, body[:LARGEST_BODY], len(body) <= LARGEST_BODY)
    except (OSError, HTTPException, ValueError) as error:
        raise ToolError(f"{url} can't be fetched: {getattr(error, 'reason', None) or error}") from None


def _body(response: HTTPResponse, deadline: float) -> bytes:
    """Return the body, one byte more than the largest where it is larger; a server that drips does not hold us."""
    body = bytearray()
    while len(body) <= LARGEST_BODY and time.monotonic() < deadline:
        piece = response.read1(LARGEST_BODY + 1 - len(body))
        if not piece:
            break
        body += piece
    return bytes(body)


def readable(answer: Answer, url: str) -> str:
    """Return the text of an answer.

    Raises:
        ToolError: it is no text.
    """
    from agentoml.tools.html_text import html_to_text

    kind, _, parameters = answer.headers.get("content-type", "text/plain").partition(";")
    kind = kind.strip().lower()
    if not (kind.startswith(TEXT_TYPES) or kind.endswith(("+json", "+xml"))):
        raise ToolError(f"{url} is {kind} ({len(answer.body)} bytes), which is no text")
    charset = next((part[8:].strip("\"'") for part in parameters.split() if part.lower().startswith("charset=")), "")
    try:
        text = answer.body.decode(charset.rstrip(";") or "utf-8", "replace")
    except (LookupError, ValueError):  # an encoding that nobody knows, or that is none of texts
        text = answer.body.decode("utf-8", "replace")
    return html_to_text(text, url) if kind in ("text/html", "application/xhtml+xml") else text


FETCH_URL = Tool(
    "fetch_url",
    "Fetch a page over http or https (GET, no credentials) and return its text.",
    {
        "type": "object",
        "properties": {"url": {"type": "string", "description": "The whole URL"}},
        "required": ["url"],
        "additionalProperties": False,
    },
    fetch_url,
    "fetch",
    "Fetch {url}",
    url="url",
)
