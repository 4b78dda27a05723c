"""The adapters by name, and a provider of the configuration -> its adapter, imported when it is first opened."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agentoml.config.schema import Provider
from agentoml.errors import ModelError
from agentoml.models.litellm_params import LITELLM
from agentoml.models.model import Adapter
from agentoml.models.settings import Credential, HttpSettings, SecretResolver
from agentoml.models.urls import parse_url

Factory = Callable[[str, Provider, SecretResolver], Adapter]

NOT_YET = frozenset({"replay"})
"""Adapters that the vocabulary reserves."""


def open_adapter(name: str, provider: Provider, resolve: SecretResolver) -> Adapter:
    """Return the adapter of the provider `name`. Nothing is connected and no secret is read before a request.

    Raises:
        ModelError: bad_request; the provider has a fault (see `provider_fault`).
    """
    fault = provider_fault(provider)
    if fault is not None:
        raise ModelError("bad_request", f"provider {name}: {fault.message}")
    factory = _factory(provider.adapter or "")
    assert factory is not None
    return factory(name, provider, resolve)


def _factory(adapter: str) -> Factory | None:
    if adapter.startswith(LITELLM) and len(adapter) > len(LITELLM):
        return _litellm
    return ADAPTERS.get(adapter)


def takes_seconds_to_import(provider: Provider) -> bool:
    """Tell whether what a provider's adapter needs had better be imported (`warm`) before it is needed."""
    return (provider.adapter or "").startswith(LITELLM)


async def warm() -> None:
    """Import what takes seconds to import, beside the event loop.

    Raises:
        ModelError: bad_request; it can't be imported.
    """
    from agentoml.models import litellm

    await litellm.warm()


async def close_shared() -> None:
    """Close the connections that adapters share, which closing each of them leaves open."""
    if "litellm" in sys.modules:
        from agentoml.models import litellm

        await litellm.close_connections()


class Fault(NamedTuple):
    """Why a provider can't be used: the key that is at fault, and a sentence about it."""

    key: str
    message: str


def provider_fault(provider: Provider) -> Fault | None:
    """Return what is wrong with a provider's adapter and base_url, None where it can be opened. For link."""
    known = f"there are {', '.join(ADAPTERS)} and {LITELLM}NAME"
    if provider.adapter is None:
        return Fault("adapter", f"it names no adapter; {known}")
    if provider.adapter in NOT_YET:
        return Fault("adapter", f"the adapter {provider.adapter} is not supported yet")
    if _factory(provider.adapter) is None:
        return Fault("adapter", f"there is no adapter {provider.adapter!r}; {known}")
    if provider.base_url is not None:
        try:
            url = parse_url(provider.base_url)
        except ValueError as error:
            return Fault("base_url", f"base_url can't be used: {error}")
        if url.user:
            return Fault("base_url", "base_url must not contain credentials; they belong into api_key")
    return None


BASE_URLS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
"""Our adapters over HTTP, all of whose providers list their models, and where they ask if no `base_url` is written."""


def http_settings(name: str, provider: Provider, resolve: SecretResolver) -> HttpSettings:
    """Return what is asked where, for a provider whose adapter is among `BASE_URLS`."""
    return HttpSettings(
        base_url=parse_url(provider.base_url or BASE_URLS[provider.adapter or ""]),
        credential=Credential(name, provider.api_key, resolve),
        headers=provider.headers,
        connect=provider.timeout.connect,
        idle=provider.timeout.idle,
    )


def _scripted(name: str, provider: Provider, resolve: SecretResolver) -> Adapter:
    from agentoml.models.scripted import Scripted

    return Scripted(provider.replies)


def _openai(name: str, provider: Provider, resolve: SecretResolver) -> Adapter:
    from agentoml.models.openai import OpenAi

    return _retrying(provider, OpenAi(http_settings(name, provider, resolve)))


def _openai_responses(name: str, provider: Provider, resolve: SecretResolver) -> Adapter:
    from agentoml.models.openai_responses import OpenAiResponses

    return _retrying(provider, OpenAiResponses(http_settings(name, provider, resolve)))


def _anthropic(name: str, provider: Provider, resolve: SecretResolver) -> Adapter:
    from agentoml.models.anthropic import Anthropic

    return _retrying(provider, Anthropic(http_settings(name, provider, resolve)))


def _litellm(name: str, provider: Provider, resolve: SecretResolver) -> Adapter:
    from agentoml.models.litellm import Litellm

    options: dict[str, Any] = {}
    if provider.base_url is not None:
        options["api_base"] = provider.base_url
    if provider.headers:
        options["extra_headers"] = dict(provider.headers)
    known_as = (provider.adapter or "").removeprefix(LITELLM)
    credential = Credential(name, provider.api_key, resolve)
    return _retrying(provider, Litellm(known_as, credential, options, provider.timeout.idle))


def _retrying(provider: Provider, adapter: Adapter) -> Adapter:
    """Return the adapter with the provider's retries and concurrency around it."""
    from agentoml.models.retry import Retrying

    return Retrying(adapter, provider.retry, provider.concurrency)


ADAPTERS: Mapping[str, Factory] = {
    "scripted": _scripted,
    "openai": _openai,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
}
"""Adapters by name, beside `litellm/NAME`. A scripted failure is not retried: it would only come again."""
