"""The compiled configuration: frozen, shared by all sessions. What a session adds to it are its selections."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from attrs import evolve, field, frozen

from agentoml.config.globs import matches
from agentoml.config.schema import Cost, Extension, McpServer, ModelLimit, Provider, Reasoning, Source, ToolDefinition
from agentoml.config.vocabulary.notation import ListEdit
from agentoml.permissions.sets import ReadySet
from agentoml.snapshot.ceiling import OPEN, Ceiling, Lists, remains
from agentoml.snapshot.memo import Memo
from agentoml.snapshot.patches import NOTHING, Key, Patch, implicit_patch

EMPTY: Mapping[str, Any] = MappingProxyType({})

ON, OFF = "on", "off"
"""The values of a boolean option."""

# ------------------------------------------------------------------------------------------------- catalog


@frozen
class Variant:
    """The same model with other parameters."""

    id: str
    params: Mapping[str, Any] = EMPTY


NO_LIMIT, NO_COST = ModelLimit(), Cost()


@frozen
class CatalogModel:
    """A model: `key` is what users pick, `id` what goes to the provider.

    `capabilities` is None where they are unknown; `knows_capabilities` tells whether the set is complete.
    """

    key: str
    id: str
    provider: str
    name: str
    limit: ModelLimit = NO_LIMIT
    cost: Cost = NO_COST
    capabilities: frozenset[str] = frozenset()
    capabilities_known: bool = False
    reasoning: Reasoning | None = None
    params: Mapping[str, Any] = EMPTY
    variants: Mapping[str, Variant] = EMPTY
    fallback: tuple[str, ...] = ()
    entry: str = ""
    """The key of its table: for a model that a starred entry serves, the starred one."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Its reasoning levels."""
        return self.reasoning.values if self.reasoning else ()


class Catalog(Mapping[str, CatalogModel]):
    """Models by key, in declared order. Looking up also finds aliases and what a starred entry serves."""

    def __init__(
        self,
        models: Mapping[str, CatalogModel],
        starred: Mapping[str, CatalogModel],
        aliases: Mapping[str, str],
        ceiling: Lists = (),
        *,
        is_cut: bool = False,
    ) -> None:
        self.is_cut = is_cut
        """Whether a policy left some out."""
        self._models = dict(models)
        self._aliases = dict(aliases)
        self._ceiling = ceiling
        self.starred = MappingProxyType(dict(sorted(starred.items(), key=lambda item: -len(item[0]))))

    def __getitem__(self, key: str) -> CatalogModel:
        found = self._models.get(self.key_of(key)) or self._served(key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (self.knows(key) or self.star_of(key) is not None)

    def everything(self) -> Iterator[CatalogModel]:
        """Yield all models, also starred ones."""
        yield from self._models.values()
        yield from self.starred.values()

    def knows(self, key: str) -> bool:
        """Return whether the data itself has this key or alias."""
        return key in self._models or key in self._aliases or key in self.starred

    def key_of(self, name: str) -> str:
        """Return the key that an alias stands for; any other name as it is."""
        return name if name in self._models else self._aliases.get(name, name)

    def star_of(self, key: str) -> str | None:
        """Return the key of the longest starred entry that serves a name."""
        if key in self.starred or not remains(self._ceiling, key):
            return None
        return next((star for star in self.starred if matches(star, key)), None)

    def only(self, models: Mapping[str, CatalogModel], starred: Mapping[str, CatalogModel], ceiling: Lists) -> Catalog:
        """Return these models of the catalog alone; of what starred entries serve what the ceiling lets through."""
        is_cut = self.is_cut or len(models) + len(starred) < len(self._models) + len(self.starred)
        return Catalog(models, starred, self._aliases, ceiling, is_cut=is_cut)

    def _served(self, key: str) -> CatalogModel | None:
        star = self.star_of(key)
        if star is None:
            return None
        entry = self.starred[star]
        return evolve(entry, key=key, id=_starred_id(star, entry.id, key), name=key, entry=star)


def _starred_id(star: str, model_id: str, key: str) -> str:
    """Return the id of a served model: each star in it is what the star of the key matched (E21)."""
    pattern = "(.*)".join(re.escape(part) for part in star.split("*"))
    found = re.fullmatch(pattern, key, re.DOTALL)
    texts = list(found.groups()) if found else []
    return "".join(texts.pop(0) if char == "*" and texts else char for char in model_id)


# ------------------------------------------------------------------------------------------------- options


@frozen
class Test:
    """One key of a condition: what it is about (client, capability, trusted, credentials, an option), and what it
    must be.
    """

    about: str
    wanted: bool | tuple[str, ...]


Condition = tuple[Test, ...]
NEVER: Condition = (Test("client", ()),)
"""Holds for nobody: a policy left out what has it."""
"""All must hold; none: holds."""

Hidden = tuple[Condition, ...]
"""Hidden while one of them holds; none: never."""


def _exactly(meta: Mapping[str, Any]) -> str:
    """Return what tells tables apart that are equal in Python and not on the wire: 1, 1.0 and true."""
    return repr(meta) if meta else ""


@frozen
class RenderedValue:
    """A value as it is offered. `group` is None where the option has no groups."""

    value: str
    name: str
    description: str | None = None
    meta: Mapping[str, Any] = field(default=EMPTY, eq=_exactly)
    group: str | None = None
    group_name: str | None = None


@frozen
class RenderedOption:
    """An option as one client sees it. `current` is a bool where `kind` is "boolean"; then there are no values."""

    id: str
    name: str
    description: str | None
    category: str | None
    meta: Mapping[str, Any] = field(eq=_exactly)
    kind: Literal["select", "boolean"]
    current: str | bool
    values: tuple[RenderedValue, ...] = ()


@frozen
class Value:
    """One entry of something to choose from. `patch` is what it sets beside the implicit patch of its source.

    `from_data`: an entry of a source of data (also a decorated one, and those of `each`); it ranks before written
    values and modes (E7). `provider` is whose credentials it needs.
    """

    id: str
    shown: RenderedValue
    when: Condition = ()
    hidden: Hidden = ()
    forget: bool = False
    lasts: Literal["turn"] | float | None = None
    patch: Patch = NOTHING
    preselect: Mapping[str, str] = EMPTY
    from_source: bool = False
    from_data: bool = False
    provider: str | None = None

    def shown_as(self, shown: RenderedValue) -> Value:
        """Return this value as it is offered by an option of its own: `evolve`, quick enough for whole catalogs."""
        return Value(
            self.id,
            shown,
            self.when,
            self.hidden,
            self.forget,
            self.lasts,
            self.patch,
            self.preselect,
            self.from_source,
            self.from_data,
            self.provider,
        )


@frozen
class Default:
    """One link of a default chain: a value or a glob, and when it counts."""

    text: str
    when: Condition = ()


@frozen
class Filter:
    """Keeps the entries whose `field` fits. `options` are those whose values stand in the patterns as "{option}".

    `entries`: what the field says -> the entries that say it; those of which it is unknown are missing.
    """

    field: str
    patterns: tuple[str, ...]
    options: tuple[str, ...]
    entries: Mapping[tuple[str, ...], frozenset[str]]


@frozen
class Option:
    """Something that can be switched, with all its values. Booleans have the values "off" and "on".

    `values` stand in the order in which they are offered, `conditional` tells whether some have conditions or are
    hidden. Where the source is `model.reasoning` or `model.variants` they are the written ones that the source does
    not know, and `per_model` has what it gives for each model. `known`: everything that is a value anywhere;
    `setters`: those of them that set keys of their own. `target` is the key that an entry of the source goes into,
    `source_keys` all that its entries set. `starred`: the patches of models that are not listed; `other`: that of
    any value that is not listed.
    """

    id: str
    name: str
    kind: Literal["select", "boolean"] = "select"
    description: str | None = None
    category: str | None = None
    meta: Mapping[str, Any] = EMPTY
    values: Mapping[str, Value] = EMPTY
    conditional: bool = False
    known: Mapping[str, Value] = EMPTY
    setters: tuple[str, ...] = ()
    grouped: bool = False
    source: Source | None = None
    source_keys: tuple[Key, ...] = ()
    target: str | None = None
    filters: tuple[Filter, ...] = ()
    default: tuple[Default, ...] = ()
    data_default: str | None = None
    when: Condition = ()
    hidden: Hidden = ()
    forget: bool = False
    lasts: Literal["turn"] | float | None = None
    next_turn: bool = False
    per_model: Mapping[str, tuple[Value, ...]] = EMPTY
    open: bool = False
    other: Value | None = None
    starred: Mapping[str, Value] = EMPTY
    omit_unsupported: bool = False

    def patch(self, value: Value) -> Patch:
        """Return all that a value sets."""
        return implicit_patch(self.target, value.id).then(value.patch) if value.from_source else value.patch

    def keys(self, value: Value) -> Mapping[Key, Any]:
        """Return the keys that a value sets."""
        return self.patch(value).keys


@frozen
class Ownership:
    """Which keys an option owns (E1), and what the base says of them (E2).

    `base_values`: the values that set what the base says, the plainest first. `kept`: what the base says of owned
    keys and none of its values sets.
    """

    keys: frozenset[Key] = frozenset()
    base_values: tuple[str, ...] = ()
    kept: Mapping[Key, Any] = MappingProxyType({})


@frozen
class Wiring:
    """How an option hangs together with the others: what may preselect it or force it, in fold order.

    `inputs` is what its value depends on beside the client and the picks: options, MODEL_IN_FORCE. `listing_inputs` is
    what its list depends on: options, MODEL_IN_FORCE, "client".
    """

    inputs: tuple[str, ...] = ()
    listing_inputs: tuple[str, ...] = ()
    preselected_by: tuple[str, ...] = ()
    forced_by: tuple[str, ...] = ()


@frozen
class Command:
    """A slash command: a prompt template, and a value for the turn it starts."""

    name: str
    value: Value
    hint: str | None = None
    prompt: str | None = None
    switch_to: Mapping[str, str] = EMPTY


@frozen
class Base:
    """The base of the profile (`[agent]`). `commands` None: all; `tools` None: all."""

    patch: Patch = NOTHING
    permissions: tuple[str, ...] = ()
    auto_answers: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    tools: ListEdit | None = None


@frozen
class ToolKind:
    """What `[tool_kinds]` says of a tool."""

    kind: str | None = None
    title: str | None = None
    locations: tuple[str, ...] = ()


# ---------------------------------------------------------------------------------------------- the snapshot

MODEL_IN_FORCE = ""
"""Stands in `Snapshot.order` for the moment when the model in force is known (E31)."""


@frozen(eq=False)
class Snapshot:
    """One whole configuration, compiled. `options` are in fold order (E27), `order` is the order of working out."""

    name: str
    title: str | None
    version: str | None
    description: str | None
    prompt: tuple[str, ...]
    base: Base
    options: Mapping[str, Option]
    order: tuple[str, ...]
    display: tuple[str, ...]
    owners: Mapping[Key, str]
    ownership: Mapping[str, Ownership]
    wiring: Mapping[str, Wiring]
    models: Catalog
    model_values: Mapping[str, Value]
    providers: Mapping[str, Provider]
    discover: tuple[str, ...]
    permissions: Mapping[str, ReadySet]
    servers: Mapping[str, McpServer]
    server_tools: Mapping[str, tuple[str, ...]]
    commands: Mapping[str, Command]
    tools: Mapping[str, ToolDefinition]
    tool_kinds: tuple[tuple[str, ToolKind], ...]
    extensions: Mapping[str, Extension]
    forgetful: bool
    ceiling: Ceiling = OPEN
    resolved: Memo[Hashable, Any] = field(factory=lambda: Memo(256), repr=False)
    outcomes: Memo[Hashable, Any] = field(factory=lambda: Memo(512), repr=False)
    listings: Memo[Hashable, Any] = field(factory=lambda: Memo(256), repr=False)
