"""The list of models that a provider gave: where it is kept on disk, and what it says there."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentoml.config.layering.directories import own_folder

if TYPE_CHECKING:
    from agentoml.config.schema import Provider

ADAPTERS = ("openai", "openai-responses", "anthropic")
"""The adapters whose providers have such a list."""

VERSION = 1
LONGEST_KEY = 256


def list_file(provider: str, adapter: object, base_url: object, api_key: Mapping[str, Any] | None) -> Path:
    """Return where the list of a provider is kept: for this destination, and this place of its credential."""
    place = sorted((api_key or {}).items())
    destination = json.dumps([provider, adapter, base_url, place], default=str).encode("utf-8", "surrogatepass")
    return own_folder("cache") / "models" / f"{hashlib.sha256(destination).hexdigest()[:32]}.json"


def list_file_of(name: str, provider: Provider) -> Path:
    """Return where the list of a provider is kept, as `list_file` does for the table that declares it."""
    secret = provider.api_key
    names = ("env", "file", "command", "keyring") if secret is not None else ()
    place = {name: getattr(secret, name) for name in names if getattr(secret, name) is not None}
    return list_file(name, provider.adapter, provider.base_url, place)


def is_key(text: object) -> bool:
    """Return whether an id that others gave can be the key of a model; a star would be one that serves others."""
    return (
        isinstance(text, str)
        and 0 < len(text) <= LONGEST_KEY
        and text.isprintable()
        and text == text.strip()
        and ("*" not in text)
    )


def dumped(models: Mapping[str, Any], *, provider: str, fetched: datetime.datetime) -> bytes:
    """Return a list as it is kept. `models`: key -> what `[models.KEY]` would say, dates as ISO texts."""
    kept = {"version": VERSION, "provider": provider, "fetched": fetched.isoformat(timespec="seconds")}
    return json.dumps({**kept, "models": models}, indent=1, ensure_ascii=False).encode("utf-8", "replace")


def fetched_at(content: bytes) -> datetime.datetime | None:
    """Return when a list was fetched, None where that can't be told."""
    try:
        return datetime.datetime.fromisoformat(json.loads(content)["fetched"])
    except (ValueError, KeyError, TypeError):
        return None


def provided_models(content: bytes, provider: str) -> Mapping[str, Any]:
    """Return the models of a list that is kept as `[models]` has them; none where it is damaged."""
    return _provided(content, provider) if content else {}


@lru_cache(maxsize=64)
def _provided(content: bytes, provider: str) -> Mapping[str, Any]:
    try:
        models = json.loads(content)["models"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {key: _entry(entry, provider) for key, entry in models if is_key(key) and isinstance(entry, dict)}


def _entry(listed: Mapping[str, Any], provider: str) -> dict[str, Any]:
    """Return one model; whatever does not have the form that `[models.x]` asks for is left out."""
    entry: dict[str, Any] = {"provider": provider}
    if is_name(listed.get("name")):
        entry["name"] = listed["name"]
    released = _date(listed.get("released"))
    if released is not None:
        entry["released"] = released
    sizes, prices = listed.get("limit"), listed.get("cost")
    limit = {key: value for key, value in _items(sizes) if key in ("context", "output") and is_size(value)}
    cost = {key: float(value) for key, value in _items(prices) if key in PRICES and is_price(value)}
    capabilities = listed.get("capabilities")
    if isinstance(capabilities, list) and all(word in CAPABILITIES for word in capabilities):
        entry["capabilities"] = capabilities
    return entry | {key: found for key, found in (("limit", limit), ("cost", cost)) if found}


PRICES = ("input", "output", "cache_read", "cache_write")
CAPABILITIES = ("tools", "images", "documents", "audio", "reasoning")


def _items(value: object) -> Any:
    return value.items() if isinstance(value, dict) else ()


def is_name(value: object) -> bool:
    """Return whether a text that others gave can be shown as a name."""
    return isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST_KEY and value.isprintable()


def is_size(value: object) -> bool:
    """Return whether this is a number of tokens."""
    return type(value) is int and value > 0


def is_price(value: object) -> bool:
    """Return whether this is a price."""
    return type(value) in (int, float) and 0 <= float(str(value)) < float("inf")


def _date(value: object) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
