"""What depends on what among options, and the order in which they are worked out (E31)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from agentoml.snapshot.patches import MODEL, Key
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, Condition, Option, Value, Wiring

NOT_OPTIONS = frozenset({"client", "trusted", "credentials", "capability"})


@frozen
class Edge:
    """`needs` must be known before `node`: because of `key` of a value (None: of the option itself) of `option`.

    Nodes are option ids, and MODEL_IN_FORCE.
    """

    node: str
    needs: str
    option: str
    value: str | None
    key: tuple[str, ...]


def edges(options: Mapping[str, Option], owners: Mapping[Key, str], models: Mapping[str, Value]) -> tuple[Edge, ...]:
    """Return every edge. `models` are the models as values: their conditions decide which is the first (E23)."""
    found = [edge for option in options.values() for edge in _of_option(option, owners)]
    for value in models.values():
        if value.when or value.hidden:
            found += [Edge(MODEL_IN_FORCE, about, "", value.id, key) for about, key in _conditions(value)]
    nodes = {MODEL_IN_FORCE, *options}
    return tuple(edge for edge in found if edge.needs in nodes and edge.node in nodes)


def _of_option(option: Option, owners: Mapping[Key, str]) -> Iterator[Edge]:
    node = option.id
    for about in _about(option.when):
        yield Edge(node, about, node, None, ("when", _word(about)))
    for default in option.default:
        for about in _about(default.when):
            yield Edge(node, about, node, None, ("default",))
    for found in option.filters:
        for about in found.options:
            yield Edge(node, about, node, None, ("filter", found.field))
    if option.source in ("model.reasoning", "model.variants"):
        yield Edge(node, MODEL_IN_FORCE, node, None, ("values_from",))
    for key in option.source_keys:
        if key == MODEL:
            yield Edge(MODEL_IN_FORCE, node, node, None, ("values_from",))
        if owners.get(key, node) != node:
            yield Edge(owners[key], node, node, None, ("values_from",))
    for value in values_of(option):
        yield from _of_value(option, value, owners)


def _of_value(option: Option, value: Value, owners: Mapping[Key, str]) -> Iterator[Edge]:
    node = option.id
    for about, key in _conditions(value):
        yield Edge(node, about, node, value.id, key)
    for target in value.preselect:
        yield Edge(target, node, node, value.id, ("preselect", target))
    for key in value.patch.keys:
        owner = owners.get(key)
        if owner is not None and owner != node:
            yield Edge(owner, node, node, value.id, ("set", *key))
        if key == MODEL:
            yield Edge(MODEL_IN_FORCE, node, node, value.id, ("set", "model"))


def values_of(option: Option) -> Iterator[Value]:
    """Yield the values of an option that say more than their name, whichever model is in force."""
    given = {id(values): values for values in option.per_model.values()}
    for values in (
        option.values.values(),
        *given.values(),
        option.starred.values(),
        (option.other,) if option.other else (),
    ):
        for value in values:
            if value.when or value.hidden or value.preselect or value.patch.keys:
                yield value


def _conditions(value: Value) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from ((about, ("when", _word(about))) for about in _about(value.when))
    for condition in value.hidden:
        yield from ((about, ("hidden", _word(about))) for about in _about(condition))


def _about(condition: Condition) -> Iterator[str]:
    """Yield the nodes that a condition looks at."""
    for test in condition:
        if test.about == "capability":
            yield MODEL_IN_FORCE
        elif test.about not in NOT_OPTIONS:
            yield test.about


def _word(node: str) -> str:
    return "capability" if node == MODEL_IN_FORCE else node


# ---------------------------------------------------------------------------------------- order and circles


def working_order(nodes: Iterable[str], found: Iterable[Edge]) -> tuple[tuple[str, ...], tuple[tuple[Edge, ...], ...]]:
    """Return the nodes so that each follows what it needs, as declared where that is free; and the circles.

    A circle is its edges, one after the other. Where there are circles, their nodes are missing from the order.
    """
    needs: dict[str, dict[str, Edge]] = {node: {} for node in nodes}
    for edge in found:
        needs[edge.node].setdefault(edge.needs, edge)
    order: list[str] = []
    circles: list[tuple[Edge, ...]] = []
    left = dict(needs)
    while left:
        ready = next((node for node, needed in left.items() if not any(other in left for other in needed)), None)
        if ready is None:
            circle = _circle(left)
            circles.append(circle)
            for edge in circle:
                left.pop(edge.node, None)
            continue
        order.append(ready)
        del left[ready]
    return tuple(order), tuple(circles)


def _circle(left: Mapping[str, Mapping[str, Edge]]) -> tuple[Edge, ...]:
    """Return a shortest circle among nodes that all need one another."""
    best: tuple[Edge, ...] = ()
    for start in left:
        ways: dict[str, tuple[Edge, ...]] = {start: ()}
        waiting = [start]
        for node in waiting:
            for needed, edge in left[node].items():
                if needed == start and (not best or len(ways[node]) + 1 < len(best)):
                    best = (*ways[node], edge)
                elif needed in left and needed not in ways:
                    ways[needed] = (*ways[node], edge)
                    waiting.append(needed)
    return best


def wiring(options: Mapping[str, Option], owners: Mapping[Key, str]) -> Mapping[str, Wiring]:
    """Return for each option what it and its list depend on, and what may preselect and force it."""
    preselected_by: dict[str, dict[str, None]] = {name: {} for name in options}
    forced_by: dict[str, dict[str, None]] = {name: {} for name in options}
    for name, option in options.items():
        for value in values_of(option):
            for target in value.preselect:
                preselected_by.get(target, {})[name] = None
            for key in value.patch.keys:
                if owners.get(key, name) != name:
                    forced_by[owners[key]][name] = None
        for key in option.source_keys:
            if owners.get(key, name) != name:
                forced_by[owners[key]][name] = None
    nodes = {MODEL_IN_FORCE, *options}
    wired = {}
    for name, option in options.items():
        listing_inputs = tuple(dict.fromkeys(_listing_inputs(option)))
        found = (*listing_inputs, *preselected_by[name], *forced_by[name], *_looked_at(option))
        wired[name] = Wiring(
            inputs=tuple(dict.fromkeys(node for node in found if node in nodes)),
            listing_inputs=listing_inputs,
            preselected_by=tuple(preselected_by[name]),
            forced_by=tuple(forced_by[name]),
        )
    return wired


def _looked_at(option: Option) -> Iterator[str]:
    yield from _about(option.when)
    for default in option.default:
        yield from _about(default.when)


def _listing_inputs(option: Option) -> Iterator[str]:
    if option.per_model:
        yield MODEL_IN_FORCE
    for found in option.filters:
        yield from found.options
    for value in values_of(option):
        for condition in (value.when, *value.hidden):
            for test in condition:
                if test.about == "capability":
                    yield MODEL_IN_FORCE
                else:
                    yield "client" if test.about in NOT_OPTIONS else test.about
