"""A secret goes only where it was declared to go: who changes the destination has to bring a secret of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentoml.config.problems import Path, Problem, shown

DESTINATIONS: Mapping[str, tuple[str, ...]] = {
    "providers": ("base_url", "adapter"),
    "mcp": ("url", "command", "transport"),
}
"""Table -> the keys of an entry that say where its secrets go."""

_SECRET_TABLES = frozenset({"headers", "env"})


def leads_elsewhere(below: Mapping[str, Any], above: Mapping[str, Any], path: Path) -> str | None:
    """Return the key of an entry by which the table above says another destination than the one below."""
    keys = DESTINATIONS.get(str(path[0]), ()) if len(path) == 2 else ()
    return next((key for key in keys if key in above and above[key] != below.get(key)), None)


def without_secrets(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry without the secrets that it declares."""
    kept = {key: value for key, value in entry.items() if key != "api_key"}
    for name in _SECRET_TABLES & kept.keys():
        if isinstance(kept[name], dict):
            kept[name] = {key: value for key, value in kept[name].items() if not isinstance(value, dict)}
    return kept


def secrets_left_behind(below: Mapping[str, Any], after: Mapping[str, Any], path: Path, key: str) -> list[Problem]:
    """Return a warning for each secret below that no table above brought along: `after` is what they make."""
    lost: list[tuple[str, ...]] = [("api_key",)] if "api_key" in below and "api_key" not in after else []
    for name in sorted(_SECRET_TABLES):
        table = below.get(name)
        there = after.get(name, {})
        if isinstance(table, dict):
            lost += [(name, entry) for entry, value in table.items() if isinstance(value, dict) and entry not in there]
    return [
        Problem(
            "AGT353",
            f"the inherited {shown(secret[-1])} does not go along to another {shown(key)}",
            (*path, key),
            hint=f"a secret goes only where it was declared to go: write {'.'.join(secret)} beside it",
            at="key",
            severity="warning",
        )
        for secret in lost
    ]
