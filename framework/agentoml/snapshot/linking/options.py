"""Option tables -> options with all their values: sources and what is written beside them, booleans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from attrs import evolve

from agentoml.config import schema
from agentoml.snapshot.linking import sources
from agentoml.snapshot.linking.option_tables import OptionTable
from agentoml.snapshot.linking.sources import Entry
from agentoml.snapshot.linking.values import Values
from agentoml.snapshot.patches import Patch, freeze, owned_key
from agentoml.snapshot.snapshot import OFF, ON, Default, Filter, Option, Value


def built_option(table: OptionTable, values: Values) -> Option:
    """Return one option."""
    written, entry = table.written, table.entry
    option = Option(
        id=table.id,
        name=(entry.name if entry else written.name) or table.id,
        kind="boolean" if table.is_boolean else "select",
        description=(entry and entry.written.description) or written.description,
        category=written.category,
        meta=freeze(written.meta or (entry.written.meta if entry else {})),
        default=tuple(_defaults(table, values)),
        when=values.condition(written.when) + (values.condition(entry.written.when) if entry else ()),
        hidden=values.hidden(written.hidden) + (values.hidden(entry.written.hidden) if entry else ()),
        forget=written.forget or bool(entry and entry.written.forget),
        lasts=written.lasts,
        next_turn=written.applies == "next_turn",
        open=written.open,
        omit_unsupported=written.if_unsupported == "omit",
    )
    if table.is_boolean:
        return _boolean(option, table, values)
    option = evolve(option, other=values.written("", written.other) if written.other else None)
    if written.values_from is None:
        return _with_values(option, [values.written(name, value) for name, value in written.values.items()])
    return _with_source(option, table, values)


def _defaults(table: OptionTable, values: Values) -> Iterator[Default]:
    written = table.written.default
    for link in written if isinstance(written, tuple) else () if written is None else (written,):
        if isinstance(link, schema.ConditionalDefault):
            yield Default(values.named(table.id, link.value), values.condition(link.when))
        else:
            yield Default(values.named(table.id, link))


def _boolean(option: Option, table: OptionTable, values: Values) -> Option:
    """Return a boolean with the values off and on; one for an entry switches that entry (E16, E17)."""
    off, on = values.written(OFF, table.written.off), values.written(ON, table.written.on)
    entry = table.entry
    if entry is not None:
        own = values.own(entry)
        key = ("mcp", entry.id)
        off = evolve(off, patch=_switch(entry, on=False).then(off.patch), from_data=True)
        on = evolve(
            on,
            patch=_switch(entry, on=True).then(own.patch).then(on.patch),
            preselect=MappingProxyType({**own.preselect, **on.preselect}),
            lasts=own.lasts if on.lasts is None else on.lasts,
            from_data=True,
        )
        enabled = isinstance(entry.written, schema.McpServer) and entry.written.enabled
        option = evolve(option, data_default=ON if enabled else OFF, source_keys=(key,))
    return _with_values(option, [off, on])


def _switch(entry: Entry, *, on: bool) -> Patch:
    return Patch(keys=MappingProxyType({("mcp", entry.id): on}))


def _with_values(option: Option, found: Iterable[Value]) -> Option:
    """Return an option whose values are all written."""
    listed = tuple(found)
    grouped = any(value.shown.group for value in listed)
    known = {value.id: _grouped(value, option, grouped=grouped) for value in listed}
    values = MappingProxyType(known)
    return evolve(
        option,
        values=values,
        conditional=_conditional(listed),
        known=values,
        setters=_setters(known),
        grouped=grouped,
    )


# ------------------------------------------------------------------------------------------------- sources


def _with_source(option: Option, table: OptionTable, values: Values) -> Option:
    """Return an option with the entries of its source and the values beside them: new ones come first (E15)."""
    written, source = table.written, table.written.values_from
    assert source is not None
    entries = values.entries(source)
    in_source = {entry.id for entry in entries}
    new = [values.written(name, value) for name, value in written.values.items() if name not in in_source]
    per_model = _per_model(table, values)
    given = () if source in sources.PER_MODEL else _entry_values(entries, table, values)
    starred = tuple(sources.starred_entries(values.config)) if source == "models" and written.open else ()
    stars = {entry.id: values.of_option(entry, table) for entry in starred}
    of_models = [value for group in {id(group): group for group in per_model.values()}.values() for value in group]
    known: dict[str, Value] = {}
    for value in (*new, *given, *of_models):
        known.setdefault(value.id, value)
    grouped = written.group_by is not None or any(value.shown.group for value in (*new, *given, *of_models))

    def finished(found: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(_grouped(value, option, grouped=grouped) for value in found)

    shared = {id(group): finished(group) for group in per_model.values()}
    target = written.sets or sources.TARGETS[source]
    return evolve(
        option,
        source=source,
        target=target,
        source_keys=_source_keys(target, in_source),
        values=MappingProxyType({value.id: value for value in finished((*new, *given))}),
        conditional=_conditional((*new, *given, *of_models)),
        known=MappingProxyType(known),
        setters=_setters(known),
        per_model=MappingProxyType({key: shared[id(group)] for key, group in per_model.items()}),
        starred=MappingProxyType(dict(zip(stars, finished(stars.values()), strict=True))),
        grouped=grouped,
        filters=tuple(_filters(table, values, (*entries, *starred))),
    )


def _entry_values(found: Iterable[Entry], table: OptionTable, values: Values) -> tuple[Value, ...]:
    decorations = table.written.values
    decorated = (
        evolve(entry, decoration=decorations[entry.id]) if entry.id in decorations else entry for entry in found
    )
    return tuple(values.of_option(entry, table) for entry in sources.in_order(decorated, table.written.order))


def _per_model(table: OptionTable, values: Values) -> dict[str, tuple[Value, ...]]:
    """Return what the source gives for each model; models with the same levels share them."""
    source = table.written.values_from
    if source not in sources.PER_MODEL:
        return {}
    made: dict[int, tuple[Value, ...]] = {}
    found = sources.per_model(values.config, source)
    for group in found.values():
        if id(group) not in made:
            made[id(group)] = _entry_values(group, table, values)
    return {key: made[id(group)] for key, group in found.items()}


def _source_keys(target: str | None, entries: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return the keys that have an owner and that the entries of a source set."""
    if target is None or target in ("permissions", "auto_answers"):
        return ()
    return tuple({owned_key(target, name): None for name in sorted(entries)})


def _filters(table: OptionTable, values: Values, found: Iterable[Entry]) -> Iterator[Filter]:
    kept = tuple(found) if table.written.filter else ()
    for field, patterns in table.written.filter.items():
        saying: dict[tuple[str, ...], set[str]] = {}
        for entry in kept:
            texts = entry.text(field)
            if texts is not None:
                saying.setdefault(texts, set()).add(entry.id)
        options = tuple(option for option in values.tables if any(f"{{{option}}}" in text for text in patterns))
        entries = {texts: frozenset(names) for texts, names in saying.items()}
        yield Filter(field, tuple(patterns), options, MappingProxyType(entries))


def _grouped(value: Value, option: Option, *, grouped: bool) -> Value:
    """Return a value in a group: one without stands in a group with the option's id and name (E32)."""
    if not grouped or value.shown.group is not None:
        return value
    return value.shown_as(evolve(value.shown, group=option.id, group_name=option.name))


def _conditional(values: Iterable[Value]) -> bool:
    return any(value.when or value.hidden for value in values)


def _setters(values: Mapping[str, Value]) -> tuple[str, ...]:
    return tuple(value_id for value_id, value in values.items() if value.patch.keys)
