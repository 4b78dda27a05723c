"""The cost map that ships inside litellm -> models, for those providers that are declared. It is data, no import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentoml.config.catalogs.lists import is_key, is_price, is_size

MAP = "model_prices_and_context_window_backup.json"
"""The file's name inside litellm's package."""

ADAPTER = "litellm/"
OFFICIAL = {"openai": "openai", "openai-responses": "openai", "anthropic": "anthropic"}
"""Our adapters and what litellm calls the provider that they ask without `base_url`."""

CAPABILITIES = {
    "supports_function_calling": "tools",
    "supports_vision": "images",
    "supports_pdf_input": "documents",
    "supports_audio_input": "audio",
    "supports_reasoning": "reasoning",
}
PRICES = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
}
SIZES = {"max_input_tokens": "context", "max_output_tokens": "output"}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def litellm_names(providers: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return (what litellm calls it, the declared provider) for `[providers]` as written.

    A provider serves what litellm lists for its adapter (`litellm/NAME`, or ours without `base_url`), else what it
    lists under the provider's own name.
    """
    found: dict[str, str] = {}
    for name, written in providers.items():
        adapter = written.get("adapter") if isinstance(written, dict) else None
        if not isinstance(adapter, str):
            continue
        if adapter.startswith(ADAPTER):
            found.setdefault(adapter.removeprefix(ADAPTER), name)
        elif adapter in OFFICIAL:
            found.setdefault(name if "base_url" in written else OFFICIAL[adapter], name)
    return tuple(found.items())


@lru_cache(maxsize=8)
def litellm_models(content: bytes, providers: tuple[tuple[str, str], ...], today: str) -> Mapping[str, Any]:
    """Return the chat models of the map as `[models]` has them: the map's own keys, without the provider's prefix.

    `today` (ISO) tells what ended already.
    """
    try:
        listed = json.loads(content)
    except ValueError:
        return {}
    found: dict[str, Any] = {}
    for name, entry in listed.items() if isinstance(listed, dict) else ():
        if not isinstance(entry, dict) or entry.get("mode") not in ("chat", "responses"):
            continue
        kind = entry.get("litellm_provider")
        served = next(((ours, by) for ours, by in providers if isinstance(kind, str) and _is(kind, ours)), None)
        if served is not None and is_key(name):
            found[name] = _entry(name.removeprefix(f"{served[0]}/"), served[1], entry, today)
    return found


def _is(kind: str, name: str) -> bool:
    """Return whether models of this kind belong to a provider: bedrock_converse is bedrock, vertex_ai-x vertex_ai."""
    return kind == name or kind.startswith((f"{name}-", f"{name}_converse"))


def _entry(model_id: str, provider: str, listed: Mapping[str, Any], today: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"provider": provider, "id": model_id}
    limit = {ours: listed[theirs] for theirs, ours in SIZES.items() if is_size(listed.get(theirs))}
    cost = {ours: _per_million(listed[theirs]) for theirs, ours in PRICES.items() if is_price(listed.get(theirs))}
    if limit:
        entry["limit"] = limit
    if cost:
        entry["cost"] = cost
    if any(flag in listed for flag in CAPABILITIES):
        entry["capabilities"] = [word for flag, word in CAPABILITIES.items() if listed.get(flag) is True]
    levels = _levels(listed)
    if levels:
        default = listed.get("default_reasoning_effort")
        entry["reasoning"] = {"values": levels, **({"default": default} if default in levels else {})}
    ended = listed.get("deprecation_date")
    if isinstance(ended, str) and ended < today:
        entry["status"] = "deprecated"
    return entry


def _per_million(price: float) -> float:
    return round(price * 1e6, 6)


def _levels(listed: Mapping[str, Any]) -> list[str]:
    """Return the reasoning levels, where the map says which."""
    levels = listed.get("reasoning_effort_levels")
    if isinstance(levels, list):
        return [level for level in EFFORTS if level in levels]
    flags = {level: listed.get(f"supports_{level}_reasoning_effort") for level in EFFORTS}
    if listed.get("supports_reasoning") is not True or all(flag is None for flag in flags.values()):
        return []
    return [level for level in EFFORTS if flags[level] is True or level in ("low", "medium", "high")]
