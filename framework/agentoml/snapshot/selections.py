"""A client sets an option, and a reload changes what there is to pick (E7 to E14)."""

from __future__ import annotations

from typing import Any, Literal

from attrs import evolve

from agentoml.config.problems import quoted
from agentoml.snapshot.forget import forget
from agentoml.snapshot.picks import Pick, RunningTurn, Selections, stored, view_of, with_pick, without
from agentoml.snapshot.resolve import is_rendered, resolve, work_out
from agentoml.snapshot.resolving.chain import preselecting
from agentoml.snapshot.resolving.conditions import is_hidden
from agentoml.snapshot.resolving.listing import offered_values, unlisted
from agentoml.snapshot.resolving.state import Active, Claim, ClientFacts, Place, State
from agentoml.snapshot.snapshot import NEVER, OFF, ON, Option, Snapshot, Value

__all__ = ["Pick", "Refused", "Selections", "pick", "pick_value", "reconcile", "still_there"]

MOST_NAMED = 50
"""How many available values a refusal names."""


class Refused(Exception):
    """A pick or command that can't be: `str()` says why, `data` what is available or who forces."""

    def __init__(self, reason: str, /, **data: Any) -> None:
        super().__init__(reason)
        self.data = data


def pick(
    snapshot: Snapshot,
    client: ClientFacts,
    selections: Selections,
    option_id: str,
    value: str | bool,
    *,
    now: float = 0.0,
) -> Selections:
    """Return the selections after a client set an option. `now` is in seconds, on the clock of `expire`.

    Raises:
        Refused: the option or the value is not there, not offered, or another value forces the option.
    """
    option = snapshot.options.get(option_id)
    value_id = str(value) if option is None else _value_id(snapshot, client, option, value)
    return pick_value(snapshot, client, selections, Pick(option_id, value_id), now=now)


def pick_value(
    snapshot: Snapshot, client: ClientFacts, selections: Selections, wanted: Pick, *, now: float = 0.0
) -> Selections:
    """Return the selections after `wanted` (an option and the id of a value) was picked.

    Raises:
        Refused: as for `pick`.
    """
    shown = resolve(snapshot, client, selections).shown
    active = _settable(snapshot, shown, wanted.option)
    if active.forced_by is not None:
        if wanted.value == active.value.id:
            return selections
        raise _forced(active, active.forced_by)
    chosen = _offered_value(active, wanted.value, shown)
    place = _belongs_to(wanted.option, shown, selections)
    made = Pick(wanted.option, chosen.id, place, _until(active.option, chosen, now))
    turn = selections.turn
    if turn is not None and active.option.next_turn:
        waiting = (*without(turn.waiting, made), made)
        return forget(snapshot, client, evolve(selections, turn=evolve(turn, waiting=waiting)))
    if turn is not None and (turn.command is not None or turn.picked(wanted.option)):
        above = with_pick(turn.picks, evolve(made, belongs_to=None))
        selections = evolve(selections, turn=evolve(turn, picks=above))
    return forget(snapshot, client, stored(selections, made))


def _forced(active: Active, by: Claim) -> Refused:
    return Refused(
        f"{active.option.id} is {quoted(active.value.id)} because of {by.who}",
        reason="forced",
        forcedBy={"command": by.value} if by.option is None else {"configId": by.option, "value": by.value},
        available=[active.value.id],
    )


def _settable(snapshot: Snapshot, shown: State, option_id: str) -> Active:
    if option_id not in snapshot.options:
        raise Refused(
            f"there is no option {quoted(option_id)}",
            reason="unknown_option",
            available=[name for name in snapshot.display if is_rendered(snapshot.options[name], shown)],
        )
    active = shown.active.get(option_id)
    if active is None:
        raise Refused(f"the option {option_id} is not there: {shown.missing[option_id]}", reason="unavailable_option")
    if not is_rendered(active.option, shown):
        raise Refused(f"the option {option_id} can't be set by a client", reason="hidden_option")
    return active


def _value_id(snapshot: Snapshot, client: ClientFacts, option: Option, value: str | bool) -> str:
    """Return the id of a value as a client names it: booleans by a boolean, or by "off" and "on" where it has none."""
    if option.kind == "boolean":
        if isinstance(value, bool):
            return ON if value else OFF
        if value in (ON, OFF) and not client.booleans:
            return value
        available = [False, True] if client.booleans else [OFF, ON]
        raise Refused(f"{quoted(value)} is no value of {option.id}", reason="expected_boolean", available=available)
    if isinstance(value, bool):
        raise Refused(f"{option.id} is not a boolean", reason="expected_string")
    return snapshot.models.key_of(value) if option.source == "models" else value


def _offered_value(active: Active, value_id: str, shown: State) -> Value:
    """Return the value that a client may set: one that is offered, or is in force, or that an open option takes."""
    option, listing = active.option, shown.listings[active.option.id]
    if value_id == active.value.id:
        return active.value
    value = listing.kept.get(value_id)
    if value is not None and value_id not in listing.hidden:
        return value
    if value is None:
        value = unlisted(option, value_id, shown)
        if value is not None and not is_hidden(value.hidden, shown, value.provider):
            return value
    _check_policy(option, value_id, shown.snapshot)
    known = value_id in option.known
    raise Refused(
        f"{quoted(value_id)} {'is not offered now by' if known else 'is no value of'} the option {option.id}",
        reason="unavailable_value" if known else "unknown_value",
        available=[one.value for one in offered_values(option, listing, active.value)][:MOST_NAMED],
    )


def _check_policy(option: Option, value_id: str, snapshot: Snapshot) -> None:
    """Raise Refused with the policies' names where it is they that left a value out."""
    value = option.values.get(value_id)
    if value is not None and value.when == NEVER:
        policies = ", ".join(snapshot.ceiling.files)
        raise Refused(f"{quoted(value_id)} is left out by the policy of {policies}", reason="policy")


def _belongs_to(option_id: str, shown: State, selections: Selections) -> Place | None:
    """Return the active value that a pick made now belongs to, as if no command ran (E7, E8)."""
    turn = selections.turn
    if turn is not None and turn.command is not None:
        plain = evolve(selections, turn=evolve(turn, command=None, picks=()))
        shown = work_out(shown.snapshot, shown.client, view_of(shown.snapshot, plain, shown=True))
    found = preselecting(option_id, shown)
    return found[-1][0] if found else None


def _until(option: Option, value: Value, now: float) -> Literal["turn"] | float | None:
    """Return when a pick ends by itself: the value's `lasts` wins over the option's (E11)."""
    lasts = value.lasts if value.lasts is not None else option.lasts
    return lasts if lasts is None or lasts == "turn" else now + lasts


# ------------------------------------------------------------------------------------------------- reloads


def reconcile(old: Snapshot, new: Snapshot, client: ClientFacts, selections: Selections) -> Selections:
    """Return selections under another snapshot: the same picks where what they name is still there, an alias next.

    A pick of what only is not there now waits (E10); one of what is gone is dropped.
    """
    if old is new:
        return forget(new, client, selections)

    def kept(picks: tuple[Pick, ...]) -> tuple[Pick, ...]:
        moved = (_moved(pick, new) for pick in picks)
        return tuple({pick.spot: pick for pick in moved if pick is not None}.values())

    turn = selections.turn
    if turn is not None:
        command = turn.command if turn.command in new.commands else None
        turn = RunningTurn(command, kept(turn.picks), kept(turn.waiting))
    after = _bound(new, Selections(kept(selections.picks), kept(selections.temporary), turn))
    return forget(new, client, selections if after == selections else after)


def _bound(new: Snapshot, selections: Selections) -> Selections:
    """Return selections in which what waited for the next turn binds, where the option does not wait any more (E12)."""
    turn = selections.turn
    if turn is None:
        return selections
    waiting = tuple(pick for pick in turn.waiting if new.options[pick.option].next_turn)
    after = evolve(selections, turn=evolve(turn, waiting=waiting))
    for pick in turn.waiting:
        if pick not in waiting:
            after = stored(after, pick)
    return after


def _moved(pick: Pick, new: Snapshot) -> Pick | None:
    value = still_there(new, pick.option, pick.value)
    if value is None:
        return None
    if pick.belongs_to is None:
        return evolve(pick, value=value)
    option, by = pick.belongs_to
    place = still_there(new, option, by)
    return None if place is None else evolve(pick, value=value, belongs_to=(option, place))


def still_there(new: Snapshot, option_id: str, value_id: str) -> str | None:
    """Return the id of a value in another snapshot (it may be an alias there), None where it is gone."""
    option = new.options.get(option_id)
    if option is None:
        return None
    if option.source == "models":
        value_id = new.models.key_of(value_id)
    if value_id in option.known:
        return value_id
    served = option.open and (option.source != "models" or new.models.star_of(value_id) in option.starred)
    return value_id if served else None
