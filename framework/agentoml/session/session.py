"""One open session: what it is, what its user picked, and what is done to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from attrs import define, evolve, field

from agentoml.config.schema import Provider, Rule
from agentoml.errors import InvalidParams
from agentoml.session.budget import Spent
from agentoml.session.environment import ChildEnvironment
from agentoml.session.history import History
from agentoml.session.servers import SessionServers
from agentoml.session.standing import Kept, Standing, gone_notices, kept
from agentoml.session.told import MODE, Told
from agentoml.snapshot.patches import MODEL
from agentoml.snapshot.resolve import ClientFacts, Resolved
from agentoml.snapshot.selections import Pick, Refused, Selections, pick
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.turns import end_turn, expire, next_expiry, pick_for_the_turn, start_command, start_turn
from agentoml.wire import messages
from agentoml.wire.client import Client
from agentoml.wire.frames import Encoded

Change = Callable[[Snapshot, ClientFacts, Selections], Selections]
"""What becomes of selections under a snapshot. Raises Refused."""


@define(eq=False)
class Session:
    """A session between turns is little more than its picks: everything shown follows from them.

    `pinned` is what the running turn goes by, where a reload has come since it began. `held` is a snapshot that waits
    for the user: its restrictions bind already. `kept` are permissions that outlive the value they came from.
    """

    id: str
    cwd: str
    roots: tuple[str, ...]
    client: Client
    snapshot: Snapshot
    facts: ClientFacts
    servers: SessionServers
    told: Told
    environment: ChildEnvironment = field(factory=ChildEnvironment)
    selections: Selections = field(factory=Selections)
    pinned: Standing | None = None
    held: Snapshot | None = None
    kept: tuple[Kept, ...] = ()
    history: History = field(factory=History)
    spent: Spent = field(factory=Spent)
    remembered: tuple[Rule, ...] = ()
    reminded: frozenset[str] = frozenset()
    turn: asyncio.Task[dict[str, Any]] | None = None
    _expiry: asyncio.TimerHandle | None = None

    def resolved(self, snapshot: Snapshot | None = None) -> Resolved:
        """Return what is in force, by the newest snapshot or by the one that a turn pinned."""
        if self.pinned is not None and snapshot is self.pinned.snapshot:
            return self.pinned.resolved()
        return Standing(snapshot or self.snapshot, self.facts, self.selections).resolved()

    def standings(self) -> tuple[Standing, ...]:
        """Return all by which a call is judged: what its turn pinned, the newest, and what waits for the user."""
        newest = Standing(self.snapshot, self.facts, self.selections)
        found = (newest,) if self.pinned is None else (self.pinned, newest)
        return found if self.held is None else (*found, newest.under(self.held, self.facts))

    def provider(self) -> Provider | None:
        """Return the provider of the model in force."""
        model = self.resolved().in_force.model
        return None if model is None else self.snapshot.providers[model.provider]

    # ------------------------------------------------------------------------------------------- the client

    def opening(self) -> dict[str, Any]:
        """Return `configOptions` and `modes` as session/new answers them; either is left out where there are none."""
        return self.told.opening(self._follow())

    def set_config_option(self, option_id: str, value: str | bool) -> Encoded:
        """Pick a value and return the complete list of options; what it does not say is sent before.

        Raises:
            InvalidParams: no such option or value, or another value forces it; `data` says what is available.
        """
        self._pick(option_id, value, configId=option_id)
        return self.told.answer_option(self._follow())

    def set_mode(self, mode_id: str) -> None:
        """Pick a mode; what changes along is sent before the answer.

        Raises:
            InvalidParams: no such mode, or another value forces one; `data` says what is available.
        """
        self._pick(MODE, mode_id, modeId=mode_id)
        self.told.answer_mode(self._follow(), mode_id)

    def tell(self) -> None:
        """Send what differs from what the client was told last, and nothing else."""
        self.told.tell(self._follow())

    def tell_commands(self) -> None:
        """Send the list of slash commands if it is another than the client was told last."""
        self.told.tell_commands(self.resolved())

    def notice(self, severity: messages.Severity, title: str, description: str | None = None) -> None:
        """Tell the user what they must know; nothing where the client shows no notices."""
        if self.client.can_notice:
            self.client.update(self.id, messages.notice(severity, title, description))

    # ----------------------------------------------------------------------------- what changes from our side

    def take(self, snapshot: Snapshot, facts: ClientFacts) -> bool:
        """Go on under another snapshot: picks are kept where they still fit. Return whether `tell` has something to
        tell now. A running turn goes on by what it began with.
        """
        before = Standing(self.snapshot, self.facts, self.selections)
        after = before.under(snapshot, facts)
        if self.turn is not None and self.pinned is None:
            self.pinned = before
        still_kept = kept(before, after)
        self.kept += tuple(one for one in still_kept if one not in self.kept)
        for title, description in gone_notices(before, after, still_kept):
            self.notice("warning", title, description)
        self.snapshot, self.facts, self.selections = after.snapshot, after.facts, after.selections
        return bool(self.told.differences(self._follow()))

    def would_see(self, snapshot: Snapshot, facts: ClientFacts) -> tuple[str, ...]:
        """Return what the client would be told of another snapshot: the options that change, and "commands"."""
        standing = Standing(self.snapshot, self.facts, self.selections).under(snapshot, facts)
        return self.told.differences(standing.resolved())

    def switch(self, picks: Mapping[str, str | bool]) -> None:
        """Make picks exactly as the client's own (E9), and tell the client.

        Raises:
            Refused: one of them can't be made; none is then.
        """
        self._make(picks)
        self.tell()

    def begin_turn(self) -> None:
        """Begin the turn of a plain message."""
        self._change(lambda _snapshot, _facts, selections: start_turn(selections))

    def begin_command(self, name: str) -> bool:
        """Make the picks of a slash command and begin its turn; return whether it has one (it has a prompt).

        Raises:
            InvalidParams: it is not there now, or a pick of it can't be made.
        """
        now = time.monotonic()
        try:
            self._change(lambda snapshot, facts, selections: start_command(snapshot, facts, selections, name, now=now))
        except Refused as refused:
            raise InvalidParams(str(refused), command=name, **refused.data) from None
        self.tell()
        return self.selections.turn is not None

    def fall_back(self, model_key: str) -> bool:
        """Go on with another model until the turn ends, and show it; return False where one model is forced."""
        option_id = self.snapshot.owners.get(MODEL)
        active = None if option_id is None else self.resolved().shown.active.get(option_id)
        if active is None:
            return True
        if active.forced_by is not None:
            return False
        instead = Pick(active.option.id, model_key)
        self._change(lambda _snapshot, _facts, selections: pick_for_the_turn(selections, instead))
        self.tell()
        return True

    def end_turn(self) -> None:
        """End the turn: what lasted until now ends, what waited binds, and the client is told."""
        self.pinned = None
        self._change(end_turn)
        self.tell()

    async def cancel(self) -> None:
        """Stop the running turn and wait until it is answered; without one, nothing happens."""
        if self.turn is not None:
            self.turn.cancel()
            await asyncio.wait((self.turn,))

    async def close(self) -> None:
        """Stop the turn, the timer and the MCP servers."""
        await self.cancel()
        if self._expiry is not None:
            self._expiry.cancel()
        await self.servers.close()

    # ------------------------------------------------------------------------------------------------ inside

    def _pick(self, option_id: str, value: str | bool, **asked_for: str) -> None:
        try:
            self._make({option_id: value})
        except Refused as refused:
            raise InvalidParams(str(refused), **{**asked_for, **refused.data}) from None

    def _make(self, picks: Mapping[str, str | bool]) -> None:
        """Make picks, all of them or none. What is kept of a value that is gone ends where its option is picked."""
        now = time.monotonic()

        def picked(snapshot: Snapshot, facts: ClientFacts, selections: Selections) -> Selections:
            for option, value in picks.items():
                selections = pick(snapshot, facts, selections, option, value, now=now)
            return selections

        self._change(picked)
        self.kept = tuple(one for one in self.kept if one.option in self.snapshot.options and one.option not in picks)

    def _change(self, change: Change) -> None:
        """Change the selections, and where it can be also those that the running turn goes by.

        Raises:
            Refused: the change can't be made under the newest snapshot; nothing is changed then.
        """
        self.selections = change(self.snapshot, self.facts, self.selections)
        if self.pinned is not None:
            old = self.pinned
            with suppress(Refused):
                self.pinned = evolve(old, selections=change(old.snapshot, old.facts, old.selections))

    def _follow(self) -> Resolved:
        """Work out what is in force now, and have the servers and the clock follow it."""
        resolved = self.resolved()
        self.servers.want(self.snapshot, resolved)
        self._wait_for_expiry()
        return resolved

    def _wait_for_expiry(self) -> None:
        """Have the next pick that ends by itself end in time (`lasts`)."""
        if self._expiry is not None:
            self._expiry.cancel()
        at = next_expiry(self.selections)
        delay = None if at is None else max(0.0, at - time.monotonic())
        self._expiry = None if delay is None else asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        now = time.monotonic()
        self._change(lambda snapshot, facts, selections: expire(snapshot, facts, selections, now))
        self.tell()
