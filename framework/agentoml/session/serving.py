"""One configuration in force for the sessions of one project, or of none: loaded, watched, told of, trusted."""

from __future__ import annotations

import asyncio
import logging

from attrs import define, field

from agentoml.config.secrets import Vault
from agentoml.errors import InternalError
from agentoml.session.discovery import Discovery
from agentoml.session.environment import ChildEnvironment
from agentoml.session.providers import with_credentials
from agentoml.session.reloads import Reloads
from agentoml.session.session import Session
from agentoml.session.sessions import Sessions
from agentoml.session.trusting import Trusting
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.store import Record, Store
from agentoml.snapshot.watch import watch
from agentoml.wire.client import Client

logger = logging.getLogger("agentoml.watch")


@define(eq=False)
class Serving:
    """A store and the sessions that go by it."""

    store: Store
    client: Client
    vault: Vault
    sessions: Sessions = field(init=False)
    discovery: Discovery = field(init=False)
    reloads: Reloads = field(init=False)
    trusting: Trusting = field(init=False)
    _trusted: bool = True
    _loaded: asyncio.Task[Record] | None = None
    _reloading: asyncio.Task[Record] | None = None
    _watching: asyncio.Task[None] | None = None

    def __attrs_post_init__(self) -> None:
        self.sessions = Sessions(ChildEnvironment(self.vault))
        self.discovery = Discovery(resolve=self.vault.resolve)
        self.reloads = Reloads(self.store, self.client, self.sessions)
        self.trusting = Trusting(self.store, self.sessions)

    def start(self) -> None:
        """Begin to load the configuration, and to watch its files once it is loaded."""
        self.store.subscribe(self._swapped, None, self._recorded)
        self.reloads.listen()
        self.trusting.listen()
        self._loaded = asyncio.create_task(self.store.reload("start"))
        self._watching = asyncio.create_task(self._watch())

    def reload(self) -> None:
        """Look at the files now."""
        self._reloading = asyncio.create_task(self.store.reload("signal"))

    async def loaded(self) -> None:
        """Wait until the first attempt is over."""
        if self._loaded is not None:
            await asyncio.shield(self._loaded)

    async def snapshot(self) -> Snapshot:
        """Return what is in force.

        Raises:
            InternalError: nothing is, as the files are not valid.
        """
        await self.loaded()
        if self.store.current is None:
            problems = [problem.one_line() for problem in self.store.problems]
            raise InternalError("the configuration is not valid", reason="no_valid_configuration", problems=problems)
        return self.store.current

    def facts(self, snapshot: Snapshot) -> ClientFacts:
        """Return what conditions may ask about the client and its user."""
        return ClientFacts(
            name=self.client.name,
            booleans=self.client.booleans,
            trusted=self.store.trusted,
            credentials=with_credentials(snapshot.providers),
        )

    def opened(self, session: Session) -> None:
        """A client knows its new session now."""
        self.reloads.opened(session)
        self.trusting.opened(session)

    async def stop(self) -> None:
        """Stop every turn and question, then everything else."""
        await self.trusting.close()
        await self.reloads.close()
        await self.sessions.close()
        await self.discovery.close()
        for task in (self._watching, self._loaded):
            if task is not None:
                task.cancel()
                await asyncio.wait((task,))
        await self.store.close()

    def _swapped(self, before: Snapshot | None, after: Snapshot) -> int:
        self._trusted = self.store.trusted
        if self.discovery.began:
            self.discovery.follow(after)
        return self.sessions.take(after, self.facts(after))

    def _recorded(self, record: Record) -> None:
        """Have conditions on `trusted` hold or not, also where nothing else changes."""
        if self._trusted != self.store.trusted and self.store.current is not None:
            self._trusted = self.store.trusted
            self.sessions.take(self.store.current, self.facts(self.store.current))

    async def _watch(self) -> None:
        await self.loaded()
        try:
            await watch(self.store)
        except Exception:
            logger.exception("a fault of this program: saved files are not noticed any more")
