"""Picks that are dropped because what they picked is not there (E13)."""

from __future__ import annotations

from attrs import evolve

from agentoml.snapshot.picks import Pick, Selections
from agentoml.snapshot.resolve import resolve
from agentoml.snapshot.resolving.state import ClientFacts, State
from agentoml.snapshot.snapshot import Snapshot, Value


def forget(snapshot: Snapshot, client: ClientFacts, selections: Selections) -> Selections:
    """Return selections without the picks of forgetful options and values that are not there now."""
    if not snapshot.forgetful:
        return selections
    shown = resolve(snapshot, client, selections).shown

    def kept(picks: tuple[Pick, ...]) -> tuple[Pick, ...]:
        return tuple(pick for pick in picks if not _forgotten(pick, shown))

    turn = selections.turn
    if turn is not None:
        turn = evolve(turn, picks=kept(turn.picks), waiting=kept(turn.waiting))
    after = Selections(kept(selections.picks), kept(selections.temporary), turn)
    return selections if after == selections else after


def _forgotten(pick: Pick, shown: State) -> bool:
    option = shown.snapshot.options.get(pick.option)
    if option is None:
        return False
    if pick.option not in shown.active and option.forget:
        return True
    value: Value | None = option.known.get(pick.value)
    if value is None or not value.forget:
        return False
    return pick.option not in shown.active or pick.value not in shown.listings[pick.option].there
