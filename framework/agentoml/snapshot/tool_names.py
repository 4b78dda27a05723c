"""The names, kinds and paths of tools as far as a configuration tells them, without the tools themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attrs import frozen

from agentoml.config import schema
from agentoml.permissions.calls import Call, host_of
from agentoml.snapshot.precedence import most_specific
from agentoml.snapshot.snapshot import Snapshot, ToolKind

BUILT_IN_KINDS: Mapping[str, str] = MappingProxyType({
    "read_file": "read",
    "write_file": "edit",
    "edit_file": "edit",
    "move_file": "move",
    "delete_file": "delete",
    "list_files": "search",
    "search_files": "search",
    "shell": "execute",
    "fetch_url": "fetch",
    "update_plan": "think",
    "switch_mode": "switch_mode",
    "ask_user": "other",
    "delegate": "other",
})  # fmt: skip
"""The built-in tools and their kinds (DESIGN section 7)."""

ToolKinds = tuple[tuple[str, ToolKind], ...]


def tool_kinds(tables: Mapping[str, str | schema.ToolKind]) -> ToolKinds:
    """Return `[tool_kinds]`, in declared order."""
    return tuple(
        (name, ToolKind(kind=said) if isinstance(said, str) else ToolKind(said.kind, said.title, said.locations))
        for name, said in tables.items()
    )


def declared_kind(snapshot: Snapshot, tool: str) -> ToolKind | None:
    """Return what `[tool_kinds]` says of a tool: an exact name beats a glob, a longer glob a shorter one (E29)."""
    return most_specific(snapshot.tool_kinds, tool)


@frozen
class ToolTables:
    """`[tools]` and `[tool_kinds]`: what is known of a tool by its name."""

    tools: Mapping[str, schema.ToolDefinition]
    kinds: ToolKinds

    def kind(self, tool: str) -> str:
        """Return the kind of a tool as permissions see it: declared, its own, else `other`."""
        declared = most_specific(self.kinds, tool)
        if declared is not None and declared.kind is not None:
            return declared.kind
        definition = self.tools.get(tool)
        own = definition.kind if definition is not None else None
        return own or BUILT_IN_KINDS.get(tool, "other")

    def call(self, tool: str, args: Mapping[str, Any]) -> Call:
        """Return a call as permissions see it: with its kind, its declared paths and the host it asks."""
        paths = tuple(str(args[name]) for name in self.locations(tool) if name in args)
        url = args.get("url") if tool == "fetch_url" else None
        return Call(tool, self.kind(tool), args, paths, host_of(url) if isinstance(url, str) else None)

    def locations(self, tool: str) -> tuple[str, ...]:
        """Return the arguments of a tool that are paths."""
        declared = most_specific(self.kinds, tool)
        if declared is not None and declared.locations:
            return tuple(name.strip("{}") for name in declared.locations)
        if tool in self.tools:
            return tuple(name.strip("{}") for name in self.tools[tool].locations)
        if tool == "move_file":
            return ("source", "destination")
        return ("path",) if tool in BUILT_IN_KINDS else ()
