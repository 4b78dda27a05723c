"""One open session: what it is, what its user picked, and what its client was told."""

from __future__ import annotations

import asyncio
from typing import Any

from attrs import define, field

from agentoml.config.schema import Rule
from agentoml.errors import InvalidParams
from agentoml.session import updates
from agentoml.session.history import History
from agentoml.snapshot.resolve import ClientFacts, RenderedOption, Resolved, resolve
from agentoml.snapshot.selections import Refused, Selections, pick, reconcile
from agentoml.snapshot.snapshot import Snapshot
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
    selections: Selections = field(factory=Selections)
    history: History = field(factory=History)
    remembered: tuple[Rule, ...] = ()
    reminded: frozenset[str] = frozenset()
    cost: float | None = None
    turn: asyncio.Task[dict[str, Any]] | None = None
    _shown: tuple[RenderedOption, ...] = ()
    _announced_modes: frozenset[str] = frozenset()

    def resolved(self, snapshot: Snapshot | None = None) -> Resolved:
        """Return what is in force, by the newest snapshot or by the one that a turn pinned."""
        return resolve(snapshot or self.snapshot, self.facts, self.selections)

    def opening(self) -> dict[str, Any]:
        """Return `configOptions` and `modes` as session/new answers them; either is left out where there are none."""
        self._shown = self.resolved().options
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
        before, self._shown = self._shown, self.resolved().options
        self._tell_mode(before)
        return updates.config_options(self._shown)

    def set_mode(self, mode_id: str) -> None:
        """Pick a mode; the changed options are sent before the answer.

        Raises:
            InvalidParams: no such mode, or another value forces one; `data` says what is available.
        """
        self._pick(MODE, mode_id, modeId=mode_id)
        before, self._shown = self._shown, self.resolved().options
        self._tell_options(before)

    def take(self, snapshot: Snapshot, facts: ClientFacts) -> bool:
        """Go on under another snapshot: picks are kept where they still fit. Return whether anything was told."""
        self.selections = reconcile(self.snapshot, snapshot, facts, self.selections)
        self.snapshot = snapshot
        self.facts = facts
        return self.tell()

    def tell(self) -> bool:
        """Send what differs from what the client was told last, and nothing else."""
        before, self._shown = self._shown, self.resolved().options
        options, mode = self._tell_options(before), self._tell_mode(before)
        return options or mode

    async def cancel(self) -> None:
        """Stop the running turn and wait until it is answered; without one, nothing happens."""
        if self.turn is not None:
            self.turn.cancel()
            await asyncio.wait((self.turn,))

    def _pick(self, option_id: str, value: str | bool, **asked_for: str) -> None:
        try:
            self.selections = pick(self.snapshot, self.facts, self.selections, option_id, value)
        except Refused as refused:
            raise InvalidParams(str(refused), **{**asked_for, **refused.data}) from None

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
