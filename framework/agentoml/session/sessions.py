"""The open sessions of one connection: opened, found, told about another snapshot, closed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from agentoml.errors import InvalidParams, NotFound
from agentoml.session.environment import environment
from agentoml.session.servers import SessionServers, brought_by
from agentoml.session.session import Session
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from agentoml.tools.mcp_server import Surroundings
from agentoml.wire.client import Client


@define(eq=False)
class Sessions:
    """Every open session by its id."""

    _open: dict[str, Session] = field(factory=dict)

    def new(self, client: Client, snapshot: Snapshot, facts: ClientFacts, params: Mapping[str, Any]) -> Session:
        """Open a session as `session/new` asks for it.

        Raises:
            InvalidParams: a directory that is not there.
        """
        cwd, additional = params["cwd"], tuple(params.get("additionalDirectories") or ())
        for path, where in ((cwd, "$.cwd"), *((root, "$.additionalDirectories") for root in additional)):
            if not Path(path).is_dir():
                raise InvalidParams("not a directory that exists", path=where, reason="not_a_directory")
        session_id = f"sess_{secrets.token_hex(12)}"
        surroundings = Surroundings(cwd, (cwd, *additional), environment(snapshot))
        servers = SessionServers(session_id, client, surroundings, brought_by(params.get("mcpServers") or ()))
        session = Session(session_id, cwd, surroundings.roots, client, snapshot, facts, servers)
        self._open[session.id] = session
        return session

    def find(self, session_id: str) -> Session:
        """Return an open session.

        Raises:
            NotFound: there is none of this id.
        """
        session = self._open.get(session_id)
        if session is None:
            raise NotFound("no such session", sessionId=session_id)
        return session

    def take(self, snapshot: Snapshot, facts: ClientFacts) -> int:
        """Put every session under another snapshot; return how many were told something."""
        return sum(session.take(snapshot, facts) for session in self)

    async def close(self) -> None:
        """Cancel every running turn, end what runs for the sessions, and forget them."""
        await asyncio.gather(*(session.close() for session in self))
        self._open.clear()

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._open.values()))
