"""What the user of a session has picked: all that a session adds to a snapshot (E6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import frozen

from agentoml.snapshot.resolving.state import Place, View
from agentoml.snapshot.snapshot import Snapshot


@frozen(cache_hash=True)
class Pick:
    """A picked value. `belongs_to` is the active value that preselected the option at that moment; None: general (E7).

    `until` is when it ends by itself: with a turn, or at a time in seconds (E11).
    """

    option: str
    value: str
    belongs_to: Place | None = None
    until: Literal["turn"] | float | None = None

    @property
    def spot(self) -> tuple[str, Place | None]:
        """Where it is kept: there is one pick for an option and what it belongs to."""
        return self.option, self.belongs_to


@frozen(cache_hash=True)
class RunningTurn:
    """A turn. `picks` count above everything but forcing until it ends: those made while its command ran (E8), and the
    model that it fell back to. `waiting` are those that bind at the next turn and are shown at once (E12).
    """

    command: str | None = None
    picks: tuple[Pick, ...] = ()
    waiting: tuple[Pick, ...] = ()

    def picked(self, option: str) -> bool:
        """Return whether an option has a pick above the others."""
        return any(pick.option == option for pick in self.picks)


@frozen(cache_hash=True)
class Selections:
    """Lasting picks, temporary ones laid over them, and the running turn."""

    picks: tuple[Pick, ...] = ()
    temporary: tuple[Pick, ...] = ()
    turn: RunningTurn | None = None


def view_of(snapshot: Snapshot, selections: Selections, *, shown: bool) -> View:
    """Return the selections as they count: as they are shown, or as they are in force (E12)."""
    picks: dict[str, tuple[tuple[Place | None, str], ...]] = {}
    for pick in (*selections.picks, *selections.temporary):
        picks[pick.option] = (*picks.get(pick.option, ()), (pick.belongs_to, pick.value))
    turn = selections.turn
    if turn is None:
        return View(picks, above={})
    above = (*turn.picks, *turn.waiting) if shown else turn.picks
    return View(
        picks,
        above={pick.option: pick.value for pick in above},
        command=snapshot.commands.get(turn.command) if turn.command is not None else None,
    )


def with_pick(picks: Iterable[Pick], pick: Pick) -> tuple[Pick, ...]:
    """Return picks with one more in its spot; their order never matters, so it is always the same."""
    return tuple(sorted([*without(picks, pick), pick], key=_order))


def _order(pick: Pick) -> tuple[str, Place]:
    return pick.option, pick.belongs_to or ("", "")


def without(picks: Iterable[Pick], pick: Pick) -> tuple[Pick, ...]:
    """Return picks without the one in this spot."""
    spot = pick.spot
    return tuple([one for one in picks if one.spot != spot])


def stored(selections: Selections, pick: Pick) -> Selections:
    """Return selections with a pick in its place: a lasting one ends the temporary one of its spot (E11)."""
    if pick.until is not None:
        return Selections(selections.picks, with_pick(selections.temporary, pick), selections.turn)
    return Selections(with_pick(selections.picks, pick), without(selections.temporary, pick), selections.turn)
