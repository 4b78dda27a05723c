"""Who forces an option to which of its values (E3, E4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from attrs import frozen

from agentoml.snapshot.patches import Key, Patch
from agentoml.snapshot.resolving.listing import is_well_formed, unlisted
from agentoml.snapshot.resolving.state import Claim, Listing, State
from agentoml.snapshot.snapshot import Catalog, Option, Value


@frozen
class Forced:
    """What forces an option: to `value`, or, where none of its values sets that, out of sight (`value` is None)."""

    by: Claim
    value: Value | None


def forced(option: Option, listing: Listing, state: State) -> Forced | None:
    """Return what forces an option now; of several the last in fold order. None: nothing does."""
    for claim in reversed(_claims(option, state)):
        fitting = fitting_values(option, claim.keys, state.snapshot.models)
        if not fitting:
            return Forced(claim, None)
        for value_id in fitting:
            value = listing.there.get(value_id) or unlisted(option, value_id, state, filtered=False)
            if value is not None:
                return Forced(claim, value)
    return None


def _claims(option: Option, state: State) -> list[Claim]:
    """Return the active values that set keys of this option, in fold order."""
    owned = state.snapshot.ownership[option.id].keys
    if not owned:
        return []
    forcing = [state.active[name] for name in state.snapshot.wiring[option.id].forced_by if name in state.active]
    claims = [Claim(active.option.id, active.value.id, _only(owned, active.patch)) for active in forcing]
    command = state.view.command
    if command is not None:
        claims.append(Claim(None, command.name, _only(owned, command.value.patch)))
    return [claim for claim in claims if claim.keys]


def _only(owned: Collection[Key], patch: Patch) -> Mapping[Key, Any]:
    return {key: said for key, said in patch.keys.items() if key in owned}


def fitting_values(option: Option, keys: Mapping[Key, Any], models: Catalog) -> tuple[str, ...]:
    """Return the values that set these keys exactly so, anywhere in the snapshot; one that sets only that is first."""
    plain: list[str] = []
    others: list[str] = []
    only = Patch(keys=keys)
    for value_id, patch in _candidates(option, keys, models):
        if all(key in patch.keys and patch.keys[key] == said for key, said in keys.items()):
            (plain if patch == only else others).append(value_id)
    return (*plain, *others)


def _candidates(option: Option, keys: Mapping[Key, Any], models: Catalog) -> Iterator[tuple[str, Patch]]:
    """Yield values that may set these keys, in the order in which they are listed.

    Of entries of a source only those that the keys name by themselves are looked at, and those that set keys of
    their own.
    """
    named = dict.fromkeys(_named_entries(option, keys))
    for value_id in option.setters:
        if value_id not in named:
            yield value_id, option.patch(option.known[value_id])
    for value_id in named:
        if value_id in option.known:
            yield value_id, option.patch(option.known[value_id])
        elif option.open and is_well_formed(value_id):
            is_served = option.source != "models" or (not models.knows(value_id) and models.star_of(value_id))
            if is_served:
                yield value_id, Patch(keys=dict(keys))


def _named_entries(option: Option, keys: Mapping[Key, Any]) -> Iterator[str]:
    """Yield the entries whose implicit patch sets one of these keys."""
    for key, said in keys.items():
        if option.target == "mcp" and key[0] == "mcp" and said is True:
            yield key[1]
        elif option.source is not None and key == (option.target,):
            yield said
