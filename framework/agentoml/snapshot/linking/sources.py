"""Where the values of an option come from: the entries of the configuration, in their order, with their fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
from attrs import frozen

from agentoml.config.schema import Config, McpServer, Mode, Model, PermissionSet, Provider, Source, Variant
from agentoml.config.vocabulary.profile import Value as WrittenValue

PER_MODEL = frozenset({"model.reasoning", "model.variants"})
"""Sources that give what the model in force has."""

TARGETS: Mapping[str, str | None] = {
    "models": "model",
    "model.reasoning": "reasoning",
    "model.variants": "variant",
    "permissions": "permissions",
    "mcp": "mcp",
    "modes": None,
    "providers": None,
}
"""source -> the key of the profile that its entries go into; None: only what an entry sets itself."""

_CLASSES: Mapping[str, type[Any]] = {
    "models": Model,
    "model.variants": Variant,
    "modes": Mode,
    "providers": Provider,
    "permissions": PermissionSet,
    "mcp": McpServer,
}
_NOT_FIELDS = frozenset(
    {"when", "hidden", "forget", "lasts", "set", "preselect", "meta", "examples", "rules", "replies"}
)


@frozen
class Entry:
    """One entry of a source. `decoration` is what an option writes about it (E15), `table` where it stands."""

    id: str
    written: WrittenValue
    table: tuple[str, ...]
    provider: str | None = None
    decoration: WrittenValue | None = None

    @property
    def is_data(self) -> bool:
        """Whether it is an entry of data; modes are not: they rank with written values (E7)."""
        return self.table[0] != "modes"

    @property
    def name(self) -> str:
        """What users see."""
        return (self.decoration and self.decoration.name) or self.written.name or self.id

    def text(self, field: str) -> tuple[str, ...] | None:
        """Return what a field says, as texts (several for a list), None where that is unknown."""
        if field == "id" and getattr(self.written, "id", None) is None:
            return (self.id,)
        if field == "name":
            return (self.name,)
        value = getattr(self.written, field, None)
        if field == "capabilities":
            return None if value is None else tuple(value)
        if value is None:
            return ("",)
        if isinstance(value, bool):
            return ("true" if value else "false",)
        return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def fields_of(source: Source) -> tuple[str, ...]:
    """Return the fields of a source's entries that a filter may name."""
    found = attrs.fields(_CLASSES.get(source, WrittenValue))
    return tuple(dict.fromkeys(("id", *(field.name for field in found if field.name not in _NOT_FIELDS))))


def entries(config: Config, source: Source) -> Iterator[Entry]:
    """Yield what a source has in the whole configuration, in declared order; starred models are not listed."""
    match source:
        case "models":
            for key, model in config.models.items():
                if "*" not in key:
                    yield Entry(key, model, ("models", key), model.provider)
        case "model.reasoning" | "model.variants":
            for found in per_model(config, source).values():
                yield from found
        case _:
            tables: Mapping[str, WrittenValue] = getattr(config, source)
            for name, written in tables.items():
                yield Entry(name, written, (source, name), name if source == "providers" else None)


def starred_entries(config: Config) -> Iterator[Entry]:
    """Yield the starred models: they serve what is not listed (E21)."""
    for key, model in config.models.items():
        if "*" in key:
            yield Entry(key, model, ("models", key), model.provider)


def per_model(config: Config, source: Source) -> Mapping[str, tuple[Entry, ...]]:
    """Return what `model.reasoning` or `model.variants` gives for each model."""
    found: dict[str, tuple[Entry, ...]] = {}
    shared: dict[tuple[str, ...], tuple[Entry, ...]] = {}
    for key, model in config.models.items():
        if source == "model.variants":
            found[key] = tuple(
                Entry(name, variant, ("models", key, "variants", name), model.provider)
                for name, variant in model.variants.items()
            )
        elif model.reasoning is not None:
            levels = model.reasoning.values
            if levels not in shared:
                table = ("models", key, "reasoning", "values")
                shared[levels] = tuple(Entry(level, WrittenValue(), table) for level in levels)
            found[key] = shared[levels]
    return {key: group for key, group in found.items() if group}


def in_order(found: Iterable[Entry], order: str) -> tuple[Entry, ...]:
    """Return entries as `order` says: declared, name (letter case ignored), newest (unknown ones last) (E19)."""
    if order == "name":
        return tuple(sorted(found, key=lambda entry: entry.name.casefold()))
    if order == "newest":
        kept = tuple(found)
        dated = [entry for entry in kept if getattr(entry.written, "released", None)]
        dated.sort(key=lambda entry: str(getattr(entry.written, "released", "")), reverse=True)
        return (*dated, *(entry for entry in kept if not getattr(entry.written, "released", None)))
    return tuple(found)
