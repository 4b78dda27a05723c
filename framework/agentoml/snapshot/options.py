"""Config -> options with all their values: sources and what is written beside them, booleans, one option an entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from attrs import evolve, frozen

from agentoml.config import schema
from agentoml.config.notation import Condition as WrittenCondition
from agentoml.config.profile import ProfileKeys
from agentoml.config.profile import Value as WrittenValue
from agentoml.snapshot import sources
from agentoml.snapshot.patches import NOTHING, Patch, freeze, owned_key, patch_of
from agentoml.snapshot.snapshot import (
    OFF,
    ON,
    Catalog,
    Condition,
    Default,
    Filter,
    Hidden,
    Option,
    RenderedValue,
    Test,
    Value,
)
from agentoml.snapshot.sources import Entry

MODE = "mode"
NO_SET = WrittenValue().set
ALWAYS: Hidden = ((),)


@frozen
class OptionTable:
    """`[options.x]` as it counts: with the source of `mode`, and for `each` the entry that it is about."""

    id: str
    written: schema.Option
    path: tuple[str, ...]
    entry: Entry | None = None

    @property
    def is_boolean(self) -> bool:
        """Whether its values are off and on."""
        return self.written.type == "boolean" or self.entry is not None


def option_tables(config: schema.Config) -> Mapping[str, OptionTable]:
    """Return every option in fold order (E27): `mode`, then the others as declared; `each` gives one an entry (E17)."""
    found: dict[str, OptionTable] = {}
    if config.modes or MODE in config.options:
        written = config.options.get(MODE, schema.Option())
        if config.modes:
            written = evolve(written, values_from="modes")
        if written.category is None:
            written = evolve(written, category="mode")
        path = ("options", MODE) if MODE in config.options else ("modes",)
        found[MODE] = OptionTable(MODE, written, path)
    for option_id, written in config.options.items():
        if option_id == MODE:
            continue
        path = ("options", option_id)
        if written.each is None:
            found[option_id] = OptionTable(option_id, written, path)
            continue
        for entry in sources.entries(config, written.each):
            found[f"{option_id}/{entry.id}"] = OptionTable(f"{option_id}/{entry.id}", written, path, entry)
    return found


@frozen
class Builder:
    """Builds options. Names that name nothing are passed on as they are: `names` reports them."""

    config: schema.Config
    catalog: Catalog
    tables: Mapping[str, OptionTable]

    def option(self, table: OptionTable) -> Option:
        """Return one option."""
        written = table.written
        option = Option(
            id=table.id,
            name=(table.entry.name if table.entry else written.name) or table.id,
            kind="boolean" if table.is_boolean else "select",
            description=(table.entry and table.entry.written.description) or written.description,
            category=written.category,
            meta=freeze(written.meta or (table.entry.written.meta if table.entry else {})),
            default=tuple(self._defaults(table)),
            when=self.condition(written.when) + self.condition(table.entry.written.when if table.entry else {}),
            hidden=self.hidden(written.hidden) + self.hidden(table.entry.written.hidden if table.entry else False),
            forget=written.forget or bool(table.entry and table.entry.written.forget),
            lasts=written.lasts,
            next_turn=written.applies == "next_turn",
            open=written.open,
            omit_unsupported=written.if_unsupported == "omit",
            declared_at=table.path,
        )
        if table.is_boolean:
            return self._boolean(option, table)
        return self._select(option, table)

    # ------------------------------------------------------------------------------------------ booleans

    def _boolean(self, option: Option, table: OptionTable) -> Option:
        written, entry = table.written, table.entry
        values = {OFF: self.value(OFF, written.off), ON: self.value(ON, written.on)}
        if entry is not None:
            for value_id, on in ((OFF, False), (ON, True)):
                own = self.value(value_id, entry.written, name=value_id) if on else None
                switch = Patch(keys=MappingProxyType({("mcp", entry.id): on}))
                values[value_id] = evolve(
                    values[value_id],
                    patch=switch.then(own.patch if own else NOTHING).then(values[value_id].patch),
                    preselect=MappingProxyType({**(own.preselect if own else {}), **values[value_id].preselect}),
                    from_data=True,
                )
            enabled = isinstance(entry.written, schema.McpServer) and entry.written.enabled
            option = evolve(option, data_default=ON if enabled else OFF, source_keys=(("mcp", entry.id),))
        return evolve(option, values=MappingProxyType(values), known=MappingProxyType(values), setters=_setters(values))

    # ------------------------------------------------------------------------------------------- selects

    def _select(self, option: Option, table: OptionTable) -> Option:
        written = table.written
        source = written.values_from
        if source is None:
            values = {value_id: self.value(value_id, value) for value_id, value in written.values.items()}
            grouped = any(value.shown.group for value in values.values())
            values = {value_id: _grouped(value, option, grouped) for value_id, value in values.items()}
            other = self.value("", written.other) if written.other else None
            frozen_values = MappingProxyType(values)
            setters = _setters(values)
            return evolve(
                option, values=frozen_values, known=frozen_values, setters=setters, grouped=grouped, other=other
            )
        listed = {entry.id for entry in sources.entries(self.config, source)}
        new = {name: self.value(name, value) for name, value in written.values.items() if name not in listed}
        target = written.sets or sources.TARGETS[source]
        owned = target not in (None, "permissions", "auto_answers")
        option = evolve(
            option,
            source=source,
            target=target,
            source_keys=tuple({owned_key(target, name): None for name in sorted(listed)}) if target and owned else (),
            other=self.value("", written.other) if written.other else None,
        )
        return self._with_entries(option, table, new)

    def _with_entries(self, option: Option, table: OptionTable, new: Mapping[str, Value]) -> Option:
        """Return the option with the entries of its source: decorated where they are written about (E15)."""
        written, source = table.written, table.written.values_from
        assert source is not None
        decorations = written.values

        def built(found: Iterable[Entry]) -> tuple[Value, ...]:
            decorated = (evolve(entry, decoration=decorations.get(entry.id)) for entry in found)
            return tuple(self.entry_value(entry, table) for entry in sources.in_order(decorated, written.order))

        given: tuple[Value, ...] = ()
        per_model: dict[str, tuple[Value, ...]] = {}
        if source in ("model.reasoning", "model.variants"):
            shared: dict[int, tuple[Value, ...]] = {}
            for key, found in sources.per_model(self.config, source).items():
                per_model[key] = shared.setdefault(id(found), ()) or built(found)
                shared[id(found)] = per_model[key]
        else:
            given = built(sources.entries(self.config, source))
        starred = tuple(sources.starred_entries(self.config)) if source == "models" and written.open else ()
        stars = {entry.id: self.entry_value(entry, table) for entry in starred}
        in_all = [*new.values(), *given, *(value for found in per_model.values() for value in found)]
        grouped = written.group_by is not None or any(value.shown.group for value in in_all)
        in_groups = {
            id(found): tuple(_grouped(value, option, grouped) for value in found) for found in per_model.values()
        }
        known = {value.id: value for value in in_all}
        return evolve(
            option,
            values=MappingProxyType({value.id: _grouped(value, option, grouped) for value in (*new.values(), *given)}),
            known=MappingProxyType(known),
            setters=_setters(known),
            per_model=MappingProxyType({key: in_groups[id(found)] for key, found in per_model.items()}),
            starred=MappingProxyType({key: _grouped(value, option, grouped) for key, value in stars.items()}),
            grouped=grouped,
            filters=tuple(self._filters(table, [*sources.entries(self.config, source), *starred])),
        )

    def entry_value(self, entry: Entry, table: OptionTable) -> Value:
        """Return an entry of the source as a value; with `sets`, its own set and preselect stay behind (E20)."""
        written = table.written
        value = self.own_value(entry)
        if written.sets is not None:
            value = evolve(value, patch=NOTHING, preselect=MappingProxyType({}))
        if entry.decoration is not None:
            value = self._decorated(value, self.value(entry.id, entry.decoration, name=entry.name))
        if written.group_by is not None and value.shown.group is None:
            value = evolve(value, shown=self._in_group(value.shown, entry, written.group_by))
        data = written.values_from in sources.DATA_SOURCES
        return evolve(value, from_source=True, from_data=data)

    def own_value(self, entry: Entry) -> Value:
        """Return an entry as a value by itself; a model's `status = "hidden"` hides it (E23)."""
        value = self.value(entry.id, entry.written, name=entry.name)
        hidden = ALWAYS if getattr(entry.written, "status", None) == "hidden" else value.hidden
        return evolve(value, hidden=hidden, provider=entry.provider)

    def _decorated(self, value: Value, above: Value) -> Value:
        return evolve(
            value,
            shown=RenderedValue(
                value=value.id,
                name=above.shown.name,
                description=above.shown.description or value.shown.description,
                meta=above.shown.meta or value.shown.meta,
                group=above.shown.group or value.shown.group,
                group_name=above.shown.group_name or value.shown.group_name,
            ),
            when=value.when + above.when,
            hidden=value.hidden + above.hidden,
            forget=value.forget or above.forget,
            lasts=above.lasts or value.lasts,
            patch=value.patch.then(above.patch),
            preselect=MappingProxyType({**value.preselect, **above.preselect}),
        )

    def _in_group(self, shown: RenderedValue, entry: Entry, field: str) -> RenderedValue:
        group = next(iter(entry.text(field) or ()), "")
        if not group:
            return shown
        provider = self.config.providers.get(group) if field == "provider" else None
        return evolve(shown, group=group, group_name=(provider and provider.name) or group)

    def _filters(self, table: OptionTable, found: Iterable[Entry]) -> Iterator[Filter]:
        kept = tuple(found)
        for field, patterns in table.written.filter.items():
            texts = {entry.id: entry.text(field) for entry in kept}
            listed = (patterns,) if isinstance(patterns, str) else tuple(patterns)
            options = tuple(option for option in self.tables if any(f"{{{option}}}" in text for text in listed))
            yield Filter(field, listed, options, MappingProxyType(texts))

    # -------------------------------------------------------------------------------------------- values

    def value(self, value_id: str, written: WrittenValue, *, name: str | None = None) -> Value:
        """Return a value as it is written."""
        group = written.group
        return Value(
            id=value_id,
            shown=RenderedValue(
                value=value_id,
                name=name or written.name or value_id,
                description=written.description,
                meta=freeze(written.meta),
                group=group,
                group_name=group,
            ),
            when=self.condition(written.when),
            hidden=self.hidden(written.hidden),
            forget=written.forget,
            lasts=written.lasts,
            patch=self.patch(written.set),
            preselect=self.picks(written.preselect),
            provider=self._provider_of(written.set),
        )

    def patch(self, keys: ProfileKeys) -> Patch:
        """Return what a `set` sets."""
        return NOTHING if keys is NO_SET else patch_of(keys, self.catalog.key_of)

    def _provider_of(self, keys: ProfileKeys) -> str | None:
        model = self.catalog.get(keys.model) if keys.model is not None else None
        return model.provider if model is not None else None

    def picks(self, written: Mapping[str, Any]) -> Mapping[str, str]:
        """Return what `preselect` or `switch_to` chooses: option -> value."""
        return MappingProxyType({option: self.named(option, value) for option, value in written.items()})

    def named(self, option_id: str, value: Any) -> str:
        """Return the id of the value of an option that is written as `value`: an alias is its model."""
        if isinstance(value, bool):
            return ON if value else OFF
        table = self.tables.get(option_id)
        if table is not None and table.written.values_from == "models":
            return self.catalog.key_of(str(value))
        return str(value)

    def condition(self, written: WrittenCondition) -> Condition:
        """Return a condition; what it says of an option over models may name aliases."""
        tests = []
        for about, wanted in written.items():
            if isinstance(wanted, bool):
                tests.append(Test(about, wanted))
                continue
            patterns = (wanted,) if isinstance(wanted, str) else tuple(wanted)
            table = self.tables.get(about)
            if table is not None and table.written.values_from == "models":
                patterns = tuple(self.catalog.key_of(text) for text in patterns)
            tests.append(Test(about, patterns))
        return tuple(tests)

    def hidden(self, written: bool | WrittenCondition) -> Hidden:
        """Return what `hidden` says."""
        if isinstance(written, bool):
            return ALWAYS if written else ()
        return (self.condition(written),)

    def _defaults(self, table: OptionTable) -> Iterator[Default]:
        written = table.written.default
        chain = written if isinstance(written, tuple | list) else () if written is None else (written,)
        for link in chain:
            if isinstance(link, schema.ConditionalDefault):
                yield Default(self.named(table.id, link.value), self.condition(link.when))
            else:
                yield Default(self.named(table.id, link))


def _grouped(value: Value, option: Option, grouped: bool) -> Value:
    """Return a value in a group: one without stands in a group with the option's id and name (E32)."""
    if not grouped or value.shown.group is not None:
        return value
    return evolve(value, shown=evolve(value.shown, group=option.id, group_name=option.name))


def _setters(values: Mapping[str, Value]) -> tuple[str, ...]:
    return tuple(value_id for value_id, value in values.items() if value.patch.keys)
