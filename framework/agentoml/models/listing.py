"""Which models a provider has, asked over HTTP (`GET /v1/models` in the dialects of those who have it), and kept."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from agentoml.config.catalogs.lists import ADAPTERS, dumped, list_file_of
from agentoml.config.schema import Provider
from agentoml.config.write import replace_file
from agentoml.errors import ModelError
from agentoml.models.adapters import BASE_URLS, http_settings, provider_fault
from agentoml.models.anthropic import VERSION, key_header
from agentoml.models.api import Api, bearer
from agentoml.models.failures import garbage
from agentoml.models.settings import HttpSettings, SecretResolver
from agentoml.models.urls import parse_url
from agentoml.threads import WRITE_SECONDS, in_thread

MOST_PAGES = 50
CONTEXT = ("context_length", "context_window", "max_model_len", "max_context_length", "max_input_tokens")
OUTPUT = ("max_output_tokens", "max_completion_tokens")
PRICES = {
    "prompt": "input",
    "completion": "output",
    "input_cache_read": "cache_read",
    "input_cache_write": "cache_write",
}
MODALITIES = {"image": "images", "file": "documents", "audio": "audio"}
PARAMETERS = {"tools": "tools", "reasoning": "reasoning"}

Entry = Mapping[str, Any]


async def refresh_list(name: str, provider: Provider, resolve: SecretResolver) -> bytes:
    """Ask a provider for its models and put the list in the place of the one that is kept; return it as it is kept.

    Raises:
        ModelError: the provider can't be asked, refused, or gave no list or an empty one; the kept one stays.
        OSError: the list can't be kept.
    """
    models = await list_models(name, provider, resolve)
    if not models:
        raise ModelError("protocol", f"provider {name} lists no models")
    content = dumped(models, provider=name, fetched=datetime.datetime.now(tz=datetime.UTC))
    keep = partial(replace_file, list_file_of(name, provider), content, private=True)
    await in_thread(keep, "keep list", linger=WRITE_SECONDS)
    return content


def list_address(provider: Provider) -> str:
    """Return where a provider with a list is asked, without what may stand in a query."""
    url = parse_url(provider.base_url or BASE_URLS[provider.adapter or ""])
    return f"{url.scheme}://{url.address}{url.path}"


async def list_models(name: str, provider: Provider, resolve: SecretResolver) -> dict[str, dict[str, Any]]:
    """Return a provider's models in its own order: id -> what `[models.ID]` would say, dates as ISO texts.

    The credential goes to this provider alone.

    Raises:
        ModelError: the provider can't be asked, refused, or gave no list.
    """
    fault = provider_fault(provider)
    if fault is not None or provider.adapter not in ADAPTERS:
        why = fault.message if fault is not None else f"the adapter {provider.adapter} has no list of models"
        raise ModelError("bad_request", f"provider {name}: {why}")
    settings = http_settings(name, provider, resolve)
    api = Api(settings, key_header if provider.adapter == "anthropic" else bearer)
    try:
        pages = _anthropic_pages(api, settings) if provider.adapter == "anthropic" else _one_page(api, settings)
        return {entry["id"]: _model(entry) async for page in pages for entry in page if _talks(entry)}
    finally:
        await api.aclose()


async def _one_page(api: Api, settings: HttpSettings) -> AsyncIterator[Iterable[Entry]]:
    answer = await api.get("models")
    yield _entries(answer.get("data") if isinstance(answer, dict) else answer, settings)


async def _anthropic_pages(api: Api, settings: HttpSettings) -> AsyncIterator[Iterable[Entry]]:
    path = "models" if settings.base_url.path.rstrip("/").endswith("/v1") else "v1/models"
    query = {"limit": "1000"}
    for _ in range(MOST_PAGES):
        answer = await api.get(path, urlencode(query), {"anthropic-version": VERSION})
        answer = answer if isinstance(answer, dict) else {}
        yield _entries(answer.get("data"), settings)
        last = answer.get("last_id")
        if answer.get("has_more") is not True or not isinstance(last, str) or last == query.get("after_id"):
            return
        query["after_id"] = last


def _entries(listed: object, settings: HttpSettings) -> Iterable[Entry]:
    if not isinstance(listed, list):
        raise garbage(settings.base_url.address, "something that is no list of models")
    return [entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get("id"), str)]


def _talks(entry: Entry) -> bool:
    """Return whether a model is for conversations, as far as the list says so."""
    capabilities = entry.get("capabilities")
    return not (isinstance(capabilities, dict) and capabilities.get("completion_chat") is False)


def _model(entry: Entry) -> dict[str, Any]:
    """Return what is known of one model; what is missing or odd is left out."""
    top = entry.get("top_provider")
    sizes = {**(top if isinstance(top, dict) else {}), **entry}
    limit = {"context": _first(sizes, CONTEXT), "output": _first(sizes, OUTPUT)}
    found = {
        "name": entry.get("display_name") or entry.get("name"),
        "released": _released(entry),
        "limit": {key: size for key, size in limit.items() if size is not None},
        "cost": _cost(entry.get("pricing")),
        "capabilities": _capabilities(entry),
    }
    return {key: value for key, value in found.items() if value is not None and value != {}}


def _first(entry: Entry, keys: tuple[str, ...]) -> int | None:
    return next((entry[key] for key in keys if type(entry.get(key)) is int and entry[key] > 0), None)


def _released(entry: Entry) -> str | None:
    created = entry.get("created")
    if type(created) in (int, float) and 0 < float(str(created)) < 1e11:
        return datetime.datetime.fromtimestamp(float(str(created)), tz=datetime.UTC).date().isoformat()
    written = entry.get("created_at")
    return written[:10] if isinstance(written, str) else None


def _cost(pricing: object) -> dict[str, float]:
    """Return USD per million tokens from USD per token, written as texts."""
    found: dict[str, float] = {}
    for theirs, ours in PRICES.items():
        price = pricing.get(theirs) if isinstance(pricing, dict) else None
        try:
            found[ours] = round(float(price) * 1e6, 6) if isinstance(price, str) else -1.0
        except (ValueError, OverflowError):
            continue
    return {key: price for key, price in found.items() if 0 <= price < float("inf")}


def _capabilities(entry: Entry) -> list[str] | None:
    """Return what a model can do, None where the list does not say."""
    architecture, parameters = entry.get("architecture"), entry.get("supported_parameters")
    modalities = architecture.get("input_modalities") if isinstance(architecture, dict) else None
    if not isinstance(modalities, list) or not isinstance(parameters, list):
        return None
    found = [word for theirs, word in PARAMETERS.items() if theirs in parameters]
    return found + [word for theirs, word in MODALITIES.items() if theirs in modalities]
