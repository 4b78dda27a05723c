"""What is told of a reload, and to whom: to clients that ask for it, to users who must know, to who has to confirm."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence
from typing import Any

from attrs import define, field

from agentoml.config.problems import Problem
from agentoml.errors import ConnectionLost, RemoteError
from agentoml.session.session import Session
from agentoml.session.sessions import Sessions
from agentoml.snapshot.build import Built
from agentoml.snapshot.diff import Change
from agentoml.snapshot.report import record_json
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.store import Record, Store
from agentoml.tools.clipping import code_span
from agentoml.wire import messages
from agentoml.wire.client import Client

logger = logging.getLogger("agentoml.config")

MOST_NAMED = 5
"""How many problems a notice names."""

APPLY, KEEP = "apply", "keep"


@define(eq=False)
class Reloads:
    """Listens to a store. A reload that widens is asked about in the session whose turn began last.

    A question that was not answered (the turn was cancelled, the client failed) is put again when the next turn begins.
    """

    store: Store
    client: Client
    sessions: Sessions
    _session: Session | None = None
    _answered: bool = False
    _asking: asyncio.Task[None] | None = None
    _problems: tuple[Problem, ...] = ()
    _told_otherwise: bool = False
    _numbers: itertools.count[int] = field(factory=lambda: itertools.count(1))

    def listen(self) -> None:
        """Hear of what is held and of every attempt from now on."""
        self.store.subscribe(lambda _before, _after: 0, self._held, self._recorded)

    def opened(self, session: Session) -> None:
        """Tell the user of a new session where it runs by the last good configuration."""
        if self.store.problems:
            session.notice(*_rejected(self.store.problems))

    def turn_began(self, session: Session) -> None:
        """A turn runs: what is held, or will be, is asked about in its session, also when it is over."""
        self._session = session
        self._ask_soon()

    async def close(self) -> None:
        """Take a question back that is not answered yet."""
        self._take_back()
        if self._asking is not None:
            await asyncio.wait((self._asking,))

    # ------------------------------------------------------------------------------------------- what is told

    def _recorded(self, record: Record) -> None:
        self._tell_client(record)
        for change in record.changes:
            if record.state == "applied" and change.area == "connection" and not self._knows_options(change):
                logger.warning("%s", change.sentence)
                for session in self.sessions:
                    session.notice("info", change.sentence)
        if record.problems and record.problems != self._problems:
            for session in self.sessions:
                session.notice(*_rejected(record.problems))
        if self._problems and not record.problems:
            logger.warning("the configuration is valid again")
            for session in self.sessions:
                session.notice("info", "The configuration is valid again")
        self._problems = record.problems
        if record.state == "held" and record.trigger in ("request", "signal"):
            self._answered = False  # the user asks for it, so they may answer otherwise now
            self._ask_soon()

    def _knows_options(self, change: Change) -> bool:
        """Return whether a change is only for clients that know no config options, and this one knows them."""
        return change.name == "modes" and self.client.booleans

    def _tell_client(self, record: Record) -> None:
        """Tell clients that ask for it; that files say again what is in force only where they were told otherwise."""
        if record.state != "unchanged" or self._told_otherwise:
            self.client.config_changed(record_json(record))
        self._told_otherwise = record.state in ("rejected", "held")

    # ------------------------------------------------------------------------------------------- what is held

    def _held(self, snapshot: Snapshot | None) -> None:
        self.sessions.hold(snapshot)
        self._take_back()
        self._asking, self._answered = None, False
        self._ask_soon()

    def _take_back(self) -> None:
        if self._asking is not None and self._asking is not asyncio.current_task():
            self._asking.cancel()

    def _ask_soon(self) -> None:
        asks = self._asking is not None and not self._asking.done()
        if self.store.held is None or asks or self._answered:
            return
        open_sessions = tuple(self.sessions)
        session = self._session if self._session in open_sessions else next(iter(open_sessions), None)
        if session is not None:
            self._asking = asyncio.create_task(self._ask(session, self.store.held))

    async def _ask(self, session: Session, held: Built) -> None:
        """Put the question; only the answer that says so applies what is held, as it was shown."""
        call_id, applied = f"reload_{next(self._numbers)}", False
        session.client.update(session.id, messages.tool_call(call_id, TITLE, **_shown(held)))
        try:
            call = messages.tool_call_update(call_id, title=TITLE, **_shown(held))
            chosen = await session.client.request_permission(session.id, call, OPTIONS)
            self._answered = chosen is not None
            applied = chosen == APPLY and await self.store.confirm(held) is not None
        except (RemoteError, ConnectionLost) as error:
            logger.warning("the user can't be asked about the configuration: %s", error)
        finally:  # taken back, too
            update = messages.tool_call_update(call_id, status="completed" if applied else "failed")
            session.client.update(session.id, update)


TITLE = "The configuration was edited and allows more than before"

OPTIONS = [
    messages.permission_option(APPLY, "Apply it", "allow_always"),  # it stays: no client that allows "once" answers it
    messages.permission_option(KEEP, "Go on without it", "reject_once"),
]


def _shown(held: Built) -> dict[str, Any]:
    """Return what the user is shown of a configuration that is held: all that widens."""
    lines = [f"- {code_span(change.sentence)}" for change in held.changes if change.widens]
    others = len(held.changes) - len(lines)
    lines += [f"- and {others} more {'change' if others == 1 else 'changes'}"] if others else []
    content = messages.content_item(messages.text_block("\n".join(lines)))
    return {"kind": "other", "status": "pending", "content": [content]}


def _rejected(problems: Sequence[Problem]) -> tuple[messages.Severity, str, str]:
    """Return what a user is told of files that are not valid."""
    lines = [problem.one_line() for problem in problems[:MOST_NAMED]]
    if len(problems) > MOST_NAMED:
        lines.append(f"and {len(problems) - MOST_NAMED} more")
    return "error", "The configuration is not valid; the last good one stays in force", "\n".join(lines)
