"""What a session shows -> ACP: config options, and the legacy view of modes, as messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from attrs import define, field

from agentoml.snapshot.memo import Memo
from agentoml.snapshot.patches import thaw
from agentoml.snapshot.resolve import RenderedOption, RenderedValue, Resolved
from agentoml.wire import messages
from agentoml.wire.frames import Encoded, encode_value


@define(eq=False)
class ConfigOptions:
    """Complete lists of config options, each serialised once however many sessions show it.

    What can be chosen changes less often than what is chosen, so it is kept apart; the values themselves are kept
    beside it, for they are known by their identity.
    """

    _lists: WeakKeyDictionary[Resolved, Encoded] = field(factory=WeakKeyDictionary)
    _values: Memo[int, tuple[tuple[RenderedValue, ...], Encoded]] = field(factory=lambda: Memo(256))

    def of(self, resolved: Resolved) -> Encoded:
        """Return the list that a client is shown of what is in force."""
        known = self._lists.get(resolved)
        if known is None:
            options = [self._option(option) for option in resolved.options]
            known = self._lists[resolved] = Encoded(encode_value(options))
        return known

    def _option(self, option: RenderedOption) -> dict[str, Any]:
        labels: messages.Labels = {
            "description": option.description,
            "category": option.category,
            "meta": _meta(option.meta),
        }
        if option.kind == "boolean":
            return messages.boolean_option(option.id, option.name, bool(option.current), **labels)
        offered = self._offered(option.values)
        return messages.select_option(option.id, option.name, str(option.current), offered, **labels)

    def _offered(self, values: tuple[RenderedValue, ...]) -> Encoded:
        known = self._values.get(id(values))
        if known is None:
            known = self._values.keep(id(values), (values, Encoded(encode_value(_in_groups(values)))))
        return known[1]


def mode_state(option: RenderedOption) -> dict[str, Any]:
    """Return the legacy view of the option `mode`."""
    modes = [messages.session_mode(value.value, value.name, value.description) for value in option.values]
    return messages.mode_state(str(option.current), modes)


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
