"""The MCP servers of one session: those declared and on, and those that its client brought."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager

from attrs import define, field

from agentoml.config.schema import McpServer
from agentoml.snapshot.ceiling import OPEN, Ceiling
from agentoml.snapshot.resolve import Resolved
from agentoml.snapshot.snapshot import Snapshot
from agentoml.tools.mcp import McpServers, ServerStatus
from agentoml.tools.mcp_server import Surroundings
from agentoml.tools.tool import Tool
from agentoml.wire.client import Client
from agentoml.wire.messages import notice

logger = logging.getLogger("agentoml.mcp")


@define(eq=False)
class SessionServers:
    """What runs for a session. A server of the client that has the name of a declared one stands in its place."""

    session_id: str
    client: Client
    surroundings: Surroundings
    brought: Mapping[str, McpServer] = field(factory=dict)
    _declared: frozenset[str] = frozenset()
    _ceiling: Ceiling = OPEN
    _servers: McpServers = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._servers = McpServers(self.surroundings, self._told)

    def want(self, snapshot: Snapshot, resolved: Resolved) -> None:
        """Start and stop servers so that those run that are on."""
        self._declared, self._ceiling = frozenset(snapshot.servers), snapshot.ceiling
        brought = {name: one for name, one in self.brought.items() if snapshot.ceiling.allows_server(name, one)}
        wanted = {**snapshot.servers, **brought}
        self._servers.want({name: server for name, server in wanted.items() if resolved.servers.is_on(name)})

    def tools(self, snapshot: Snapshot) -> list[Tool]:
        """Return the tools of the servers that are ready, in the order in which a snapshot declares these; those of the
        client's own servers come last.

        What a reload adds or takes away while a turn runs waits for the next turn; what a policy takes away does not.
        """
        known = {**snapshot.servers, **self.brought}
        places = {name: place for place, name in enumerate(known)}
        running = [(_server_of(tool.name), tool) for tool in self._servers.tools().values()]
        there = [one for one in running if one[0] in known and self._ceiling.allows_server(one[0], known[one[0]])]
        return [tool for _, tool in sorted(there, key=lambda one: places[one[0]])]

    def statuses(self) -> tuple[ServerStatus, ...]:
        """Return how each server is that is on."""
        return self._servers.statuses()

    def shadows(self, tool: str) -> bool:
        """Tell whether a tool is of a server of the client that took the name of a declared one."""
        return _server_of(tool) in self.brought and _server_of(tool) in self._declared

    async def settled(self) -> None:
        """Start again what ended by itself since the last turn, and wait until no server is starting."""
        self._servers.restart_ended()
        await self._servers.settled()

    def in_use(self) -> AbstractContextManager[None]:
        """Keep servers that are not wanted any more running while this holds."""
        return self._servers.in_use()

    async def close(self) -> None:
        """End all servers and their processes."""
        await self._servers.close()

    def _told(self, status: ServerStatus) -> None:
        if status.state != "failed":
            return
        logger.warning("the MCP server %s is not there: %s", status.name, status.problem)
        if self.client.can_notice:
            title = f"The MCP server {status.name} is not there"
            after = "; it is started again with the next prompt" if status.returns else ""
            self.client.update(self.session_id, notice("warning", title, f"{status.problem}{after}"))


def _server_of(tool: str) -> str:
    """Return the server that a tool is of; of any other tool nothing."""
    return tool[4:].partition("/")[0] if tool.startswith("mcp:") else ""
