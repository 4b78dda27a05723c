"""Requests to a provider and their answers, events or JSON: what all that asks over HTTP shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agentoml import __version__
from agentoml.errors import ModelError
from agentoml.models.failures import garbage, status_failure, stream_failure
from agentoml.models.http import HttpClient, Response
from agentoml.models.settings import HttpSettings
from agentoml.models.sse import EventParser, EventSizeError, ServerEvent
from agentoml.models.urls import Url

MAX_ERROR_BODY = 64 * 1024

Authorization = Callable[[str], Mapping[str, str]]
"""A credential -> the headers that carry it."""


def bearer(key: str) -> Mapping[str, str]:
    """Return the header `Authorization: Bearer`."""
    return {"Authorization": f"Bearer {key}"}


class EventStream:
    """The events of one answer. Whoever has it must `aclose` it."""

    def __init__(self, where: str, key: str | None, response: Response) -> None:
        self.where = where
        self._key = key
        self._response = response
        self._parser = EventParser()
        self._ended = False
        self._whole = "json" in response.headers.get("content-type", "")

    async def next(self, *, optional: bool = False) -> list[ServerEvent]:
        """Return the next events, at least one; none at the end of the answer.

        An answer that is no stream but one JSON value (as some servers give) is one event. `optional`: the answer is
        complete but for what may follow (its usage), so a connection that fails now is just its end.

        Raises:
            ModelError: connection, timeout or protocol.
        """
        while not self._ended:
            if self._whole:
                self._ended = True
                return [ServerEvent("message", (await self._response.read_all()).decode("utf-8", "replace"))]
            try:
                piece = await self._response.read()
            except ModelError:
                if optional:
                    return []
                raise
            try:
                events = self._parser.feed(piece) if piece else self._parser.finish()
            except EventSizeError:
                raise garbage(self.where, "an event without end") from None
            self._ended = not piece
            if events:
                return events
        return []

    def failure(self, error: Any) -> ModelError:
        """Return the ModelError for an error object inside the stream."""
        return stream_failure(self.where, error, self._key)

    def broken_off(self) -> ModelError:
        """Return the ModelError for a stream that ended before the answer did."""
        return ModelError("connection", f"{self.where} broke the answer off")

    def understood(self) -> None:
        """Say that the answer is over, so that its connection may be used again."""
        self._response.understood()

    async def aclose(self) -> None:
        """Close the connection before returning, unless the answer came whole."""
        await self._response.aclose()


class Api:
    """A provider's HTTP API: requests under its base URL with its credential. Shared by all calls."""

    def __init__(self, settings: HttpSettings, authorization: Authorization = bearer) -> None:
        self._settings = settings
        self._authorization = authorization
        self._client = HttpClient(connect=settings.connect, idle=settings.idle)

    async def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> EventStream:
        """Post a body and return the answer as events, once its status is known to be good.

        Raises:
            ModelError: the credential is missing, the body is no JSON, or the provider refused or can't be reached.
        """
        sent = {"Content-Type": "application/json", "Accept": "text/event-stream", **(headers or {})}
        url = self._settings.base_url.under(path)
        key, response = await self._answer("POST", url, sent, encoded(body))
        return EventStream(url.address, key, response)

    async def get(self, path: str, query: str = "", headers: Mapping[str, str] | None = None) -> Any:
        """Ask for a JSON document and return it. `query` is added to that of the base URL.

        Raises:
            ModelError: the credential is missing, or the provider refused, can't be reached or sent no JSON.
        """
        url = self._settings.base_url.under(path)
        url = url._replace(query="&".join(part for part in (url.query, query) if part))
        _, response = await self._answer("GET", url, {"Accept": "application/json", **(headers or {})})
        try:
            return json.loads(await response.read_all())
        except (ValueError, RecursionError):
            raise garbage(url.address, "something that is no JSON") from None
        finally:
            await response.aclose()

    async def _answer(
        self, method: str, url: Url, headers: Mapping[str, str], data: bytes = b""
    ) -> tuple[str | None, Response]:
        """Send a request and return the credential it was sent with and the answer, whose status is good."""
        key = await self._settings.credential.get()
        sent = {"User-Agent": f"agentoml/{__version__}", **headers}
        if key is not None:
            sent |= self._authorization(key)
        response = await self._client.request(method, url, _overlaid(sent, self._settings.headers), data)
        if 200 <= response.status < 300 and "text/html" not in response.headers.get("content-type", ""):
            return key, response
        try:
            answer = await response.read_all(MAX_ERROR_BODY)
        except ModelError:
            answer = b""
        finally:
            await response.aclose()
        if response.status < 300:
            raise garbage(url.address, "a web page; is the path in base_url right?")
        failure = status_failure(url.address, response.status, response.headers, answer, key)
        if failure.kind == "auth":
            self._settings.credential.forget()
        raise failure

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._client.aclose()


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return JSON in UTF-8. Lone surrogates, which UTF-8 has no bytes for, become question marks.

    Raises:
        ModelError: bad_request; a parameter is NaN, infinite, a date or otherwise nothing that JSON has.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise ModelError("bad_request", f"the request can't be written as JSON: {error}") from None
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):  # a frozen view of a dict
        return dict(value)
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")


def _overlaid(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Return our headers with those of the configuration laid over them, letter case ignored."""
    names = {name.lower() for name in theirs}
    return {**{name: value for name, value in ours.items() if name.lower() not in names}, **theirs}
