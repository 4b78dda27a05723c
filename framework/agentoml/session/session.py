"""One open session: what it is, what its user picked, and what its client was told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from agentoml.config.schema import Rule
from agentoml.errors import InvalidParams
from agentoml.session import updates
from agentoml.session.budget import Spent
from agentoml.session.commands import available_commands
from agentoml.session.history import History
from agentoml.session.servers import SessionServers
from agentoml.snapshot.patches import MODEL
from agentoml.snapshot.picks import stored
from agentoml.snapshot.resolve import ClientFacts, RenderedOption, Resolved, resolve
from agentoml.snapshot.selections import Pick, Refused, Selections, belongs_to, pick, reconcile
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.turns import end_turn, expire, next_expiry, start_command, start_turn
from agentoml.wire import messages
from agentoml.wire.client import Client

MODE = "mode"
"""The option that `[modes]` feeds and that the legacy view of modes shows."""


@define(eq=False)
class Session:
    """A session between turns is little more than its picks: everything shown follows from them."""

    id: str
    cwd: str
    roots: tuple[str, ...]
    client: Client
    snapshot: Snapshot
    facts: ClientFacts
    servers: SessionServers
    selections: Selections = field(factory=Selections)
    history: History = field(factory=History)
    spent: Spent = field(factory=Spent)
    remembered: tuple[Rule, ...] = ()
    reminded: frozenset[str] = frozenset()
    turn: asyncio.Task[dict[str, Any]] | None = None
    _shown: tuple[RenderedOption, ...] = ()
    _commands: list[dict[str, Any]] = field(factory=list)
    _announced_modes: frozenset[str] = frozenset()
    _expiry: asyncio.TimerHandle | None = None

    def resolved(self, snapshot: Snapshot | None = None) -> Resolved:
        """Return what is in force, by the newest snapshot or by the one that a turn pinned."""
        return resolve(snapshot or self.snapshot, self.facts, self.selections)

    # ------------------------------------------------------------------------------------------- the client

    def opening(self) -> dict[str, Any]:
        """Return `configOptions` and `modes` as session/new answers them; either is left out where there are none."""
        resolved = self.resolved()
        self._shown = resolved.options
        self.servers.want(self.snapshot, resolved.profile)
        mode = self._mode()
        if mode is not None:
            self._announced_modes = frozenset(value.value for value in mode.values)
        return {
            **({"configOptions": updates.config_options(self._shown)} if self._shown else {}),
            **({"modes": updates.mode_state(mode)} if mode is not None else {}),
        }

    def set_config_option(self, option_id: str, value: str | bool) -> list[dict[str, Any]]:
        """Pick a value and return the complete list of options; another mode is announced to the legacy view first.

        Raises:
            InvalidParams: no such option or value, or another value forces it; `data` says what is available.
        """
        self._pick(option_id, value, configId=option_id)
        before = self._renew()
        self._tell_mode(before)
        return updates.config_options(self._shown)

    def set_mode(self, mode_id: str) -> None:
        """Pick a mode; the changed options are sent before the answer.

        Raises:
            InvalidParams: no such mode, or another value forces one; `data` says what is available.
        """
        self._pick(MODE, mode_id, modeId=mode_id)
        self._tell_options(self._renew())

    def tell(self) -> bool:
        """Send what differs from what the client was told last, and nothing else; return whether anything did."""
        before = self._renew()
        options, mode, commands = self._tell_options(before), self._tell_mode(before), self.tell_commands()
        return options or mode or commands

    def tell_commands(self) -> bool:
        """Send the list of slash commands if it is another than the client was told last."""
        commands = available_commands(self.resolved().commands, self.snapshot.commands)
        if commands == self._commands:
            return False
        self._commands = commands
        self.client.update(self.id, messages.available_commands_update(commands))
        return True

    # ----------------------------------------------------------------------------- what changes from our side

    def take(self, snapshot: Snapshot, facts: ClientFacts) -> bool:
        """Go on under another snapshot: picks are kept where they still fit. Return whether anything was told."""
        self.selections = reconcile(self.snapshot, snapshot, facts, self.selections)
        self.snapshot = snapshot
        self.facts = facts
        return self.tell()

    def switch(self, picks: Mapping[str, str | bool]) -> None:
        """Make picks exactly as the client's own (E9), and tell the client.

        Raises:
            Refused: one of them can't be made; none is then.
        """
        selections = self.selections
        for option, value in picks.items():
            selections = pick(self.snapshot, self.facts, selections, option, value, now=time.monotonic())
        self.selections = selections
        self.tell()

    def begin_turn(self) -> None:
        """Begin the turn of a plain message."""
        self.selections = start_turn(self.selections)

    def begin_command(self, name: str) -> bool:
        """Make the picks of a slash command and begin its turn; return whether it has one (it has a prompt).

        Raises:
            InvalidParams: it is not there now, or a pick of it can't be made.
        """
        try:
            self.selections = start_command(self.snapshot, self.facts, self.selections, name, now=time.monotonic())
        except Refused as refused:
            raise InvalidParams(str(refused), command=name, **refused.data) from None
        self.tell()
        return self.selections.turn is not None

    def fall_back(self, model_key: str) -> bool:
        """Go on with another model until the turn ends, and show it; return False where one model is forced."""
        option_id = self.snapshot.owners.get(MODEL)
        if option_id is None:
            return True
        shown = self.resolved().shown
        active = shown.active.get(option_id)
        if active is not None and active.forced_by is not None:
            return False
        place = belongs_to(option_id, shown, self.selections)
        self.selections = stored(self.selections, Pick(option_id, model_key, place, "turn"))
        self.tell()
        return True

    def end_turn(self) -> None:
        """End the turn: what lasted until now ends, what waited binds, and the client is told."""
        self.selections = end_turn(self.snapshot, self.facts, self.selections)
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
            self.selections = pick(self.snapshot, self.facts, self.selections, option_id, value, now=time.monotonic())
        except Refused as refused:
            raise InvalidParams(str(refused), **{**asked_for, **refused.data}) from None

    def _renew(self) -> tuple[RenderedOption, ...]:
        """Work out anew what is shown and what follows from it; return what was shown before."""
        resolved = self.resolved()
        before, self._shown = self._shown, resolved.options
        self.servers.want(self.snapshot, resolved.profile)
        self._wait_for_expiry()
        return before

    def _wait_for_expiry(self) -> None:
        """Have the next pick that ends by itself end in time (`lasts`)."""
        if self._expiry is not None:
            self._expiry.cancel()
        at = next_expiry(self.selections)
        delay = None if at is None else max(0.0, at - time.monotonic())
        self._expiry = None if delay is None else asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        self.selections = expire(self.snapshot, self.facts, self.selections, time.monotonic())
        self.tell()

    def _tell_options(self, before: tuple[RenderedOption, ...]) -> bool:
        if self._shown == before:
            return False
        self.client.update(self.id, messages.config_option_update(updates.config_options(self._shown)))
        return True

    def _tell_mode(self, before: tuple[RenderedOption, ...]) -> bool:
        mode, was = self._mode(), _current_mode(before)
        if mode is None or mode.current == was or mode.current not in self._announced_modes:
            return False
        self.client.update(self.id, messages.current_mode_update(str(mode.current)))
        return True

    def _mode(self) -> RenderedOption | None:
        return next((option for option in self._shown if option.id == MODE), None)


def _current_mode(options: tuple[RenderedOption, ...]) -> str | bool | None:
    return next((option.current for option in options if option.id == MODE), None)
