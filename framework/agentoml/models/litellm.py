"""The adapters `litellm/NAME`: every provider that litellm knows. The only importer of litellm.

Importing it costs seconds, so it is done in a thread, when a model first needs it or when `warm` says so. It prints,
logs and reads `.env` files by itself: all of that is turned off here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from agentoml.errors import ModelError, ModelErrorKind
from agentoml.models.failures import says_too_long, shown, status_failure
from agentoml.models.litellm_params import astray
from agentoml.models.model import Event, ModelRequest
from agentoml.models.openai import OUTPUT_LIMITS, request_body
from agentoml.models.openai_answer import ChatAnswer
from agentoml.models.settings import Credential
from agentoml.threads import giving_way, in_thread

if TYPE_CHECKING:
    from types import ModuleType

IMPORT_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches one
    "LITELLM_MODE": "PRODUCTION",  # else it reads the .env file of whatever project it finds
}

FIRST_CALL = ("openai.resources", "anyio._backends._asyncio", "litellm._service_logger", "litellm.proxy._types")
"""What the first call would import on the event loop, as far as it takes long."""

KINDS: Mapping[str, ModelErrorKind] = {
    "ContextWindowExceededError": "context_length",
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "PaymentRequiredError": "auth",
    "RateLimitError": "rate_limit",
    "Timeout": "timeout",
    "BadRequestError": "bad_request",
    "UnprocessableEntityError": "bad_request",
    "NotFoundError": "bad_request",
    "MidStreamFallbackError": "connection",
    "ServiceUnavailableError": "overloaded",
    "BadGatewayError": "overloaded",
    "InternalServerError": "overloaded",
    "APIConnectionError": "connection",
}
"""Classes of litellm's exceptions; the first in an exception's own order of classes counts."""

ADVICE_OF_ITS_OWN = "To drop these"
OUR_ADVICE = "leave them out of `params`; where it is `tools`, write `capabilities = []` in the model"
"""What helps where litellm knows that a model takes no such parameter."""

LATER_THAN_OURS = 60.0
"""Seconds by which litellm's own timeout comes after ours."""

_IMPORT_LOCK = Lock()
_CLASS_PREFIX = re.compile(r"(?:litellm\.)?\w+(?:Error|Exception|Timeout)(?::| -) ")


class Litellm:
    """One provider of litellm's; `name` is what stands before its models' ids."""

    def __init__(self, name: str, credential: Credential, options: Mapping[str, Any], idle: float) -> None:
        self._name = name
        self._credential = credential
        self._options = options
        self._idle = idle

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Ask the model and yield its answer as it comes.

        Raises:
            ModelError: the provider refused, failed or broke off.
        """
        where = f"litellm/{self._name}"
        for name, remedy in astray(request.params):
            raise ModelError("bad_request", f"{where}: params can't say {name}; {remedy}")
        origin = f"{where} {self._options.get('api_base', '')} {request.model_id}"
        key = await self._credential.get()
        litellm = await warm()
        answer = ChatAnswer(
            where, lambda error: ModelError("overloaded", f"{where} broke off: {shown(str(error), key)}")
        )
        call = {"timeout": self._idle + LATER_THAN_OURS, **_arguments(request, origin), **self._options}
        call["model"] = f"{self._name}/{request.model_id}"
        if key is not None:
            call["api_key"] = key
        try:
            async with aclosing(_chunks(litellm, call, where, self._idle)) as chunks:
                async for chunk in chunks:
                    for event in answer.take_chunk(chunk.model_dump()):
                        yield event
        except ModelError:
            raise
        except Exception as error:
            failure = _failure(where, error, key)
            if failure.kind == "auth":
                self._credential.forget()
            raise failure from None
        if not answer.finished:
            raise ModelError("connection", f"{where} broke the answer off")
        yield answer.result(origin)

    async def aclose(self) -> None:
        """Do nothing: litellm's connections belong to all its adapters; `close_connections` closes them."""


async def warm() -> ModuleType:
    """Import litellm in a thread, once, and return it.

    Raises:
        ModelError: bad_request; it can't be imported.
    """
    loaded = _loaded()
    if loaded is not None:
        return loaded
    try:
        return await in_thread(_locked_import, "import litellm")
    except Exception as error:
        raise ModelError("bad_request", f"litellm can't be imported: {error}") from None


async def close_connections() -> None:
    """Close the connections that litellm keeps, if it was ever used; for the end of the process."""
    litellm = _loaded()
    if litellm is not None:
        await litellm.close_litellm_async_clients()


def _loaded() -> ModuleType | None:
    """Return litellm if it is imported wholly, and silenced."""
    litellm = sys.modules.get("litellm")
    return litellm if getattr(litellm, "suppress_debug_info", False) else None


def _locked_import() -> ModuleType:
    with _IMPORT_LOCK:
        return _import()


@cache
def _import() -> ModuleType:
    before = {name: os.environ.get(name) for name in IMPORT_ENVIRONMENT}
    os.environ.update(IMPORT_ENVIRONMENT)
    try:
        with giving_way():
            _follow_no_redirects()
            import litellm

            for name in FIRST_CALL:
                with suppress(ImportError):
                    import_module(name)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    litellm.telemetry = False
    litellm.disable_streaming_logging = True
    litellm.turn_off_message_logging = True
    litellm.disable_token_counter = True  # it would count every answer, on the event loop
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.setLevel(logging.CRITICAL)
    litellm.suppress_debug_info = True  # last: `_loaded` takes it as the sign that all of this is done
    return litellm


def _follow_no_redirects() -> None:
    """Have no client of httpx, by which litellm asks, follow a redirect: it takes along all headers but one."""
    import httpx

    def without_redirects(make: Callable[..., None]) -> Callable[..., None]:
        return lambda client, *args, **settings: make(client, *args, **{**settings, "follow_redirects": False})

    for kind in (httpx.Client, httpx.AsyncClient):
        kind.__init__ = without_redirects(kind.__init__)  # type: ignore[method-assign]


def _arguments(request: ModelRequest, origin: str) -> dict[str, Any]:
    """Return the arguments of a call: the body of Chat Completions, which litellm translates, with its own word for
    the limit of the output and without retries, which are ours.
    """
    body = request_body(request, origin)
    if request.max_output is not None and not any(name in request.params for name in OUTPUT_LIMITS):
        body["max_tokens"] = body.pop("max_completion_tokens")
    return {"num_retries": 0, "max_retries": 0, **body, "stream": True}


async def _chunks(litellm: ModuleType, call: Mapping[str, Any], where: str, idle: float) -> AsyncGenerator[Any, None]:
    """Ask and yield the chunks; close the stream, and with it its connection, however that ends.

    Raises:
        ModelError: timeout; nothing came for `idle` seconds.
    """
    stream: Any = None
    try:
        while True:
            async with asyncio.timeout(idle):
                if stream is None:
                    stream = await litellm.acompletion(**call)
                chunk = await anext(stream, None)
            if chunk is None:
                return
            yield chunk
    except TimeoutError:
        raise ModelError("timeout", f"{where} sent nothing for {idle:g} s") from None
    finally:
        if stream is not None:
            await stream.aclose()


def _failure(where: str, error: Exception, key: str | None) -> ModelError:
    """Return what an exception of litellm's, or of anything beneath it, means."""
    original = getattr(error, "original_exception", None)
    if type(error).__name__ == "MidStreamFallbackError" and isinstance(original, Exception):
        return _failure(where, original, key)
    names = [kind.__name__ for kind in type(error).__mro__]
    kind = next((KINDS[name] for name in names if name in KINDS), None)
    status = getattr(error, "status_code", None)
    headers = getattr(error, "litellm_response_headers", None) or getattr(error, "headers", None) or {}
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    by_status = status_failure(where, status, lower, b"") if isinstance(status, int) and status >= 300 else None
    if kind is None:
        kind = by_status.kind if by_status else "protocol"
    text = str(getattr(error, "message", None) or error)
    if kind == "bad_request" and says_too_long(f"{getattr(error, 'code', '')} {text}"):
        kind = "context_length"
    while _CLASS_PREFIX.match(text):
        text = _CLASS_PREFIX.sub("", text, count=1)
    if "UnsupportedParamsError" in names:
        text = f"{text.partition(ADVICE_OF_ITS_OWN)[0].rstrip(' .,')}; {OUR_ADVICE}"
    return ModelError(
        kind,
        f"{where} failed: {shown(text, key) or names[0]}",
        retry_after=by_status.retry_after if by_status else None,
    )
