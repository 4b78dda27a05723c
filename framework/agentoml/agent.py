"""The agent side of ACP: one handler a method, and the place where all parts meet."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from attrs import define, field

from agentoml.config.layers import Chosen
from agentoml.config.secrets import MaskingFormatter, Vault
from agentoml.control.answers import Answers
from agentoml.control.server import ControlServer
from agentoml.errors import InternalError, InvalidParams, InvalidRequest, MethodNotFound
from agentoml.session.discovery import Discovery
from agentoml.session.environment import ChildEnvironment
from agentoml.session.extensions import answer
from agentoml.session.providers import Providers, with_credentials
from agentoml.session.reloads import Reloads
from agentoml.session.session import Session
from agentoml.session.sessions import Sessions
from agentoml.session.turn import Turn
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.store import Record, Store
from agentoml.snapshot.watch import watch
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.tool import Tool
from agentoml.wire import process
from agentoml.wire.client import Client
from agentoml.wire.handshake import Handshake
from agentoml.wire.jsonrpc import Connection, Handler
from agentoml.wire.methods import checked
from agentoml.wire.stdio import open_stdio

logger = logging.getLogger("agentoml.agent")

LOG_LINE = "%(name)s: %(message)s"

Params = dict[str, Any]


@define(eq=False)
class Agent:
    """One configuration served to one client."""

    store: Store
    client: Client
    vault: Vault = field(factory=Vault)
    sessions: Sessions = field(init=False)
    providers: Providers = field(init=False)
    discovery: Discovery = field(init=False)
    tools: Mapping[str, Tool] = field(factory=built_in_tools)
    reloads: Reloads = field(init=False)
    control: ControlServer = field(init=False)
    _loaded: asyncio.Task[Record] | None = None
    _reloading: asyncio.Task[Record] | None = None
    _watching: asyncio.Task[None] | None = None

    def __attrs_post_init__(self) -> None:
        self.sessions = Sessions(ChildEnvironment(self.vault))
        self.providers = Providers(self.vault)
        self.discovery = Discovery(resolve=self.vault.resolve)
        self.reloads = Reloads(self.store, self.client, self.sessions)
        self.control = ControlServer(Answers(self.store, self.sessions, self._facts).answer)

    def handlers(self) -> Mapping[str, Handler]:
        """Return the methods that this agent answers; its capabilities are derived from them."""
        return {
            "session/new": self.new_session,
            "session/prompt": self.prompt,
            "session/cancel": self.cancel,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_config_option,
        }

    def start(self) -> None:
        """Begin to load the configuration, and to watch its files once it is loaded."""
        self.store.subscribe(self._swapped)
        self.reloads.listen()
        self._loaded = asyncio.create_task(self.store.reload("start"))
        self._watching = asyncio.create_task(self._watch())

    def reload(self) -> None:
        """Look at the files now."""
        self._reloading = asyncio.create_task(self.store.reload("signal"))

    async def stop(self) -> None:
        """Stop every turn, then everything else."""
        await self.control.close()
        await self.reloads.close()
        await self.sessions.close()
        await self.discovery.close()
        for task in (self._watching, self._loaded):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        await self.providers.aclose()
        await self.store.close()

    async def new_session(self, params: Params) -> Params:
        """session/new. The slash commands follow the answer: the client does not know the session before."""
        snapshot = await self._snapshot()
        session = self.sessions.new(self.client, snapshot, self._facts(snapshot), params)
        self.discovery.follow(snapshot)
        opening = session.opening()
        asyncio.get_running_loop().call_soon(self._opened, session)
        return {"sessionId": session.id, **opening}

    async def prompt(self, params: Params) -> Params:
        """session/prompt."""
        session = self._session(params)
        if session.turn is not None:
            raise InvalidRequest("a prompt is running in this session", reason="prompt_in_progress")
        turn = Turn(session, session.snapshot, self.providers, self.tools)
        session.turn = asyncio.create_task(turn.run(params["prompt"]))
        self.reloads.turn_began(session)
        try:
            return await asyncio.shield(session.turn)
        except asyncio.CancelledError:  # of the request or of the turn: either way the user gets an answer
            await session.cancel()
            return {"stopReason": "cancelled"}
        finally:
            session.turn = None
            self.reloads.turn_ended()

    async def cancel(self, params: Params) -> Params:
        """session/cancel: a notification; sent as a request it is answered too."""
        session = self._session(params)
        if session.turn is not None:
            session.turn.cancel()
        return {}

    async def set_mode(self, params: Params) -> Params:
        """session/set_mode."""
        session = self._session(params)
        session.set_mode(params["modeId"])
        self._warm(session)
        return {}

    async def set_config_option(self, params: Params) -> Params:
        """session/set_config_option."""
        session = self._session(params)
        options = session.set_config_option(params["configId"], params["value"])
        self._warm(session)
        return {"configOptions": options}

    def _opened(self, session: Session) -> None:
        session.tell_commands()
        self.reloads.opened(session)
        self._warm(session)

    def _warm(self, session: Session) -> None:
        """Begin to import what the selected model needs, so that its first answer need not wait for that."""
        provider = session.provider()
        if provider is not None:
            self.providers.warm(provider)

    async def extension(self, method: str, params: Params) -> Params:
        """A method of `[extensions]`; any other is not found."""
        if self.store.current is None or method not in self.store.current.extensions:
            raise MethodNotFound(method=method)
        if not isinstance(params.get("sessionId"), str):
            raise InvalidParams(path="$.sessionId", reason="must be a string")
        session = self._session(params)
        return answer(session, session.snapshot.extensions[method], params)

    def _session(self, params: Params) -> Session:
        return self.sessions.find(params["sessionId"])

    async def _snapshot(self) -> Snapshot:
        if self._loaded is not None:
            await asyncio.shield(self._loaded)
        if self.store.current is None:
            problems = [problem.one_line() for problem in self.store.problems]
            raise InternalError("the configuration is not valid", reason="no_valid_configuration", problems=problems)
        return self.store.current

    def _facts(self, snapshot: Snapshot) -> ClientFacts:
        return ClientFacts(
            name=self.client.name,
            booleans=self.client.booleans,
            trusted=True,
            credentials=with_credentials(snapshot.providers),
        )

    def _swapped(self, before: Snapshot | None, after: Snapshot) -> int:
        if self.discovery.began:
            self.discovery.follow(after)
        return self.sessions.take(after, self._facts(after))

    async def _watch(self) -> None:
        if self._loaded is not None:
            await asyncio.shield(self._loaded)
        await self.control.open()
        await watch(self.store)


def serve(config: Chosen, fds: tuple[int, int], client: Handshake) -> int:
    """Serve a client whose handshake is done until it goes or a signal comes; return the exit code of the process."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=LOG_LINE)
    return asyncio.run(_serve(config, fds, client))


async def _serve(config: Chosen, fds: tuple[int, int], client: Handshake) -> int:
    connection = Connection(*open_stdio(fds, client.already_read))
    agent = Agent(Store(config), Client(connection, client.capabilities, client.info))
    for handler in logging.getLogger().handlers:
        handler.setFormatter(MaskingFormatter(agent.vault, LOG_LINE))
    agent.start()
    try:
        return await process.serve(connection, checked(agent.handlers(), agent.extension), on_hangup=agent.reload)
    finally:
        await agent.stop()
