"""What a session goes by: one snapshot and what its user picked under it; and what a reload must not loosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import field, frozen

from agentoml.permissions.sets import ReadySet
from agentoml.snapshot import widening
from agentoml.snapshot.resolve import ClientFacts, Resolved, resolve
from agentoml.snapshot.resolving.state import Active, State
from agentoml.snapshot.selections import Selections, reconcile, still_there
from agentoml.snapshot.snapshot import Snapshot


@frozen(eq=False)
class Standing:
    """A snapshot, what counts of the client, and the selections that belong to them."""

    snapshot: Snapshot
    facts: ClientFacts
    selections: Selections

    def resolved(self) -> Resolved:
        """Return what is in force by it."""
        return resolve(self.snapshot, self.facts, self.selections)

    def under(self, snapshot: Snapshot, facts: ClientFacts) -> Standing:
        """Return the same picks under another snapshot, where they still fit."""
        return Standing(snapshot, facts, reconcile(self.snapshot, snapshot, facts, self.selections))


@frozen
class Kept:
    """Permissions of a value that a reload took away where what replaced it is looser.

    Nothing is allowed that they do not allow until the user picks a value of `option`. `sets` are those they name, as
    they were.
    """

    option: str
    value: str
    name: str
    patches: tuple[tuple[str, ...], ...]
    auto_answers: tuple[str, ...]
    sets: Mapping[str, ReadySet] = field(repr=False)


def gone(before: Standing, after: Snapshot) -> tuple[Active, ...]:
    """Return the values in force that are not there any more under another snapshot."""
    active = before.resolved().shown.active
    return tuple(one for name, one in active.items() if still_there(after, name, one.value.id) is None)


def kept(before: Standing, after: Standing) -> tuple[Kept, ...]:
    """Return what stays in force of values that are gone: their permissions, where those of the replacement are looser.

    One value preselects another, so once any value is gone all that are another now are compared.
    """
    values = gone(before, after.snapshot)
    if not values or not _is_looser(before, after):
        return ()
    profile, sets = before.resolved().profile, before.snapshot.permissions
    names = {name for names in (*profile.permissions_patches, profile.auto_answers) for name in names}
    named = {name: sets[name] for name in names if name in sets}
    return tuple(
        Kept(
            one.option.id, one.value.id, one.value.shown.name, profile.permissions_patches, profile.auto_answers, named
        )
        for one in values
    )


def gone_notices(before: Standing, after: Standing, still_kept: tuple[Kept, ...]) -> Iterator[tuple[str, str]]:
    """Yield what the user must know of each value that they were shown and that is gone, and what is there instead."""
    shown = after.resolved().shown.active
    for one in gone(before, after.snapshot):
        if before.resolved().option(one.option.id) is None:
            continue
        title, instead = f"{one.option.name}: {one.value.shown.name} is gone", shown.get(one.option.id)
        parts = [f"{instead.value.shown.name} is there instead." if instead is not None else "There is none instead."]
        if one.option.id not in after.snapshot.options:
            title, parts = f"{one.option.name} is gone", [f"It was {one.value.shown.name}."]
        if any(kept.option == one.option.id for kept in still_kept):
            parts.append("Nothing is allowed that it did not allow until you choose one yourself.")
        yield title, " ".join(parts)


def _is_looser(before: Standing, after: Standing) -> bool:
    was, now = before.resolved(), after.resolved()
    old, new = before.snapshot.permissions, after.snapshot.permissions
    if any(
        widening.lists_are_looser(one.permissions, other.permissions, old, after.snapshot)
        for one, other in _grants(was.shown, now.shown)
    ):
        return True
    answers = any(one.auto_answers != other.auto_answers for one, other in _grants(was.shown, now.shown))
    return answers and widening.list_is_looser(was.profile.auto_answers, now.profile.auto_answers, old, new)


def _grants(was: State, now: State) -> Iterator[tuple[widening.Grants, widening.Grants]]:
    """Yield what the value in force of each option grants, before and after, where it is another one."""
    for name in {**was.active, **now.active}:
        one, other = was.active.get(name), now.active.get(name)
        if one is None or other is None or one.value.id != other.value.id:
            yield (
                widening.grants_of(one.patch) if one is not None else widening.NO_GRANTS,
                widening.grants_of(other.patch) if other is not None else widening.NO_GRANTS,
            )
