"""The values of an option at one moment: what its source gives, conditions, filter, groups (E15, E18, E21, E32)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from attrs import evolve

from agentoml.config.globs import selects
from agentoml.snapshot.conditions import holds, is_hidden
from agentoml.snapshot.snapshot import Filter, Option, RenderedValue, Value
from agentoml.snapshot.state import Listing, State

LONGEST_OPEN_VALUE = 256

Keeps = Callable[[str], bool]
"""Whether the filter lets an entry through."""


def listing_of(option: Option, state: State) -> Listing:
    """Return the values of an option now. What they depend on is remembered, so equal sessions share one listing."""
    snapshot = state.snapshot
    key = (option.id, *(_input(about, state) for about in snapshot.wiring[option.id].listing_inputs))
    known: Listing | None = snapshot.listings.get(key)
    return known or snapshot.listings.keep(key, _list(option, state))


def _input(about: str, state: State) -> Hashable:
    if about == "client":
        return state.client
    if about == "model":
        return state.model and state.model.entry
    active = state.active.get(about)
    return active and active.value.id


def _list(option: Option, state: State) -> Listing:
    keeps = _filter(option, state)
    given = option.per_model.get(state.model.entry, ()) if option.per_model and state.model else ()
    values = {**option.values, **{value.id: value for value in given}} if given else option.values
    there = {key: value for key, value in values.items() if not value.when or holds(value.when, state, value.provider)}
    kept = {key: value for key, value in there.items() if not value.from_source or keeps(key)} if keeps else there
    hidden = frozenset(
        key for key, value in kept.items() if value.hidden and is_hidden(value.hidden, state, value.provider)
    )
    from_source = any(value.from_source for value in kept.values())
    serves = any(_serves(star, keeps, state) for star in option.starred.values())
    return Listing(
        there=there,
        kept=kept,
        hidden=hidden,
        offered=in_groups(option, (value.shown for key, value in kept.items() if key not in hidden)),
        gives_nothing=option.source is not None and not from_source and not serves,
    )


def _serves(star: Value, keeps: Keeps | None, state: State) -> bool:
    return (keeps is None or keeps(star.id)) and holds(star.when, state, star.provider)


def _filter(option: Option, state: State) -> Keeps | None:
    """Return what the filter of an option lets through now; None: everything. All its fields must match (E18)."""
    tests = [
        _field_test(found, state) for found in option.filters if all(name in state.active for name in found.options)
    ]
    if not tests:
        return None
    return lambda entry: all(test(entry) for test in tests)


def _field_test(found: Filter, state: State) -> Keeps:
    values = {name: state.active[name].value.id for name in found.options}
    patterns = tuple(_filled(pattern, values) for pattern in found.patterns)
    known: dict[tuple[str, ...] | None, bool] = {None: False}

    def keeps(entry: str) -> bool:
        texts = found.texts.get(entry)
        if texts not in known:
            known[texts] = _selects_any(patterns, texts or ())
        return known[texts]

    return keeps


def _filled(pattern: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern


def _selects_any(patterns: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    """Return whether one text is selected and none is excluded."""
    exclusions = tuple(pattern for pattern in patterns if pattern.startswith("!"))
    if exclusions and not all(selects(exclusions, text) for text in texts):
        return False
    positives = tuple(pattern for pattern in patterns if not pattern.startswith("!"))
    return any(selects(positives, text) for text in texts) if positives else bool(exclusions)


def in_groups(option: Option, shown: Iterable[RenderedValue]) -> tuple[RenderedValue, ...]:
    """Return values one group after the other, as groups first appear; the one of values without any stands first."""
    if not option.grouped:
        return tuple(shown)
    groups: dict[str | None, list[RenderedValue]] = {option.id: []}
    for value in shown:
        groups.setdefault(value.group, []).append(value)
    return tuple(value for members in groups.values() for value in members)


def unlisted(option: Option, value_id: str, state: State, *, filtered: bool = True) -> Value | None:
    """Return what an open option makes of an id that the data does not know, None where it takes none (E21)."""
    if not option.open or value_id in option.known or not is_well_formed(value_id):
        return None
    value = option.other or Value(id="", shown=RenderedValue("", ""))
    if option.source == "models":
        models = state.snapshot.models
        star = None if models.knows(value_id) else option.starred.get(models.star_of(value_id) or "")
        if star is None or not _serves(star, _filter(option, state) if filtered else None, state):
            return None
        value = evolve(star, patch=star.patch.then(value.patch), preselect={**star.preselect, **value.preselect})
    shown = evolve(value.shown, value=value_id, name=value_id)
    if option.grouped and shown.group is None:
        shown = evolve(shown, group=option.id, group_name=option.name)
    return evolve(value, id=value_id, shown=shown, from_source=option.source is not None)


def is_well_formed(value_id: str) -> bool:
    """Return whether an id may be a value that nobody lists: 1 to 256 printable characters, no space around."""
    return 0 < len(value_id) <= LONGEST_OPEN_VALUE and value_id.isprintable() and value_id == value_id.strip()
