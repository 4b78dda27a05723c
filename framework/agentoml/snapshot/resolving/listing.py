"""The values of an option at one moment: what its source gives, conditions, filter, groups (E15, E18, E21, E32)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set

from attrs import evolve

from agentoml.config.globs import selects
from agentoml.snapshot.resolving.conditions import holds, is_hidden
from agentoml.snapshot.resolving.state import Listing, State
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, CatalogModel, Filter, Option, RenderedValue, Value

LONGEST_OPEN_VALUE = 256


def listing_of(option: Option, state: State) -> Listing:
    """Return the values of an option now. What they depend on is remembered, so equal sessions share one listing."""
    snapshot = state.snapshot
    key = (option.id, *[_input(node, option, state) for node in snapshot.wiring[option.id].listing_inputs])
    known: Listing | None = snapshot.listings.get(key)
    return known or snapshot.listings.keep(key, _list(option, state))


def _input(node: str, option: Option, state: State) -> Hashable:
    if node == "client":
        return state.client
    if node == MODEL_IN_FORCE:
        return seen_of_model(option, state.model)
    active = state.active.get(node)
    return active and active.value.id


def seen_of_model(option: Option, model: CatalogModel | None) -> Hashable:
    """Return all that an option may depend on of the model in force. Models that are alike in it are as one."""
    if model is None:
        return None
    level = model.reasoning.default if model.reasoning is not None else None
    return id(_given(option, model)), level, model.capabilities, model.capabilities_known


def _list(option: Option, state: State) -> Listing:
    let_through = _let_through(option, state)
    given = _given(option, state.model)
    values = {**option.values, **{value.id: value for value in given}} if given else option.values
    there, hidden = values, frozenset[str]()
    if option.conditional:
        there = {key: value for key, value in values.items() if holds(value.when, state, value.provider)}
    kept = there
    if let_through is not None:
        kept = {key: value for key, value in there.items() if key in let_through or not value.from_source}
    if option.conditional:
        hidden = frozenset(key for key, value in kept.items() if is_hidden(value.hidden, state, value.provider))
    from_source = any(value.from_source for value in kept.values())
    serves = any(_serves(star, let_through, state) for star in option.starred.values())
    return Listing(
        there=there,
        kept=kept,
        hidden=hidden,
        offered=in_groups(option, [value.shown for key, value in kept.items() if key not in hidden]),
        gives_nothing=option.source is not None and not from_source and not serves,
    )


def _given(option: Option, model: CatalogModel | None) -> tuple[Value, ...]:
    """Return what the source gives for a model; models that are given the same share it."""
    return option.per_model.get(model.entry, ()) if model is not None else ()


def _serves(star: Value, let_through: Set[str] | None, state: State) -> bool:
    return (let_through is None or star.id in let_through) and holds(star.when, state, star.provider)


def _let_through(option: Option, state: State) -> Set[str] | None:
    """Return the entries that the filter of an option lets through now; None: all. All its fields must match (E18)."""
    found: Set[str] | None = None
    for one in option.filters:
        if all(name in state.active for name in one.options):
            fitting = _fitting(one, state)
            found = fitting if found is None else found & fitting
    return found


def _fitting(one: Filter, state: State) -> Set[str]:
    values = {name: state.active[name].value.id for name in one.options}
    patterns = tuple(_filled(pattern, values) for pattern in one.patterns)
    groups = [entries for texts, entries in one.entries.items() if _selects_any(patterns, texts)]
    return groups[0] if len(groups) == 1 else frozenset[str]().union(*groups)


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


def offered_values(option: Option, listing: Listing, value: Value) -> tuple[RenderedValue, ...]:
    """Return the list of an option with this value in force, also where that is hidden or not listed (E10, E21)."""
    if value.id not in listing.kept:
        return in_groups(option, (*listing.offered, value.shown))
    if value.id in listing.hidden:
        shown = (one.shown for one in listing.kept.values() if one.id not in listing.hidden or one.id == value.id)
        return in_groups(option, shown)
    return listing.offered


def unlisted(option: Option, value_id: str, state: State, *, filtered: bool = True) -> Value | None:
    """Return what an open option makes of an id that the data does not know, None where it takes none (E21)."""
    if not option.open or value_id in option.known or not is_well_formed(value_id):
        return None
    value = option.other or Value(id="", shown=RenderedValue("", ""))
    if option.source == "models":
        models = state.snapshot.models
        star = None if models.knows(value_id) else option.starred.get(models.star_of(value_id) or "")
        if star is None or not _serves(star, _let_through(option, state) if filtered else None, state):
            return None
        value = evolve(star, patch=star.patch.then(value.patch), preselect={**star.preselect, **value.preselect})
    shown = evolve(value.shown, value=value_id, name=value_id)
    if option.grouped and shown.group is None:
        shown = evolve(shown, group=option.id, group_name=option.name)
    return evolve(value, id=value_id, shown=shown, from_source=option.source is not None)


def is_well_formed(value_id: str) -> bool:
    """Return whether an id may be a value that nobody lists: 1 to 256 printable characters, no space around."""
    return 0 < len(value_id) <= LONGEST_OPEN_VALUE and value_id.isprintable() and value_id == value_id.strip()
