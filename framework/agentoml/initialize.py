"""The answer to `initialize`: who the agent is by its files, and what it can do. Light: nothing is compiled for it."""

from __future__ import annotations

from typing import Any

from agentoml import __version__
from agentoml.config import layers, merge, parse
from agentoml.wire.messages import implementation, initialize_result
from agentoml.wire.methods import capabilities

OFFERED = ("session/new", "session/prompt", "session/cancel", "session/set_mode", "session/set_config_option")
"""The methods that the agent answers beside `initialize`; its capabilities are derived from them."""

SERVERS = {"http": True, "sse": True}
"""Ways to reach MCP servers beside stdio."""

EXTENSIONS: dict[str, Any] = {"configChanged": {}}
"""`_meta.agentoml` of the capabilities: a client with the same entry in its own is sent `_agentoml/config_changed`."""


def initialize(config: layers.Configuration) -> dict[str, Any]:
    """Return the result of `initialize` for a configuration; a broken one is an agent too, its sessions are refused."""
    merged = merge.merge(parse.parse_all(layers.read(config)))
    agent = merged.table.get("agent")
    agent = agent if isinstance(agent, dict) else {}
    name, version, title = (_text(agent.get(key)) for key in ("name", "version", "title"))
    can = capabilities(OFFERED, prompt=_prompt(agent.get("prompt")), mcp=SERVERS, additional_directories=True)
    can["_meta"] = {"agentoml": {**EXTENSIONS, "extensions": _extensions(merged.table.get("extensions"))}}
    return initialize_result(implementation(name or "agentoml", version or __version__, title), can)


def _prompt(taken: object) -> dict[str, bool]:
    """Return `promptCapabilities` of what `[agent] prompt` lists."""
    words = taken if isinstance(taken, list) else []
    return {"image": "image" in words, "audio": False, "embeddedContext": "embedded" in words}


def _extensions(tables: object) -> list[str]:
    """Return the extension methods that `[extensions]` declares."""
    return [method for method in tables if method.startswith("_")] if isinstance(tables, dict) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
