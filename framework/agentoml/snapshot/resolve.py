"""(snapshot, client, selections) -> (profile, rendered options): pure, and remembered for each of the three."""

from __future__ import annotations

from attrs import field, frozen

from agentoml.snapshot.picks import Selections, view_of
from agentoml.snapshot.profile import Profile
from agentoml.snapshot.resolving.chain import choose
from agentoml.snapshot.resolving.conditions import holds, is_hidden
from agentoml.snapshot.resolving.fold import fold, model_in_force
from agentoml.snapshot.resolving.forcing import forced
from agentoml.snapshot.resolving.listing import in_groups, listing_of
from agentoml.snapshot.resolving.state import Active, ClientFacts, State, View
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, ON, Option, RenderedOption, RenderedValue, Snapshot

__all__ = ["ClientFacts", "Profile", "RenderedOption", "RenderedValue", "Resolved", "resolve"]


@frozen(eq=False)
class Resolved:
    """What is in force, and what is shown. Both differ only in a turn in which something was picked for the next (E12).

    `commands` are the slash commands that can be sent now.
    """

    profile: Profile
    options: tuple[RenderedOption, ...]
    commands: tuple[str, ...]
    shown: State = field(repr=False)

    def option(self, option_id: str) -> RenderedOption | None:
        """Return a rendered option, None where there is none of this id."""
        return next((option for option in self.options if option.id == option_id), None)


def resolve(snapshot: Snapshot, client: ClientFacts, selections: Selections) -> Resolved:
    """Work out what these selections mean for this client. Equal selections give the same object."""
    key = (client, selections)
    known: Resolved | None = snapshot.resolved.get(key)
    return known or snapshot.resolved.keep(key, _resolve(snapshot, client, selections))


def _resolve(snapshot: Snapshot, client: ClientFacts, selections: Selections) -> Resolved:
    shown = work_out(snapshot, client, view_of(snapshot, selections, shown=True))
    in_force = shown
    if selections.turn is not None and selections.turn.waiting:
        in_force = work_out(snapshot, client, view_of(snapshot, selections, shown=False))
    profile = fold(in_force)
    return Resolved(profile, _rendered(shown), _commands(profile, shown), shown)


def work_out(snapshot: Snapshot, client: ClientFacts, view: View) -> State:
    """Return every option with its value, worked out in dependency order (E31)."""
    state = State(snapshot, client, view)
    for name in snapshot.order:
        if name == MODEL_IN_FORCE:
            state.model = model_in_force(state)
        else:
            _decide(snapshot.options[name], state)
    return state


def _decide(option: Option, state: State) -> None:
    """Give an option its value, or say why it is not there."""
    if not holds(option.when, state):
        state.missing[option.id] = "its condition does not hold"
        return
    listing = state.listings[option.id] = listing_of(option, state)
    if listing.gives_nothing:
        state.missing[option.id] = "there is nothing to choose from"
        return
    force = forced(option, listing, state)
    if force is not None and force.value is None:
        state.missing[option.id] = f"{force.by.who} sets what none of its values sets"
        return
    value = force.value if force is not None else choose(option, listing, state)
    if value is None:
        state.missing[option.id] = "there is nothing to choose from"
        return
    state.active[option.id] = Active(option, value, option.patch(value), force.by if force is not None else None)


# --------------------------------------------------------------------------------------------- rendering


def is_rendered(option: Option, state: State) -> bool:
    """Return whether a client is shown an option, and so may set it (E26)."""
    if option.id not in state.active or is_hidden(option.hidden, state):
        return False
    return option.kind == "select" or state.client.booleans or not option.omit_unsupported


def _rendered(state: State) -> tuple[RenderedOption, ...]:
    options = (state.snapshot.options[name] for name in state.snapshot.display)
    return tuple(_render(state.active[option.id], state) for option in options if is_rendered(option, state))


def _render(active: Active, state: State) -> RenderedOption:
    option, value = active.option, active.value
    as_boolean = option.kind == "boolean" and state.client.booleans
    return RenderedOption(
        id=option.id,
        name=option.name,
        description=option.description,
        category=option.category,
        meta=option.meta,
        kind="boolean" if as_boolean else "select",
        current=value.id == ON if as_boolean else value.id,
        values=() if as_boolean else offered_values(active, state),
    )


def offered_values(active: Active, state: State) -> tuple[RenderedValue, ...]:
    """Return the list of an option: one value where it is forced, a hidden one while it is in force (E3, E10)."""
    option, value, listing = active.option, active.value, state.listings[active.option.id]
    if active.forced_by is not None:
        return (value.shown,)
    if value.id not in listing.kept:
        return in_groups(option, (*listing.offered, value.shown))
    if value.id in listing.hidden:
        shown = (one.shown for one in listing.kept.values() if one.id not in listing.hidden or one.id == value.id)
        return in_groups(option, shown)
    return listing.offered


def _commands(profile: Profile, state: State) -> tuple[str, ...]:
    found = (state.snapshot.commands[name] for name in profile.commands if name in state.snapshot.commands)
    return tuple(
        command.name
        for command in found
        if holds(command.value.when, state) and not is_hidden(command.value.hidden, state)
    )
