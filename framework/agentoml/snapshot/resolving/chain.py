"""Which value an option has where nothing forces it: the first valid one of a chain (E7, E10, E22, E23)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, takewhile

from agentoml.config.globs import selects
from agentoml.snapshot.precedence import is_glob
from agentoml.snapshot.resolving.conditions import holds, is_hidden
from agentoml.snapshot.resolving.listing import unlisted
from agentoml.snapshot.resolving.state import Listing, Place, State
from agentoml.snapshot.snapshot import Default, Option, Snapshot, Value


def choose(option: Option, listing: Listing, state: State) -> Value | None:
    """Return the value of an option that nothing forces, None where no value is valid."""
    for value_id, may_be_hidden in _links(option, listing, state):
        value = listing.kept.get(value_id)
        if value is None:
            value = unlisted(option, value_id, state)
            if value is not None and (may_be_hidden or not is_hidden(value.hidden, state, value.provider)):
                return value
        elif may_be_hidden or value_id not in listing.hidden:
            return value
    return None


def preselecting(option_id: str, state: State) -> list[tuple[Place, Value]]:
    """Return the active values that preselect an option, the command aside: the last counts most (E7)."""
    data: list[tuple[Place, Value]] = []
    others: list[tuple[Place, Value]] = []
    for name in state.snapshot.wiring[option_id].preselected_by:
        active = state.active.get(name)
        if active is not None and option_id in active.value.preselect:
            (data if active.value.from_data else others).append(((name, active.value.id), active.value))
    return [*data, *others]


def _links(option: Option, listing: Listing, state: State) -> Iterator[tuple[str, bool]]:
    """Yield the chain: values, and whether they may be hidden."""
    view = state.view
    if option.id in view.above:
        yield view.above[option.id], True
    if view.command is not None and option.id in view.command.value.preselect:
        yield view.command.value.preselect[option.id], True
    for place, value in reversed(preselecting(option.id, state)):
        if (option.id, place) in view.picks:
            yield view.picks[option.id, place], True
        yield value.preselect[option.id], True
    if (option.id, None) in view.picks:
        yield view.picks[option.id, None], True
    for default in option.default:
        yield from _default(default, option, listing, state)
    for value_id in state.snapshot.ownership[option.id].base_values:
        yield value_id, True
    of_the_data = option.data_default
    if option.source == "model.reasoning" and state.model is not None and state.model.reasoning is not None:
        of_the_data = state.model.reasoning.default
    if of_the_data is not None:
        yield of_the_data, False
    yield from ((value_id, False) for value_id in _first(option, listing, state))


def _default(default: Default, option: Option, listing: Listing, state: State) -> Iterator[tuple[str, bool]]:
    """Yield what one link of `default` names: a literal may be hidden, a glob finds only what is offered (E22)."""
    if not holds(default.when, state):
        return
    if default.text in option.known or not is_glob(default.text):
        yield default.text, True
        return
    for shown in listing.offered:
        if selects((default.text,), shown.value):
            yield shown.value, False
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
