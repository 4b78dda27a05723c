"""Linked -> Snapshot: whatever depends neither on a client nor on what its user picks is worked out here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from agentoml.config.schema import Agent
from agentoml.config.schema import Catalog as CatalogTable
from agentoml.permissions.sets import compile_sets
from agentoml.snapshot.link import Linked
from agentoml.snapshot.linking.option_tables import OptionTable
from agentoml.snapshot.linking.wiring import wiring
from agentoml.snapshot.patches import Patch, base_permissions, freeze, text_of
from agentoml.snapshot.resolving.fold import edited_commands
from agentoml.snapshot.snapshot import Base, Command, Option, Snapshot
from agentoml.snapshot.tool_names import tool_kinds


def compile_(linked: Linked) -> Snapshot:
    """Return the snapshot of a linked configuration."""
    config, values = linked.config, linked.values
    commands = {
        name: Command(
            name=name,
            value=values.written(name, command),
            hint=command.hint,
            prompt=text_of(command.prompt),
            switch_to=values.picks(command.switch_to),
        )
        for name, command in config.commands.items()
    }
    agent = config.agent
    return Snapshot(
        name=agent.name or "agentoml",
        title=agent.title,
        version=agent.version,
        description=agent.description,
        prompt=agent.prompt,
        base=_base(agent, linked.base, commands),
        options=MappingProxyType(dict(linked.options)),
        order=linked.order,
        display=_display(linked.options, values.tables, agent.option_order),
        owners=linked.owners,
        ownership=MappingProxyType(dict(linked.ownership)),
        wiring=MappingProxyType(dict(wiring(linked.options, linked.owners))),
        models=linked.catalog,
        model_values=MappingProxyType(dict(linked.models)),
        providers=freeze(config.providers),
        discover=_discovered(config.catalogs),
        permissions=MappingProxyType(dict(compile_sets(config.permissions))),
        servers=freeze(config.mcp),
        server_tools=MappingProxyType(
            {name: tuple(("*",) if server.tools is None else server.tools) for name, server in config.mcp.items()}
        ),
        commands=MappingProxyType(commands),
        tools=freeze(config.tools),
        tool_kinds=tool_kinds(config.tool_kinds),
        extensions=freeze(config.extensions),
        forgetful=any(_forgets(option) for option in linked.options.values()),
    )


def _discovered(catalogs: Mapping[str, CatalogTable]) -> tuple[str, ...]:
    """Return the providers that are asked for their models; what a file has been written from is not asked again."""
    found = (catalog.discover for catalog in catalogs.values() if catalog.file is None)
    return tuple(dict.fromkeys(provider for provider in found if provider is not None))


def _base(agent: Agent, patch: Patch, commands: Iterable[str]) -> Base:
    """Return the base of the profile; what is not given is as section 1 says: never "no rules"."""
    offered = tuple(commands)
    if agent.commands is not None:
        offered = edited_commands(offered, agent.commands, offered)
    return Base(
        patch=patch,
        permissions=base_permissions(agent),
        auto_answers=agent.auto_answers.apply(()) if agent.auto_answers else (),
        context_files=agent.context_files.apply(()) if agent.context_files else (),
        commands=offered,
        tools=agent.tools,
    )


def _display(
    options: Mapping[str, Option], tables: Mapping[str, OptionTable], wanted: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the options as they are shown: those that `option_order` names first, the others as declared."""
    named = [name for one in wanted for name in options if name == one or tables[name].path[-1] == one]
    return tuple(dict.fromkeys((*named, *options)))


def _forgets(option: Option) -> bool:
    of_models = (value for values in option.per_model.values() for value in values)
    return option.forget or any(value.forget for value in (*option.values.values(), *of_models))
