"""Config -> linked: every name is the thing it names, every option has its values, its keys, its place in the order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from agentoml.config.problems import Problem, quoted
from agentoml.config.schema import Config
from agentoml.errors import ConfigError
from agentoml.permissions.examples import failures
from agentoml.permissions.sets import compile_set
from agentoml.snapshot.linking.catalog import catalog
from agentoml.snapshot.linking.litellm_params import astray_params
from agentoml.snapshot.linking.option_tables import MODE, OptionTable, option_tables
from agentoml.snapshot.linking.options import built_option
from agentoml.snapshot.linking.owners import Clash, owners, ownership
from agentoml.snapshot.linking.permission_warnings import permission_warnings
from agentoml.snapshot.linking.places import place_of
from agentoml.snapshot.linking.references import name_problems
from agentoml.snapshot.linking.values import Values
from agentoml.snapshot.linking.warnings import base_warnings, forcing_warnings, place_warnings, unlisted
from agentoml.snapshot.linking.wiring import Edge, edges, working_order
from agentoml.snapshot.patches import Key, Patch, base_permissions
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, Catalog, Option, Ownership, Value
from agentoml.snapshot.tool_names import ToolTables, tool_kinds


@frozen(eq=False)
class Linked:
    """A configuration without dangling names. `warnings` are what `check` tells beside."""

    config: Config
    catalog: Catalog
    values: Values
    base: Patch
    options: Mapping[str, Option]
    models: Mapping[str, Value]
    owners: Mapping[Key, str]
    ownership: Mapping[str, Ownership]
    order: tuple[str, ...]
    warnings: tuple[Problem, ...] = ()


def link(config: Config, before: Linked | None = None) -> Linked:
    """Give every name in a configuration its thing. What models gave `before` they give again where they are the same.

    Raises:
        ConfigError: every name that names nothing, every key that two options set, every circle (E1, E4, E22, E31),
            every second selector of modes, and every example that does not hold (E50).
    """
    same = _same_models(config, before) if before is not None else ()
    models = catalog(config.models, {key: before.catalog[key] for key in same} if before is not None else {})
    tables = option_tables(config)
    values = Values(config, models, tables)
    if before is not None:
        values.keep(before.models[key] for key in same)
    options = {name: built_option(table, values) for name, table in tables.items()}
    as_values = {entry.id: values.own(entry) for entry in values.entries("models")}
    owned, clashes = owners(options)
    found = edges(options, owned, as_values)
    order, circles = working_order([*options, MODEL_IN_FORCE], found)
    problems = [
        *name_problems(config, models, tables, options),
        *(problem for clash in clashes for problem in _clash(clash, tables)),
        *_second_modes(tables),
        *_examples(config),
        *astray_params(config),
        *(problem for circle in circles for problem in _circle(circle, config, tables)),
    ]
    if problems:
        raise ConfigError([*problems, *unlisted(config, problems)])
    base = values.patch(config.agent)
    owning = {name: ownership(option, owned, base, models) for name, option in options.items()}
    of_commands = {name: values.patch(command.set) for name, command in config.commands.items()}
    warnings = (
        *base_warnings(owning),
        *forcing_warnings(config, tables, options, owned, models),
        *permission_warnings(config, base_permissions(config.agent), tables, options, of_commands),
        *place_warnings(config),
    )
    return Linked(config, models, values, base, options, as_values, owned, owning, order, warnings)


def _same_models(config: Config, before: Linked) -> tuple[str, ...]:
    """Return the listed models that are the very objects that they were."""
    were = before.config.models
    return tuple(key for key, model in config.models.items() if model is were.get(key) and "*" not in key)


def _clash(clash: Clash, tables: Mapping[str, OptionTable]) -> Iterator[Problem]:
    names = (clash.first.id, clash.second.id)
    for name, other in (names, names[::-1]):
        yield Problem(
            "AGT203",
            f"the options {quoted(name)} and {quoted(other)} both set {quoted('.'.join(clash.key))}",
            (*tables[name].path, "each" if tables[name].entry else "values_from"),
            hint="keep one of them, or let one put its value elsewhere by `sets`",
        )


def _second_modes(tables: Mapping[str, OptionTable]) -> Iterator[Problem]:
    """Yield what would stand beside the modes in a client that shows one selector of them (acp.md 2.8)."""
    if MODE in tables:
        for name, table in tables.items():
            if name != MODE and table.written.category == MODE:
                yield Problem(
                    "AGT103",
                    f'the category "mode" is that of the option {quoted(MODE)}, which is there too',
                    (*table.path, "category"),
                    hint='leave it out, or take one of your own, such as "_style"',
                )


def _circle(circle: tuple[Edge, ...], config: Config, tables: Mapping[str, OptionTable]) -> Iterator[Problem]:
    """Yield a problem at each place of a circle."""
    way = " -> ".join(_node(node) for node in (circle[0].node, *(edge.needs for edge in circle)))
    for edge in circle:
        yield Problem(
            "AGT202",
            f"{_node(edge.node)} depends on {_node(edge.needs)} here, and so on itself: {way}",
            place_of(config, tables.get(edge.option), edge.value, edge.key),
            hint="remove one of these conditions or settings",
        )


def _examples(config: Config) -> Iterator[Problem]:
    """Yield the examples of permission sets that do not come out as they say (E50)."""
    tools = ToolTables(config.tools, tool_kinds(config.tool_kinds))
    for name, written in config.permissions.items():
        if written.examples:
            for failure in failures(compile_set(name, written), written.examples, tools.call):
                yield Problem(
                    "AGT204",
                    f"the example {quoted(failure.name)} comes out as {failure.found}, not as {failure.expected}",
                    ("permissions", name, "examples", failure.name, "expect"),
                    hint="an example is judged by its own set alone",
                )


def _node(node: str) -> str:
    return "the model in force" if node == MODEL_IN_FORCE else f"the option {quoted(node)}"
