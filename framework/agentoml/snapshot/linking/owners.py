"""Which option owns which keys of the profile, and what the base says of them (E1, E2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from attrs import frozen

from agentoml.snapshot.linking.option_tables import MODE
from agentoml.snapshot.patches import NOTHING, Key, Patch
from agentoml.snapshot.precedence import most_specific
from agentoml.snapshot.resolving.forcing import fitting_values
from agentoml.snapshot.snapshot import ON, Catalog, Option, Ownership


@frozen
class Clash:
    """Two options whose sources set the same key."""

    first: Option
    second: Option
    key: Key


def owners(options: Mapping[str, Option]) -> tuple[Mapping[Key, str], tuple[Clash, ...]]:
    """Return the owner of each owned key: by its source, else the first one whose written values set it (E1)."""
    found: dict[Key, str] = {}
    clashes = []
    others = [option for option in options.values() if option.id != MODE]
    for option in others:
        for key in option.source_keys:
            if key in found:
                clashes.append(Clash(options[found[key]], option, key))
            found.setdefault(key, option.id)
    for option in others:
        if option.source is None and not option.source_keys:
            for key in _written_keys(option):
                found.setdefault(key, option.id)
    return MappingProxyType(found), tuple(clashes)


def _written_keys(option: Option) -> Iterator[Key]:
    """Yield the keys that a boolean's `on`, or two values or more, set and no value that has a `set` leaves out."""
    values = [*option.values.values(), *([option.other] if option.other else [])]
    patches = [value.patch for value in values if value.patch != NOTHING]
    needed = 1 if option.kind == "boolean" else 2
    candidates = (
        option.values[ON].patch.keys
        if option.kind == "boolean"
        else {key: 0 for patch in patches for key in patch.keys}
    )
    for key in candidates:
        if len(patches) >= needed and all(key in patch.keys for patch in patches):
            yield key


def ownership(option: Option, owned: Mapping[Key, str], base: Patch, models: Catalog) -> Ownership:
    """Return what an option owns, and which of its values say what the base says."""
    keys = frozenset(key for key, owner in owned.items() if owner == option.id)
    said = dict(_of_base(keys, base))
    kept: dict[Key, Any] = {}
    fitting: dict[str, bool] = {}
    for key, value in said.items():
        found = fitting_values(option, {key: value}, models)
        if not found:
            kept[key] = value
        fitting.update({name: _says_no_more(option, name, keys, said) for name in found if name not in fitting})
    return Ownership(
        keys=keys,
        base_values=tuple(name for name, says_no_more in fitting.items() if says_no_more),
        kept=MappingProxyType(kept),
    )


def _of_base(keys: frozenset[Key], base: Patch) -> Iterator[tuple[Key, Any]]:
    """Yield what the base says of owned keys; of a server also by a glob (E29)."""
    for key in sorted(keys):
        if key in base.keys:
            yield key, base.keys[key]
        elif key[0] == "mcp":
            on = most_specific(base.server_globs, key[1])
            if on is not None:
                yield key, on


def _says_no_more(option: Option, value_id: str, keys: frozenset[Key], said: Mapping[Key, Any]) -> bool:
    """Return whether the base says all that a value sets of the owned keys."""
    value = option.known.get(value_id)
    return value is None or all(said.get(key) == set_ for key, set_ in option.keys(value).items() if key in keys)
