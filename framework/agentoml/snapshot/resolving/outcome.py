"""What becomes of an option: its value in force and how that is shown, or why it is not there."""

from __future__ import annotations

from collections.abc import Hashable

from agentoml.snapshot.resolving.chain import choose
from agentoml.snapshot.resolving.conditions import holds
from agentoml.snapshot.resolving.forcing import forced
from agentoml.snapshot.resolving.listing import listing_of, offered_values, seen_of_model
from agentoml.snapshot.resolving.state import Active, Claim, Listing, Outcome, State
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, ON, Option, RenderedOption, RenderedValue, Value

NOTHING_TO_CHOOSE = "there is nothing to choose from"


def outcome_of(option: Option, state: State) -> Outcome:
    """Return what becomes of an option. It is remembered by all it depends on: a pick changes little of it."""
    snapshot, view, name = state.snapshot, state.view, option.id
    key = (
        name,
        state.client,
        view.picks.get(name),
        view.above.get(name),
        view.command and view.command.name,
        *[_input(node, option, state) for node in snapshot.wiring[name].inputs],
    )
    known: Outcome | None = snapshot.outcomes.get(key)
    return known or snapshot.outcomes.keep(key, _outcome_of(option, state))


def _input(node: str, option: Option, state: State) -> Hashable:
    return seen_of_model(option, state.model) if node == MODEL_IN_FORCE else state.active.get(node)


def _outcome_of(option: Option, state: State) -> Outcome:
    if not holds(option.when, state):
        return Outcome(missing="its condition does not hold")
    listing = listing_of(option, state)
    if listing.gives_nothing:
        return Outcome(listing, missing=NOTHING_TO_CHOOSE)
    force = forced(option, listing, state)
    if force is not None and force.value is None:
        return Outcome(listing, missing=f"{force.by.who} sets what none of its values sets")
    value = force.value if force is not None else choose(option, listing, state)
    if value is None:
        return Outcome(listing, missing=NOTHING_TO_CHOOSE)
    return Outcome(listing, _active(option, value, listing, state, force.by if force is not None else None))


def _active(option: Option, value: Value, listing: Listing, state: State, forced_by: Claim | None) -> Active:
    as_boolean = option.kind == "boolean" and state.client.booleans
    values = (value.shown,) if forced_by is not None else offered_values(option, listing, value)
    rendered = _render(option, value, values, as_boolean=as_boolean)
    return Active(option, value, option.patch(value), rendered, forced_by)


def _render(option: Option, value: Value, values: tuple[RenderedValue, ...], *, as_boolean: bool) -> RenderedOption:
    return RenderedOption(
        id=option.id,
        name=option.name,
        description=option.description,
        category=option.category,
        meta=option.meta,
        kind="boolean" if as_boolean else "select",
        current=value.id == ON if as_boolean else value.id,
        values=() if as_boolean else values,
    )
