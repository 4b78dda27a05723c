"""The agent side of ACP: one handler a method, and the place where all parts meet."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from agentoml.config.layers import Chosen, in_directory
from agentoml.config.secrets import MaskingFormatter, Vault
from agentoml.control.answers import Answers
from agentoml.control.server import ControlServer
from agentoml.errors import InvalidParams, InvalidRequest, MethodNotFound, NotFound
from agentoml.session.ending import ended
from agentoml.session.extensions import answer
from agentoml.session.providers import Providers
from agentoml.session.serving import Serving
from agentoml.session.session import Session
from agentoml.session.turn import Turn
from agentoml.snapshot.store import Store
from agentoml.threads import run
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
    """One configuration served to one client: for each project with files of its own one serving, and one for all
    other directories.
    """

    config: Chosen
    client: Client
    vault: Vault = field(factory=Vault)
    providers: Providers = field(init=False)
    tools: Mapping[str, Tool] = field(factory=built_in_tools)
    control: ControlServer = field(init=False)
    _servings: dict[Path | None, Serving] = field(factory=dict)
    _opening: asyncio.Task[None] | None = None

    def __attrs_post_init__(self) -> None:
        self.providers = Providers(self.vault)
        self._servings[None] = Serving(Store(self.config), self.client, self.vault)
        self.control = ControlServer(
            self.config.named, Answers(self.config, lambda: tuple(self._servings.values())).answer
        )

    def handlers(self) -> Mapping[str, Handler]:
        """Return the methods that this agent answers, as `initialize.OFFERED` lists them."""
        return {
            "session/new": self.new_session,
            "session/prompt": self.prompt,
            "session/cancel": self.cancel,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_config_option,
        }

    def start(self) -> None:
        """Begin to load the configuration, to watch its files once it is loaded, and to answer on a socket."""
        self._servings[None].start()
        self._opening = asyncio.create_task(self._open_control())

    def reload(self) -> None:
        """Look at the files now."""
        for serving in self._servings.values():
            serving.reload()

    async def stop(self) -> None:
        """Stop every turn, then everything else."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait((self._opening,))
        self.control.close()
        for serving in self._servings.values():
            await serving.stop()
        await self.providers.aclose()

    async def new_session(self, params: Params) -> Params:
        """session/new. The slash commands follow the answer: the client does not know the session before."""
        serving = self._serving_in(Path(params["cwd"]))
        snapshot = await serving.snapshot()
        session = serving.sessions.new(self.client, snapshot, serving.facts(snapshot), params)
        serving.discovery.follow(snapshot)
        opening = session.opening()
        asyncio.get_running_loop().call_soon(self._opened, serving, session)
        return {"sessionId": session.id, **opening}

    async def prompt(self, params: Params) -> Params:
        """session/prompt."""
        serving, session = self._found(params)
        if session.turn is not None:
            raise InvalidRequest("a prompt is running in this session", reason="prompt_in_progress")
        turn = Turn(session, session.snapshot, self.providers, self.tools)
        session.turn = asyncio.create_task(turn.run(params["prompt"]))
        for one in self._servings.values():  # its tools may write to the files of any of them
            one.store.turn_began()
        serving.reloads.turn_began(session)
        try:
            await ended((session.turn,))  # cancelled or not: the user gets an answer, and no turn runs on behind it
            return {"stopReason": "cancelled"} if session.turn.cancelled() else session.turn.result()
        finally:
            session.turn = session.pinned = None
            for one in self._servings.values():
                one.store.turn_ended()

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

    def _opened(self, serving: Serving, session: Session) -> None:
        session.tell_commands()
        serving.opened(session)
        self._warm(session)

    def _warm(self, session: Session) -> None:
        """Begin to import what the selected model needs, so that its first answer need not wait for that."""
        provider = session.provider()
        if provider is not None:
            self.providers.warm(provider)

    async def extension(self, method: str, params: Params) -> Params:
        """A method of `[extensions]`; any other is not found."""
        in_force = (serving.store.current for serving in self._servings.values())
        if not any(snapshot is not None and method in snapshot.extensions for snapshot in in_force):
            raise MethodNotFound(method=method)
        if not isinstance(params.get("sessionId"), str):
            raise InvalidParams(path="$.sessionId", reason="must be a string")
        session = self._session(params)
        if method not in session.snapshot.extensions:
            raise MethodNotFound(method=method)
        result = answer(session, session.snapshot.extensions[method], params)
        self._warm(session)
        return result

    def _serving_in(self, cwd: Path) -> Serving:
        """Return what serves a session's directory: of a project with files of its own one for itself."""
        here = in_directory(self.config, cwd)
        if here.project not in self._servings:
            serving = Serving(Store(here, beside=self._servings[None].store), self.client, self.vault)
            for _ in self._running_turns():
                serving.store.turn_began()
            self._servings[here.project] = serving
            serving.start()
        return self._servings[here.project]

    def _running_turns(self) -> Iterator[Session]:
        for serving in self._servings.values():
            yield from (session for session in serving.sessions if session.turn is not None)

    def _found(self, params: Params) -> tuple[Serving, Session]:
        for serving in self._servings.values():
            session = serving.sessions.get(params["sessionId"])
            if session is not None:
                return serving, session
        raise NotFound("no such session", sessionId=params["sessionId"])

    def _session(self, params: Params) -> Session:
        return self._found(params)[1]

    async def _open_control(self) -> None:
        await self._servings[None].loaded()
        gc.freeze()  # what was imported stays: no search for cycles need look at it again, and stop a turn for that
        await self.control.open()


def serve(config: Chosen, fds: tuple[int, int], client: Handshake) -> int:
    """Serve a client whose handshake is done until it goes or a signal comes; return the exit code of the process."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=LOG_LINE)
    return run(_serve(config, fds, client))


async def _serve(config: Chosen, fds: tuple[int, int], client: Handshake) -> int:
    connection = Connection(*open_stdio(fds, client.already_read))
    agent = Agent(config, Client(connection, client.capabilities, client.info))
    for handler in logging.getLogger().handlers:
        handler.setFormatter(MaskingFormatter(agent.vault, LOG_LINE))
    agent.start()
    try:
        return await process.serve(connection, checked(agent.handlers(), agent.extension), on_hangup=agent.reload)
    finally:
        await agent.stop()
