"""The tools of a session at one moment: built-in, without code, of MCP servers; each as `[tool_kinds]` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve

from agentoml.session.choices import choice_tool, switch_mode_tool
from agentoml.session.session import Session
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.tool_names import declared_kind
from agentoml.tools.command import command_tool
from agentoml.tools.tool import Tool


def toolbox(session: Session, snapshot: Snapshot, built_in: Mapping[str, Tool]) -> dict[str, Tool]:
    """Return the visible tools by name, in an order that depends on nothing but the configuration and the servers.

    What the configuration says of a declared server does not count for one of the client that took its name
    (DESIGN section 3, item 6).
    """
    profile = session.resolved(snapshot).profile
    switch_mode = switch_mode_tool(session, snapshot)
    tools = (
        *built_in.values(),
        *((switch_mode,) if switch_mode is not None else ()),
        *_declared(session, snapshot),
        *session.servers.tools(snapshot),
    )
    known = (tool if session.servers.shadows(tool.name) else _as_declared(snapshot, tool) for tool in tools)
    return {tool.name: tool for tool in known if profile.shows(tool.name, tool.kind)}


def _declared(session: Session, snapshot: Snapshot) -> Iterator[Tool]:
    for name, definition in snapshot.tools.items():
        yield choice_tool(session, name, definition) if definition.choices else command_tool(name, definition)


def _as_declared(snapshot: Snapshot, tool: Tool) -> Tool:
    declared = declared_kind(snapshot, tool.name)
    if declared is None:
        return tool
    return evolve(
        tool,
        kind=declared.kind or tool.kind,
        shown_kind=declared.kind or tool.shown_kind,
        title=declared.title or tool.title,
        locations=tuple(name.strip("{}") for name in declared.locations) or tool.locations,
    )
