"""The open sessions of one connection: opened, found, told about another snapshot, closed."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from attrs import define, field

from agentoml.errors import ConnectionLost, InvalidParams
from agentoml.session.environment import ChildEnvironment
from agentoml.session.servers import SessionServers
from agentoml.session.session import Session
from agentoml.session.told import Told
from agentoml.session.updates import ConfigOptions
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from agentoml.tools.mcp import client_servers
from agentoml.tools.mcp_server import Surroundings
from agentoml.wire.client import Client


@define(eq=False)
class Sessions:
    """Every open session by its id."""

    _environment: ChildEnvironment = field(factory=ChildEnvironment)
    _open: dict[str, Session] = field(factory=dict)
    _lists: ConfigOptions = field(factory=ConfigOptions)
    _held: Snapshot | None = None
    _late: dict[str, Session] = field(factory=dict)
    _telling: asyncio.Task[None] | None = None

    def new(self, client: Client, snapshot: Snapshot, facts: ClientFacts, params: Mapping[str, Any]) -> Session:
        """Open a session as `session/new` asks for it.

        Raises:
            InvalidParams: a directory that is not there.
        """
        cwd, additional = params["cwd"], tuple(params.get("additionalDirectories") or ())
        for path, where in ((cwd, "$.cwd"), *((root, "$.additionalDirectories") for root in additional)):
            if not os.path.isdir(path):  # noqa: PTH112 - never fails
                raise InvalidParams("not a directory that exists", path=where, reason="not_a_directory")
        session_id = f"sess_{secrets.token_hex(12)}"
        self._environment.hide_secrets_of(snapshot)
        surroundings = Surroundings(cwd, (cwd, *additional), self._environment, self._environment.vault)
        servers = SessionServers(session_id, client, surroundings, client_servers(params.get("mcpServers") or ()))
        session = Session(
            session_id,
            cwd,
            surroundings.roots,
            client,
            snapshot,
            facts,
            servers,
            Told(client, session_id, self._lists),
            environment=self._environment,
            held=self._held,
        )
        self._open[session.id] = session
        return session

    def get(self, session_id: str) -> Session | None:
        """Return an open session, None where there is none of this id."""
        return self._open.get(session_id)

    def take(self, snapshot: Snapshot, facts: ClientFacts) -> int:
        """Put every session under another snapshot; return how many are told something.

        A client that reads slowly is told as it reads, and of several changes the last.
        """
        self._environment.hide_secrets_of(snapshot)
        told = [session for session in self if session.take(snapshot, facts)]
        for session in told:
            if self._late or session.client.backlog:
                self._late[session.id] = session
            else:
                session.tell()
        if self._late and (self._telling is None or self._telling.done()):
            self._telling = asyncio.create_task(self._tell_as_it_reads())
        return len(told)

    def hold(self, snapshot: Snapshot | None) -> None:
        """Have the restrictions of a snapshot that waits for the user bind already; None: none waits."""
        self._held = snapshot
        for session in self:
            session.held = snapshot

    async def close(self) -> None:
        """Cancel every running turn, end what runs for the sessions, and forget them."""
        if self._telling is not None:
            self._telling.cancel()
        await asyncio.gather(*(session.close() for session in self))
        self._open.clear()

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._open.values()))

    async def _tell_as_it_reads(self) -> None:
        with suppress(ConnectionLost):
            while self._late:
                session = self._late[next(iter(self._late))]
                await session.client.drain()
                self._late.pop(session.id, None)
                session.tell()
