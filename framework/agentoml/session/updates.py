"""What a session shows -> ACP: config options, and the legacy view of modes, as messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from attrs import define, field

from agentoml.snapshot.memo import Memo
from agentoml.snapshot.patches import thaw
from agentoml.snapshot.resolve import RenderedOption, RenderedValue, Resolved
from agentoml.snapshot.snapshot import Snapshot
from agentoml.wire import messages
from agentoml.wire.frames import Encoded, encode_value

MOST_LISTS = 64
"""Lists that are kept. One of 10,000 models is half a megabyte, and most of it is kept once for all lists anyway."""

Offered = Memo[int, tuple[tuple[RenderedValue, ...], Encoded]]
"""The values of options, serialised; by their identity, so they are kept beside."""


@define(eq=False)
class ConfigOptions:
    """Complete lists of config options, each serialised once however many sessions show it.

    What can be chosen changes less often than what is chosen, so it is serialised apart. Nothing here keeps a snapshot.
    """

    _lists: WeakKeyDictionary[Resolved, Encoded] = field(factory=WeakKeyDictionary)
    _offered: WeakKeyDictionary[Snapshot, Offered] = field(factory=WeakKeyDictionary)

    def of(self, resolved: Resolved) -> Encoded:
        """Return the list that a client is shown of what is in force."""
        known = self._lists.get(resolved)
        if known is None:
            offered = self._offered.setdefault(resolved.shown.snapshot, Memo(MOST_LISTS))
            options = [_config_option(option, offered) for option in resolved.options]
            known = self._lists[resolved] = Encoded(encode_value(options))
            if len(self._lists) > MOST_LISTS:
                del self._lists[next(iter(self._lists))]
        return known


def mode_state(option: RenderedOption) -> dict[str, Any]:
    """Return the legacy view of the option `mode`."""
    modes = [messages.session_mode(value.value, value.name, value.description) for value in option.values]
    return messages.mode_state(str(option.current), modes)


def _config_option(option: RenderedOption, offered: Offered) -> dict[str, Any]:
    labels: messages.Labels = {
        "description": option.description,
        "category": option.category,
        "meta": _meta(option.meta),
    }
    if option.kind == "boolean":
        return messages.boolean_option(option.id, option.name, bool(option.current), **labels)
    values = _values(option.values, offered)
    return messages.select_option(option.id, option.name, str(option.current), values, **labels)


def _values(values: tuple[RenderedValue, ...], offered: Offered) -> Encoded:
    known = offered.get(id(values)) or offered.keep(id(values), (values, Encoded(encode_value(_in_groups(values)))))
    return known[1]


def _in_groups(values: tuple[RenderedValue, ...]) -> list[dict[str, Any]]:
    if all(value.group is None for value in values):
        return [_value(value) for value in values]
    groups: dict[str, list[dict[str, Any]]] = {}
    names: dict[str, str] = {}
    for value in values:
        group = value.group or ""
        groups.setdefault(group, []).append(_value(value))
        names.setdefault(group, value.group_name or group)
    return [messages.select_group(group, names[group], members) for group, members in groups.items()]


def _value(value: RenderedValue) -> dict[str, Any]:
    return messages.select_value(value.value, value.name, value.description, _meta(value.meta))


def _meta(meta: Mapping[str, Any]) -> dict[str, Any] | None:
    return thaw(meta) if meta else None
