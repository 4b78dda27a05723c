"""The names and kinds of tools that a configuration may speak of (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from agentoml.config.schema import ToolDefinition
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


def declared_kind(snapshot: Snapshot, tool: str) -> ToolKind | None:
    """Return what `[tool_kinds]` says of a tool: an exact name beats a glob, a longer glob a shorter one (E29)."""
    return most_specific(snapshot.tool_kinds, tool)


def kind_of(snapshot: Snapshot, tool: str) -> str:
    """Return the kind of a tool as permissions see it: declared, its own, else `other`."""
    declared = declared_kind(snapshot, tool)
    if declared is not None and declared.kind is not None:
        return declared.kind
    definition: ToolDefinition | None = snapshot.tools.get(tool)
    if definition is not None and definition.kind is not None:
        return definition.kind
    return BUILT_IN_KINDS.get(tool, "other")


def all_tool_names(tools: Iterable[str]) -> tuple[str, ...]:
    """Return every tool that has a name of its own: the built-in ones and those of `[tools]`."""
    return (*BUILT_IN_KINDS, *tools)
