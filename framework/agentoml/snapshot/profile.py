"""The profile: all that decides how a session behaves at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from agentoml.config.globs import selects
from agentoml.config.vocabulary.notation import ListEdit
from agentoml.config.vocabulary.profile import Limits
from agentoml.permissions.sets import selects_tool
from agentoml.snapshot.precedence import most_specific
from agentoml.snapshot.snapshot import EMPTY

NO_LIMITS = Limits()


@frozen
class Servers:
    """Which MCP servers are on. `declared` has those of the configuration, all things considered; `rules` are names
    and globs in the order in which they count, `tools` the tools that are taken of a server.
    """

    declared: Mapping[str, bool] = EMPTY
    rules: tuple[tuple[str, bool], ...] = ()
    tools: Mapping[str, tuple[str, ...]] = EMPTY

    def is_on(self, server: str) -> bool:
        """Return whether a server is on; one that the client brought is, unless a rule says otherwise."""
        if server in self.declared:
            return self.declared[server]
        said = most_specific(self.rules, server)
        return True if said is None else said

    def shows(self, server: str, tool: str) -> bool:
        """Return whether a tool of a server is there."""
        return self.is_on(server) and selects(self.tools.get(server, ("*",)), tool)


@frozen(eq=False)
class Profile:
    """What is in force. Names of permission sets are judged by `permissions`; `params` are the base's and the patches'.

    `reminder` are the notes in force, `instructions_append` the paragraphs, both in fold order.
    """

    model: str | None = None
    summary_model: str | None = None
    reasoning: str | None = None
    variant: str | None = None
    base_params: Mapping[str, Any] = field(factory=dict)
    patch_params: Mapping[str, Any] = field(factory=dict)
    params: Mapping[str, Any] = field(factory=dict)
    instructions: str | None = None
    instructions_append: tuple[str, ...] = ()
    reminder: tuple[str, ...] = ()
    servers: Servers = Servers()
    permissions_base: tuple[str, ...] = ()
    permissions_patches: tuple[tuple[str, ...], ...] = ()
    auto_answers: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    limits: Limits = NO_LIMITS
    tool_edits: tuple[ListEdit, ...] = ()

    @property
    def mcp(self) -> Mapping[str, bool]:
        """Return which of the declared servers are on."""
        return self.servers.declared

    @property
    def instructions_paragraphs(self) -> tuple[str, ...]:
        """Return the system prompt, paragraph by paragraph."""
        return (*((self.instructions,) if self.instructions else ()), *self.instructions_append)

    def shows(self, tool: str, kind: str) -> bool:
        """Return whether a tool is visible (E28): each list narrows, additions and removals edit what stands before."""
        if tool.startswith("mcp:"):
            server, _, name = tool[4:].partition("/")
            if not self.servers.shows(server, name):
                return False
        visible = True
        for edit in self.tool_edits:
            if edit.replace is not None:
                visible = visible and selects_tool(edit.replace, tool, kind)
            if edit.add and selects_tool(edit.add, tool, kind):
                visible = True
            if edit.remove and selects_tool(edit.remove, tool, kind):
                visible = False
        return visible
