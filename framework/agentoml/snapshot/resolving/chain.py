"""Which value an option has where nothing forces it: the first valid one of a chain (E7, E10, E22, E23)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, takewhile
from typing import Literal, NamedTuple

from agentoml.config.globs import selects
from agentoml.snapshot.precedence import is_glob
from agentoml.snapshot.resolving.conditions import holds, is_hidden
from agentoml.snapshot.resolving.listing import unlisted
from agentoml.snapshot.resolving.state import Listing, Place, State
from agentoml.snapshot.snapshot import Default, Option, Snapshot, Value

Why = Literal["command", "preselected", "picked", "default", "base", "data", "first"]
"""What gives an option its value: a pick, or what is chosen for the user."""


class Link(NamedTuple):
    """One link of the chain: a value, whether it may be a hidden one, and what names it. `by`: what preselects it."""

    value: str
    may_be_hidden: bool
    why: Why
    by: Place | None = None


def choose(option: Option, listing: Listing, state: State) -> Value | None:
    """Return the value of an option that nothing forces, None where no value is valid."""
    found = _chosen(option, listing, state)
    return None if found is None else found[0]


def why(option: Option, listing: Listing, state: State) -> Link | None:
    """Return the link of the chain that gives an option its value; None where no value is valid."""
    found = _chosen(option, listing, state)
    return None if found is None else found[1]


def _chosen(option: Option, listing: Listing, state: State) -> tuple[Value, Link] | None:
    for link in _links(option, listing, state):
        value = listing.kept.get(link.value)
        if value is None:
            value = unlisted(option, link.value, state)
            if value is not None and (link.may_be_hidden or not is_hidden(value.hidden, state, value.provider)):
                return value, link
        elif link.may_be_hidden or link.value not in listing.hidden:
            return value, link
    return None


def preselecting(option_id: str, state: State) -> list[tuple[Place, Value]]:
    """Return the active values that preselect an option, the command aside: the last counts most (E7)."""
    data: list[tuple[Place, Value]] = []
    others: list[tuple[Place, Value]] = []
    for name in state.snapshot.wiring[option_id].preselected_by:
        active = state.active.get(name)
        if active is not None and option_id in active.value.preselect:
            (data if active.value.from_data else others).append(((name, active.value.id), active.value))
    return data + others


def _links(option: Option, listing: Listing, state: State) -> Iterator[Link]:
    """Yield the chain."""
    view = state.view
    if option.id in view.above:
        yield Link(view.above[option.id], True, "picked")
    if view.command is not None and option.id in view.command.value.preselect:
        yield Link(view.command.value.preselect[option.id], True, "command")
    picks = dict(view.picks.get(option.id, ()))
    for place, value in reversed(preselecting(option.id, state)):
        if place in picks:
            yield Link(picks[place], True, "picked", place)
        yield Link(value.preselect[option.id], True, "preselected", place)
    if None in picks:
        yield Link(picks[None], True, "picked")
    for default in option.default:
        yield from _default(default, option, listing, state)
    for value_id in state.snapshot.ownership[option.id].base_values:
        yield Link(value_id, True, "base")
    of_the_data = option.data_default
    if option.source == "model.reasoning" and state.model is not None and state.model.reasoning is not None:
        of_the_data = state.model.reasoning.default
    if of_the_data is not None:
        yield Link(of_the_data, False, "data")
    yield from (Link(value_id, False, "first") for value_id in _first(option, listing, state))


def _default(default: Default, option: Option, listing: Listing, state: State) -> Iterator[Link]:
    """Yield what one link of `default` names: a literal may be hidden, a glob finds only what is offered (E22)."""
    if not holds(default.when, state):
        return
    if default.text in option.known or not is_glob(default.text):
        yield Link(default.text, True, "default")
        return
    for shown in listing.offered:
        if selects((default.text,), shown.value):
            yield Link(shown.value, False, "default")
            return


def _first(option: Option, listing: Listing, state: State) -> Iterator[str]:
    """Yield the first of the list; of models the first in catalog order whose credentials are there (E23)."""
    if option.source != "models":
        yield from (value_id for value_id in listing.kept if value_id not in listing.hidden)
        return
    written = takewhile(lambda value_id: not listing.kept[value_id].from_source, listing.kept)
    first: str | None = None
    for key in chain(written, state.snapshot.models):
        if key not in listing.kept or key in listing.hidden:
            continue
        if listing.kept[key].provider in (None, *state.client.credentials):
            yield key
            return
        first = first or key
    if first is not None:
        yield first


def first_model(state: State) -> str | None:
    """Return the model that counts where nothing says which (E23): not hidden, and with credentials if one has them."""
    first: str | None = None
    snapshot: Snapshot = state.snapshot
    for key, value in snapshot.model_values.items():
        if not holds(value.when, state, value.provider) or is_hidden(value.hidden, state, value.provider):
            continue
        if value.provider in state.client.credentials:
            return key
        first = first or key
    return first
