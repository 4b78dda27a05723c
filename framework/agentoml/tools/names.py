"""Names of tools as models see them: providers take letters, digits, `_` and `-` only, 64 at most."""

from __future__ import annotations

import re

SAFE = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
MCP_NAME = re.compile(r"mcp:(?P<server>[a-zA-Z0-9_-]+)/(?P<tool>[a-zA-Z0-9_-]+)\Z")


def model_name(name: str) -> str:
    """Return the name of a tool as models see it; it depends on nothing else, so it never changes.

    A plain name stays, `mcp:server/tool` becomes `mcp__server__tool`; whatever would not be unique or not be taken
    like this ends in a part of its digest instead.
    """
    if SAFE.match(name) and not name.startswith("mcp__"):
        return name
    found = MCP_NAME.match(name)
    if found and "__" not in found["server"] and not found["server"].endswith("_"):
        joined = f"mcp__{found['server']}__{found['tool']}"
        if SAFE.match(joined):
            return joined
    import hashlib

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub(r'[^a-zA-Z0-9_-]', '_', name)[:55]}_{digest}"
