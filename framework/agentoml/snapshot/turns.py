"""Turns and time change selections too: a command's turn, what waits for the next one, what ends by itself."""

from __future__ import annotations

from attrs import evolve

from agentoml.config.problems import quoted
from agentoml.snapshot.forget import forget
from agentoml.snapshot.picks import Pick, RunningTurn, Selections, stored, with_pick
from agentoml.snapshot.resolve import resolve
from agentoml.snapshot.resolving.conditions import holds, is_hidden
from agentoml.snapshot.resolving.state import ClientFacts
from agentoml.snapshot.selections import Refused, pick_value
from agentoml.snapshot.snapshot import Snapshot


def start_turn(selections: Selections) -> Selections:
    """Return the selections of a session whose turn begins with a plain message."""
    return evolve(selections, turn=RunningTurn())


def start_command(
    snapshot: Snapshot, client: ClientFacts, selections: Selections, name: str, *, now: float = 0.0
) -> Selections:
    """Return the selections after a slash command was sent: its picks are made, and its turn runs if it has a prompt.

    Raises:
        Refused: it is not there (its condition is looked at before its picks, E25), or a pick of it can't be made.
    """
    resolved = resolve(snapshot, client, selections)
    command = snapshot.commands.get(name)
    if command is None or name not in resolved.profile.commands:
        available = list(resolved.commands)
        raise Refused(f"there is no command {quoted(name)}", reason="unknown_command", available=available)
    if not holds(command.value.when, resolved.shown) or is_hidden(command.value.hidden, resolved.shown):
        raise Refused(f"the command {quoted(name)} is not there now", reason="unavailable_command")
    for option, value in command.switch_to.items():
        selections = pick_value(snapshot, client, selections, Pick(option, value), now=now)
    if command.prompt is None:
        return selections
    return forget(snapshot, client, evolve(selections, turn=RunningTurn(command=name)))


def pick_for_the_turn(selections: Selections, pick: Pick) -> Selections:
    """Return selections with a pick that counts above everything but forcing until the running turn ends."""
    turn = selections.turn or RunningTurn()
    return evolve(selections, turn=evolve(turn, picks=with_pick(turn.picks, pick)))


def end_turn(snapshot: Snapshot, client: ClientFacts, selections: Selections) -> Selections:
    """Return the selections after the turn: its command is gone, what lasted until now ends, what waited binds."""
    waiting = selections.turn.waiting if selections.turn is not None else ()
    temporary = tuple(pick for pick in selections.temporary if pick.until != "turn")
    after = evolve(selections, temporary=temporary, turn=None)
    for pick in waiting:
        after = stored(after, pick)
    return forget(snapshot, client, after)


def expire(snapshot: Snapshot, client: ClientFacts, selections: Selections, now: float) -> Selections:
    """Return the selections without the picks whose time is over."""

    def kept(picks: tuple[Pick, ...]) -> tuple[Pick, ...]:
        return tuple(pick for pick in picks if not isinstance(pick.until, int | float) or pick.until > now)

    turn = selections.turn
    if turn is not None:
        turn = evolve(turn, picks=kept(turn.picks), waiting=kept(turn.waiting))
    after = evolve(selections, temporary=kept(selections.temporary), turn=turn)
    return selections if after == selections else forget(snapshot, client, after)


def next_expiry(selections: Selections) -> float | None:
    """Return when the next pick ends by itself, None where none does."""
    turn = selections.turn
    picks = selections.temporary if turn is None else (*selections.temporary, *turn.picks, *turn.waiting)
    return min([pick.until for pick in picks if isinstance(pick.until, int | float)], default=None)
