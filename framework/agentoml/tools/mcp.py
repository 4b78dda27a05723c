"""The MCP servers of a session: what is wanted is compared with what runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import frozen

from agentoml.config.schema import McpServer
from agentoml.tools.mcp_server import RunningServer, State, Surroundings
from agentoml.tools.tool import Tool

CLOSING_SECONDS = 4.0
FRUITLESS_RESTARTS = 3
"""How often in a row a server that ended by itself is started again, no call answered in between."""


@frozen
class ServerStatus:
    """How a server is; `problem` says why it is not `ready`, in one sentence, without secrets. One that `returns`
    is started again by `restart_ended`.
    """

    name: str
    state: State
    problem: str
    tools: int
    returns: bool = False


class McpServers:
    """The servers of one session. Nothing here waits for a server but `settled` and `close`.

    `changed` is called whenever tools have come or gone, with the server they belong to.
    """

    def __init__(self, surroundings: Surroundings, changed: Callable[[ServerStatus], None]) -> None:
        self._surroundings = surroundings
        self._tell = changed
        self._current: dict[str, RunningServer] = {}
        self._previous: dict[str, RunningServer] = {}
        self._leaving: dict[str, RunningServer] = {}
        self._retired: list[RunningServer] = []
        self._running: set[RunningServer] = set()
        self._fruitless: dict[str, int] = {}
        self._users = 0

    def want(self, declared: Mapping[str, McpServer]) -> None:
        """Start and stop servers so that these run. One whose connection is declared as before keeps its process; a
        changed one serves until the new one has started; one that is gone ends after the turns that use it.
        """
        before, self._current = self._current, {}
        for name, server in declared.items():
            running = before.pop(name, None) or self._leaving.pop(name, None)
            if running is None or _connection(running.declared) != _connection(server):
                self._fruitless.pop(name, None)
                running = self._replaced(name, server, running)
            self._current[name] = running
        for name, running in before.items():
            serving = self._previous.pop(name, running)
            if serving is not running:
                running.stop()  # it has not even started
            if self._users:
                self._leaving[name] = serving
            else:
                serving.stop()

    def restart_ended(self) -> None:
        """Start those again that served and then ended by themselves. One that never came up is left alone: nothing
        has changed for it.
        """
        for name, server in tuple(self._current.items()):
            if self._returns(server):
                self._fruitless[name] = 1 + (0 if server.answered else self._fruitless.get(name, 0))
                self._current[name] = self._replaced(name, server.declared, server)

    def tools(self) -> dict[str, Tool]:
        """Return the tools of all servers that are ready, in the order of the servers; last of those that are on their
        way out.
        """
        found: dict[str, Tool] = {}
        for name, server in (*self._current.items(), *self._leaving.items()):
            serving = self._previous.get(name, server) if server.state == "starting" else server
            found.update((tool.name, tool) for tool in serving.tools)
        return found

    def statuses(self) -> tuple[ServerStatus, ...]:
        """Return how each wanted server is."""
        return tuple(self._status(server) for server in self._current.values())

    async def settled(self) -> None:
        """Wait until no wanted server is starting; each has its own startup_timeout."""
        while starting := [server for server in self._current.values() if server.state == "starting"]:
            for server in starting:
                await server.settled.wait()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While this holds (a turn), servers that are not wanted any more go on running and have their tools."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                done = (*self._retired, *self._leaving.values())
                self._retired.clear()
                self._leaving.clear()
                for server in done:
                    server.stop()

    async def close(self) -> None:
        """End all servers, their processes and those that these started."""
        self._current.clear()
        self._previous.clear()
        self._leaving.clear()
        owners = {server.owner for server in self._running}
        for server in tuple(self._running):
            server.stop()
        if owners:
            _, late = await asyncio.wait(owners, timeout=CLOSING_SECONDS)
            for owner in late:
                owner.cancel()
            if late:
                await asyncio.wait(late, timeout=CLOSING_SECONDS)

    def _replaced(self, name: str, declared: McpServer, old: RunningServer | None) -> RunningServer:
        server = RunningServer(name, declared, self._surroundings, self._changed)
        self._running.add(server)
        server.owner.add_done_callback(lambda _: self._running.discard(server))
        if old is not None:
            if old.state == "ready" and name not in self._previous:
                self._previous[name] = old
            else:
                self._retire(old)
        return server

    def _retire(self, server: RunningServer) -> None:
        if self._users:
            self._retired.append(server)
        else:
            server.stop()

    def _changed(self, server: RunningServer) -> None:
        if self._current.get(server.name) is not server:
            return
        if server.state != "starting" and server.name in self._previous:
            self._retire(self._previous.pop(server.name))
        self._tell(self._status(server))

    def _status(self, server: RunningServer) -> ServerStatus:
        return ServerStatus(server.name, server.state, server.problem, len(server.tools), self._returns(server))

    def _returns(self, server: RunningServer) -> bool:
        fruitless = 0 if server.answered else self._fruitless.get(server.name, 0)
        return server.state == "failed" and server.served and fruitless < FRUITLESS_RESTARTS


def client_servers(entries: Sequence[Mapping[str, Any]]) -> dict[str, McpServer]:
    """Return the servers that a client names at session/new, as if they stood in a file; of one name the last."""
    return {entry["name"]: _client_server(entry) for entry in entries}


def _client_server(entry: Mapping[str, Any]) -> McpServer:
    if entry.get("type", "stdio") == "stdio":
        return McpServer(command=(entry["command"], *(entry.get("args") or ())), env=_pairs(entry.get("env")))
    return McpServer(url=entry["url"], transport=entry["type"], headers=_pairs(entry.get("headers")))


def _pairs(entries: Sequence[Mapping[str, str]] | None) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in entries or ()}


def _connection(declared: McpServer) -> tuple[Any, ...]:
    """Return the part of a declaration that a running server depends on."""
    return (declared.command, declared.url, declared.transport, declared.headers, declared.env)
