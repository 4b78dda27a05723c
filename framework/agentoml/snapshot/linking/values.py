"""Config -> values: what is written about one entry of something to choose from, with every name in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import define, evolve, field

from agentoml.config import schema
from agentoml.config.vocabulary.notation import Condition as WrittenCondition
from agentoml.config.vocabulary.profile import ProfileKeys
from agentoml.config.vocabulary.profile import Value as WrittenValue
from agentoml.snapshot.linking import sources
from agentoml.snapshot.linking.option_tables import OptionTable
from agentoml.snapshot.linking.sources import Entry
from agentoml.snapshot.patches import NOTHING, Patch, freeze, patch_of
from agentoml.snapshot.snapshot import EMPTY, OFF, ON, Catalog, Condition, Hidden, RenderedValue, Test, Value

NO_SET = WrittenValue().set
ALWAYS: Hidden = ((),)


@define
class Values:
    """Makes values. A name that names nothing is passed on as it is: `references` reports it."""

    config: schema.Config
    catalog: Catalog
    tables: Mapping[str, OptionTable]
    _own: dict[tuple[str, ...], Value] = field(factory=dict)
    _entries: dict[schema.Source, tuple[Entry, ...]] = field(factory=dict)

    def entries(self, source: schema.Source) -> tuple[Entry, ...]:
        """Return what a source has in the whole configuration."""
        if source not in self._entries:
            self._entries[source] = tuple(sources.entries(self.config, source))
        return self._entries[source]

    def written(self, value_id: str, written: WrittenValue, *, entry: Entry | None = None) -> Value:
        """Return a value as it is written; `entry` is the entry of a source that it is.

        A model's `status = "hidden"` hides it (E23).
        """
        group = written.group
        hidden = ALWAYS if getattr(written, "status", None) == "hidden" else self.hidden(written.hidden)
        return Value(
            id=value_id,
            shown=RenderedValue(
                value=value_id,
                name=written.name or value_id,
                description=written.description,
                meta=freeze(written.meta) if written.meta else EMPTY,
                group=group,
                group_name=group,
            ),
            when=self.condition(written.when),
            hidden=hidden,
            forget=written.forget,
            lasts=written.lasts,
            patch=self.patch(written.set),
            preselect=self.picks(written.preselect),
            from_source=entry is not None,
            from_data=entry is not None and entry.is_data,
            provider=entry.provider if entry is not None else self._provider_of(written.set),
        )

    def own(self, entry: Entry) -> Value:
        """Return an entry of a source as it is by itself; options that add nothing to it share it."""
        key = (*entry.table, entry.id)
        known = self._own.get(key)
        if known is None:
            known = self._own[key] = self.written(entry.id, entry.written, entry=entry)
        return known

    def keep(self, models: Iterable[Value]) -> None:
        """Take over models as they were made before, but for those that name other things, which may have changed."""
        for value in models:
            if not (value.when or value.preselect or value.hidden not in ((), ALWAYS)) and value.patch is NOTHING:
                self._own["models", value.id, value.id] = value

    def of_option(self, entry: Entry, table: OptionTable) -> Value:
        """Return an entry as a value of an option: decorated (E15), grouped; with `sets` it comes alone (E20)."""
        value = self.own(entry)
        if table.written.sets is not None and (value.patch is not NOTHING or value.preselect):
            value = evolve(value, patch=NOTHING, preselect=EMPTY)
        if entry.decoration is not None:
            value = _decorated(value, self.written(entry.id, entry.decoration), named=entry.decoration.name)
        if table.written.group_by is not None and value.shown.group is None:
            value = value.shown_as(self._in_group(value.shown, entry, table.written.group_by))
        return value

    def _in_group(self, shown: RenderedValue, entry: Entry, field: str) -> RenderedValue:
        """Return an entry in the group of a field; that of a provider has its name (E32)."""
        group = next(iter(entry.text(field) or ()), "")
        if not group:
            return shown
        provider = self.config.providers.get(group) if field == "provider" else None
        name = (provider and provider.name) or group
        return RenderedValue(shown.value, shown.name, shown.description, shown.meta, group, name)

    def patch(self, keys: ProfileKeys) -> Patch:
        """Return what a `set` sets."""
        return NOTHING if keys is NO_SET else patch_of(keys, self.catalog.key_of)

    def _provider_of(self, keys: ProfileKeys) -> str | None:
        model = self.catalog.get(keys.model) if keys.model is not None else None
        return model.provider if model is not None else None

    def picks(self, written: Mapping[str, Any]) -> Mapping[str, str]:
        """Return what `preselect` or `switch_to` chooses: option -> value."""
        if not written:
            return EMPTY
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
        return tuple(Test(about, self._wanted(about, wanted)) for about, wanted in written.items()) if written else ()

    def _wanted(self, about: str, wanted: Any) -> bool | tuple[str, ...]:
        if isinstance(wanted, bool):
            return wanted
        table = self.tables.get(about)
        if table is not None and table.written.values_from == "models":
            return tuple(self.catalog.key_of(text) for text in wanted)
        return tuple(wanted)

    def hidden(self, written: bool | WrittenCondition) -> Hidden:
        """Return what `hidden` says."""
        if isinstance(written, bool):
            return ALWAYS if written else ()
        return (self.condition(written),)


def _decorated(value: Value, above: Value, *, named: str | None) -> Value:
    """Return an entry with what an option writes about it on top: both conditions must hold, either hides it."""
    shown = value.shown
    return evolve(
        value,
        shown=RenderedValue(
            value=value.id,
            name=named or shown.name,
            description=above.shown.description or shown.description,
            meta=above.shown.meta or shown.meta,
            group=above.shown.group or shown.group,
            group_name=above.shown.group_name or shown.group_name,
        ),
        when=value.when + above.when,
        hidden=value.hidden + above.hidden,
        forget=value.forget or above.forget,
        lasts=value.lasts if above.lasts is None else above.lasts,
        patch=value.patch.then(above.patch),
        preselect=MappingProxyType({**value.preselect, **above.preselect}),
    )
