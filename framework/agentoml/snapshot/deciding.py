"""Two snapshots -> the options on which grants depend and that may have another value now, though nobody picked one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import frozen

from agentoml.config.globs import selects
from agentoml.snapshot.linking.wiring import edges
from agentoml.snapshot.patches import MODEL
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, CatalogModel, Option, Snapshot, Value
from agentoml.snapshot.widening import all_values, grants_something, reordered

Place = tuple[str, str]
Entries = Mapping[tuple[str, ...], frozenset[str]]


class Choice(NamedTuple):
    """What a command, or an answer to a question, chooses of an option along with what it says that it does."""

    by: str
    option: str
    value: Any


@frozen
class Deciding:
    """What decides about an option's value, or about the model in force, where the user picks nothing.

    `whole`: what counts whichever values there are. `values`: these, and `order`, where the first may count, how they
    stand; `entries`: what they say in the fields that filters look at. `pulls`: active values that preselect or force
    one, and which.
    """

    whole: tuple[Any, ...]
    values: Mapping[Any, Value | CatalogModel | str]
    entries: tuple[Entries, ...]
    order: tuple[str, ...]
    pulls: Mapping[Place, Any]


def decided_anew(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Return the options whose values grant something, and those on which they depend in turn, that may have another
    value than before; "" is the model in force. A value that is new changes nothing for who did not pick it, unless
    the chain of defaults leads to it.
    """
    was, now = _both_deciding(before, after)
    both = was.keys() & now.keys()
    anew = {name for name in both if _is_decided_anew(was[name], now[name], before)}
    return tuple(name for name in now if name in anew)


def folds_anew(before: Snapshot, after: Snapshot) -> bool:
    """Return whether options on which grants depend stand in another order: patches fold in it (E27), and of two
    values that preselect the same the later counts (E7).
    """
    was, now = _both_deciding(before, after)
    both = was.keys() & now.keys()
    return reordered((name for name in before.options if name in both), after.options)


def chooses_anew(was: Sequence[Choice], now: Sequence[Choice], before: Snapshot, after: Snapshot) -> bool:
    """Return whether something is chosen that was not, of an option on which grants depend."""
    new = {choice.option for choice in now if choice not in was}
    return bool(new) and not all(map(new.isdisjoint, _both_deciding(before, after)))


def _is_decided_anew(was: Deciding, now: Deciding, before: Snapshot) -> bool:
    return (
        was.whole != now.whole
        or _counts_otherwise(was.values, now.values)
        or _stands_otherwise(was, now)
        or _says_otherwise(was, now)
        or any(place not in now.pulls for place in was.pulls)
        or any(was.pulls.get(place) != pulled and not _is_new(place, before) for place, pulled in now.pulls.items())
    )


def _counts_otherwise(was: Mapping[Any, Any], now: Mapping[Any, Any]) -> bool:
    """Return whether a value that is on both sides counts when it did not; most are the very same."""
    changed = ((value, now[name]) for name, value in was.items() if name in now and now[name] is not value)
    return any(_when(one) != _when(other) for one, other in changed)


def _when(value: Value | CatalogModel | str) -> Any:
    """Return what a value says of when it counts; of a model what it can."""
    match value:
        case Value():
            return value.when, value.hidden
        case CatalogModel():
            return value.capabilities, value.capabilities_known, value.reasoning, tuple(value.variants)
        case _:
            return value


def _stands_otherwise(was: Deciding, now: Deciding) -> bool:
    if was.order == now.order:
        return False
    return [name for name in was.order if name in now.values] != [name for name in now.order if name in was.values]


def _says_otherwise(was: Deciding, now: Deciding) -> bool:
    """Return whether an entry that is on both sides says something else in a field that a filter looks at."""
    for one, other in zip(was.entries, now.entries, strict=True):
        if one != other:
            old, new = ({entry: said for said, some in side.items() for entry in some} for side in (one, other))
            both = (entry for entry in {**old, **new} if entry in was.values and entry in now.values)
            if any(old.get(entry) != new.get(entry) for entry in both):
                return True
    return False


def _is_new(place: Place, before: Snapshot) -> bool:
    """Return whether a value is new in an option that was there and took no others: nobody has picked it."""
    option = before.options.get(place[0])
    return option is not None and not option.open and place[1] not in option.known


# ------------------------------------------------------------------------------------------- of one snapshot


def _both_deciding(before: Snapshot, after: Snapshot) -> tuple[dict[str, Deciding], dict[str, Deciding]]:
    """Return it for the options whose values grant something on either side, and for all on which those depend."""
    granting = {*_granting(before), *_granting(after)}
    return _all_deciding(before, granting), _all_deciding(after, granting)


def _granting(snapshot: Snapshot) -> Iterator[str]:
    for option in snapshot.options.values():
        if any(grants_something(option, value) for value in all_values(option).values()):
            yield option.id


def _all_deciding(snapshot: Snapshot, granting: Iterable[str]) -> dict[str, Deciding]:
    left = [name for name in granting if name in snapshot.options]
    needs: dict[str, list[str]] = {}
    for edge in edges(snapshot.options, snapshot.owners, snapshot.model_values) if left else ():
        needs.setdefault(edge.node, []).append(edge.needs)
    found: dict[str, Deciding] = {}
    while left:
        name = left.pop()
        if name not in found:
            found[name] = _of_the_model(snapshot) if name == MODEL_IN_FORCE else _of(snapshot.options[name], snapshot)
            left += needs.get(name, ())
    return found


def _of(option: Option, snapshot: Snapshot) -> Deciding:
    order = tuple(option.values) if _order_decides(option) else ()
    patterns = tuple((one.field, one.patterns) for one in option.filters)
    base = snapshot.ownership[option.id]
    first = {(model,): given[0].id for model, given in option.per_model.items() if given}
    return Deciding(
        whole=(
            *(option.default, option.data_default, option.when, option.hidden, patterns, base.base_values),
            *(order[:1], *(_first(link.text, order) for link in option.default)),
        ),
        values={**all_values(option), **first},
        entries=tuple(one.entries for one in option.filters),
        order=order,
        pulls=dict(_pulls(option, snapshot)),
    )


def _first(glob: str, order: tuple[str, ...]) -> str | None:
    return next((name for name in order if selects((glob,), name)), None)


def _pulls(option: Option, snapshot: Snapshot) -> Iterator[tuple[Place, Any]]:
    """Yield the values that preselect an option or set keys of it."""
    wiring, owned = snapshot.wiring[option.id], snapshot.ownership[option.id].keys
    for name in dict.fromkeys((*wiring.preselected_by, *wiring.forced_by)):
        for value in all_values(snapshot.options[name]).values():
            forced = {key: said for key, said in value.patch.keys.items() if key in owned and name != option.id}
            if option.id in value.preselect or forced:
                yield (name, value.id), (value.preselect.get(option.id), forced)


def _order_decides(option: Option) -> bool:
    """Return whether the first of several values may count: unless the default names one that is always there."""
    for link in option.default:
        value = option.values.get(link.text)
        if value is None:
            return True
        if not (link.when or value.when or value.hidden):
            return False
    return True


def _of_the_model(snapshot: Snapshot) -> Deciding:
    """Return what decides about the model and what it can; where an option owns it, that one decides which it is."""
    models: dict[Any, Any] = {model.key: model for model in snapshot.models.everything()}
    if MODEL in snapshot.owners:
        return Deciding((), models, (), (), {})
    models |= {(name,): value for name, value in snapshot.model_values.items()}
    pulls = {
        (name, value.id): value.patch.keys[MODEL]
        for name, option in snapshot.options.items()
        for value in all_values(option).values()
        if MODEL in value.patch.keys
    }
    first = tuple(snapshot.model_values)
    return Deciding((snapshot.base.patch.keys.get(MODEL), first[:1]), models, (), first, pulls)
