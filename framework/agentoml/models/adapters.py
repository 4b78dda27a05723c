"""The adapters by name, and a provider of the configuration -> its adapter, imported when it is first opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from agentoml.config.schema import Provider
from agentoml.errors import ModelError
from agentoml.models.model import Adapter
from agentoml.models.settings import Credential, HttpSettings, SecretResolver
from agentoml.models.urls import parse_url

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
    assert provider.adapter is not None
    return ADAPTERS[provider.adapter](name, provider, resolve)


class Fault(NamedTuple):
    """Why a provider can't be used: the key that is at fault, and a sentence about it."""

    key: str
    message: str


def provider_fault(provider: Provider) -> Fault | None:
    """Return what is wrong with a provider's adapter and base_url, None where it can be opened. For link."""
    if provider.adapter is None:
        return Fault("adapter", f"it names no adapter; there are {', '.join(ADAPTERS)}")
    if provider.adapter in NOT_YET:
        return Fault("adapter", f"the adapter {provider.adapter} is not supported yet")
    if provider.adapter not in ADAPTERS:
        return Fault("adapter", f"there is no adapter {provider.adapter!r}; there are {', '.join(ADAPTERS)}")
    if provider.base_url is not None:
        try:
            url = parse_url(provider.base_url)
        except ValueError as error:
            return Fault("base_url", f"base_url can't be used: {error}")
        if url.user:
            return Fault("base_url", "base_url must not contain credentials; they belong into api_key")
    return None


def _http_settings(name: str, provider: Provider, resolve: SecretResolver, base_url: str) -> HttpSettings:
    return HttpSettings(
        base_url=parse_url(provider.base_url or base_url),
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

    return OpenAi(_http_settings(name, provider, resolve, "https://api.openai.com/v1"))


ADAPTERS: Mapping[str, Callable[[str, Provider, SecretResolver], Adapter]] = {
    "scripted": _scripted,
    "openai": _openai,
}
