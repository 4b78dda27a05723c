"""(snapshot, client, selections) -> (profile, rendered options): pure, and remembered for each of the three."""

from __future__ import annotations

from functools import cached_property

from attrs import field, frozen

from agentoml.snapshot.picks import Selections, view_of
from agentoml.snapshot.profile import Profile, Servers
from agentoml.snapshot.resolving.conditions import holds, is_hidden
from agentoml.snapshot.resolving.fold import commands_in_force, fold, model_in_force, servers_in_force
from agentoml.snapshot.resolving.outcome import outcome_of
from agentoml.snapshot.resolving.state import ClientFacts, State, View
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, Option, RenderedOption, RenderedValue, Snapshot

__all__ = ["ClientFacts", "Profile", "RenderedOption", "RenderedValue", "Resolved", "resolve"]


@frozen(eq=False)
class Resolved:
    """What is in force, and what is shown. Both differ only in a turn in which something was picked for the next (E12).

    What only some ask for is worked out when somebody does.
    """

    options: tuple[RenderedOption, ...]
    shown: State = field(repr=False)
    in_force: State = field(repr=False)

    @cached_property
    def profile(self) -> Profile:
        """The profile: all that decides how the session behaves."""
        return fold(self.in_force)

    @cached_property
    def servers(self) -> Servers:
        """Which MCP servers are on: what the profile says of them."""
        return servers_in_force(self.in_force)

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """The slash commands that can be sent now."""
        commands = self.shown.snapshot.commands
        found = (commands[name].value for name in commands_in_force(self.in_force) if name in commands)
        return tuple(one.id for one in found if holds(one.when, self.shown) and not is_hidden(one.hidden, self.shown))

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
    return Resolved(_rendered(shown), shown, in_force)


def work_out(snapshot: Snapshot, client: ClientFacts, view: View) -> State:
    """Return every option with its value, worked out in dependency order (E31)."""
    state = State(snapshot, client, view)
    for name in snapshot.order:
        if name == MODEL_IN_FORCE:
            state.model = model_in_force(state)
            continue
        outcome = outcome_of(snapshot.options[name], state)
        if outcome.listing is not None:
            state.listings[name] = outcome.listing
        if outcome.active is not None:
            state.active[name] = outcome.active
        else:
            state.missing[name] = outcome.missing
    return state


# --------------------------------------------------------------------------------------------- rendering


def is_rendered(option: Option, state: State) -> bool:
    """Return whether a client is shown an option, and so may set it (E26)."""
    if option.id not in state.active or is_hidden(option.hidden, state):
        return False
    return option.kind == "select" or state.client.booleans or not option.omit_unsupported


def _rendered(state: State) -> tuple[RenderedOption, ...]:
    options = state.snapshot.options
    return tuple([state.active[name].rendered for name in state.snapshot.display if is_rendered(options[name], state)])
