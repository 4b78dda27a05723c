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

HOLE = Encoded(b"\0")
"""Stands in a template where something else goes in: JSON itself has no such byte."""


@define(eq=False)
class Pieces:
    """What the lists of one snapshot are put together from, and the last of them: each serialised once.

    `templates`: options, cut where their current value and their values go in. All others are found by the identity of
    what they say, which is kept beside them.
    """

    templates: dict[tuple[str, str], list[bytes]] = field(factory=dict)
    values: Memo[int, tuple[tuple[RenderedValue, ...], bytes]] = field(factory=lambda: Memo(MOST_LISTS))
    options: Memo[int, tuple[RenderedOption, tuple[bytes, ...]]] = field(factory=lambda: Memo(MOST_LISTS))
    lists: Memo[int, tuple[tuple[RenderedOption, ...], Encoded]] = field(factory=lambda: Memo(MOST_LISTS))

    def list_of(self, options: tuple[RenderedOption, ...]) -> Encoded:
        """Return options as JSON."""
        known = self.lists.get(id(options))
        if known is None:
            pieces = [piece for option in options for piece in self._option(option)]
            known = self.lists.keep(id(options), (options, Encoded(b"[", *pieces[1:], b"]")))
        return known[1]

    def _option(self, option: RenderedOption) -> tuple[bytes, ...]:
        """Return the pieces of an option, a comma before them."""
        known = self.options.get(id(option))
        if known is None:
            key = (option.id, option.kind)
            before, *behind = self.templates.get(key) or self.templates.setdefault(key, _template(option))
            pieces = (b",", before, encode_value(option.current), *behind)
            if option.kind == "select":
                pieces = (*pieces[:-1], self._values(option.values), pieces[-1])
            known = self.options.keep(id(option), (option, pieces))
        return known[1]

    def _values(self, values: tuple[RenderedValue, ...]) -> bytes:
        key = id(values)
        return (self.values.get(key) or self.values.keep(key, (values, encode_value(_in_groups(values)))))[1]


@define(eq=False)
class ConfigOptions:
    """Complete lists of config options, each serialised once however many sessions show it.

    What can be chosen changes less often than what is chosen, so it is serialised apart. Nothing here keeps a snapshot.
    """

    _pieces: WeakKeyDictionary[Snapshot, Pieces] = field(factory=WeakKeyDictionary)

    def of(self, resolved: Resolved) -> Encoded:
        """Return the list that a client is shown of what is in force."""
        snapshot = resolved.shown.snapshot
        pieces = self._pieces.get(snapshot) or self._pieces.setdefault(snapshot, Pieces())
        return pieces.list_of(resolved.options)


def mode_state(option: RenderedOption) -> dict[str, Any]:
    """Return the legacy view of the option `mode`."""
    modes = [messages.session_mode(value.value, value.name, value.description) for value in option.values]
    return messages.mode_state(str(option.current), modes)


def _template(option: RenderedOption) -> list[bytes]:
    """Return an option as JSON, cut at its current value and, of a select, at its values."""
    labels: messages.Labels = {
        "description": option.description,
        "category": option.category,
        "meta": _meta(option.meta),
    }
    if option.kind == "boolean":
        message = messages.boolean_option(option.id, option.name, HOLE, **labels)
    else:
        message = messages.select_option(option.id, option.name, HOLE, HOLE, **labels)
    return encode_value(message).split(HOLE.json)


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
