"""All names of a configuration, looked through one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentoml.config.catalogs import lists
from agentoml.config.globs import EXCLUDES
from agentoml.config.problems import Path, Problem, quoted
from agentoml.config.schema import Config, Extension
from agentoml.config.vocabulary.profile import Value
from agentoml.config.vocabulary.unit_tests import UnitTest
from agentoml.snapshot.linking.names import CONDITION_WORDS, Found, Names, unknown
from agentoml.snapshot.linking.option_tables import MODE, OptionTable
from agentoml.snapshot.linking.values import NO_SET
from agentoml.snapshot.placeholders import ALL_VALUES, option_of, placeholders
from agentoml.snapshot.snapshot import Catalog, Option


def name_problems(
    config: Config, catalog: Catalog, tables: Mapping[str, OptionTable], options: Mapping[str, Option]
) -> Iterator[Problem]:
    """Yield a problem for each name that names nothing."""
    names = Names(config, catalog, tables, options)
    agent = ("agent",)
    yield from names.profile(config.agent, agent)
    for index, name in enumerate(config.agent.option_order):
        if name not in options and name not in config.options:
            yield unknown(name, "option", (*agent, "option_order", index), options)
    for path, value, of_provider in _written_values(config):
        yield from _value(names, value, path, of_provider=of_provider)
    checked = set()
    for table in tables.values():
        if table.path not in checked:
            checked.add(table.path)
            yield from names.option(table)
    yield from _ids(config, tables)
    yield from _mode(config)
    yield from _models(config, catalog)
    yield from _catalogs(config)
    yield from _commands_and_tools(names)
    for method, extension in config.extensions.items():
        yield from _extension(names, extension, ("extensions", method))
    for name, test in config.tests.items():
        yield from _test(names, test, ("tests", name))


def _value(names: Names, value: Value, path: Path, *, of_provider: bool) -> Found:
    yield from names.condition(value.when, (*path, "when"), of_provider=of_provider)
    if not isinstance(value.hidden, bool):
        yield from names.condition(value.hidden, (*path, "hidden"), of_provider=of_provider)
    yield from names.profile(value.set, (*path, "set"))
    if value.set.permissions is not None and value.set.permissions.remove:
        yield Problem(
            "AGT111",
            "no value takes a permission set away: what the base denies or always asks, nothing lifts",
            (*path, "set", "permissions", "remove"),
            hint="put the set where it is to count, or answer its questions by `auto_answers.add`",
            at="key",
        )
    yield from names.picks(value.preselect, (*path, "preselect"))


def _written_values(config: Config) -> Iterator[tuple[Path, Value, bool]]:
    """Yield the values that may name something, with their places, and whether they have credentials to speak of."""
    for name, mode in config.modes.items():
        yield ("modes", name), mode, False
    for option_id, option in config.options.items():
        of_provider = option.values_from in ("models", "model.variants", "providers")
        for value_id, value in option.values.items():
            yield ("options", option_id, "values", value_id), value, of_provider
        yield ("options", option_id, "on"), option.on, False
        yield ("options", option_id, "off"), option.off, False
        if option.other is not None:
            yield ("options", option_id, "other"), option.other, False
    for name, provider in config.providers.items():
        yield ("providers", name), provider, True
    for key, model in config.models.items():
        if model.when or model.hidden or model.preselect or model.set is not NO_SET:
            yield ("models", key), model, True
        for name, variant in model.variants.items():
            yield ("models", key, "variants", name), variant, True
    for table in ("permissions", "mcp", "commands"):
        for name, value in getattr(config, table).items():
            yield (table, name), value, False


def _ids(config: Config, tables: Mapping[str, OptionTable]) -> Found:
    """An option needs an id of its own, which conditions can name."""
    for name in config.options:
        if name in CONDITION_WORDS:
            message = f"an option can't be called {quoted(name)}: conditions mean something else by it"
            yield Problem("AGT110", message, ("options", name), hint="give it another name", at="key")
    for name, table in tables.items():
        if table.entry is not None and name in config.options:
            message = f"{quoted(name)} already is the switch of an entry of {quoted(table.path[-1])}"
            yield Problem("AGT110", message, ("options", name), hint="give it another name", at="key")


def _mode(config: Config) -> Found:
    """[modes] feeds the option `mode`: a source or type of its own would be silently ignored."""
    written = config.options.get(MODE)
    if written is None or not config.modes:
        return
    for key, clashes in (
        ("values_from", written.values_from not in (None, "modes")),
        ("type", written.type != "select"),
        ("each", written.each is not None),
    ):
        if clashes:
            message = f"`{key}` clashes with [modes], which feeds the option `mode`"
            yield Problem("AGT105", message, ("options", MODE, key), hint="give this option another name", at="key")


def _models(config: Config, catalog: Catalog) -> Found:
    aliases: dict[str, str] = {}
    for key, model in config.models.items():
        path = ("models", key)
        if model.provider is None:
            yield Problem("AGT104", "a model needs `provider`", path, at="key")
        elif model.provider not in config.providers:
            yield unknown(model.provider, "provider", (*path, "provider"), config.providers)
        for index, name in enumerate(model.fallback):
            if name not in catalog:
                yield unknown(name, "model", (*path, "fallback", index), catalog)
        for index, alias in enumerate(model.aliases):
            taken = alias if alias in config.models else aliases.get(alias)
            if taken is not None:
                message = f"{quoted(alias)} already is the model {quoted(taken)}"
                yield Problem("AGT201", message, (*path, "aliases", index), hint="an alias stands for one model")
            aliases[alias] = key
        if "*" in (model.id or "") and (model.id or "").count("*") > key.count("*"):
            yield Problem("AGT110", "a star of `id` is what a star of the key matched", (*path, "id"))


def _catalogs(config: Config) -> Found:
    for name, catalog in config.catalogs.items():
        path = ("catalogs", name, "discover")
        provider = config.providers.get(catalog.discover or "")
        if catalog.discover is not None and provider is None:
            yield unknown(catalog.discover, "provider", path, config.providers)
        elif provider is not None and provider.adapter not in lists.ADAPTERS:
            message = f"the adapter {quoted(provider.adapter or '')} has no list of models"
            yield Problem("AGT207", message, path, hint="name a `file` of models instead")


def _commands_and_tools(names: Names) -> Found:
    config = names.config
    for name, command in config.commands.items():
        yield from names.picks(command.switch_to, ("commands", name, "switch_to"))
    for name, tool in config.tools.items():
        for index, choice in enumerate(tool.choices):
            yield from names.picks(choice.switch_to, ("tools", name, "choices", index, "switch_to"))
    for name in config.tool_kinds:
        if name.startswith("mcp:"):
            yield from (problem._replace(at="key") for problem in names.selector(name, ("tool_kinds", name)))
    for set_name, permissions in config.permissions.items():
        for rule_name, rule in permissions.rules.items():
            for selector in rule.tool or ():
                yield from names.selector(selector, ("permissions", set_name, "rules", rule_name, "tool"))


def _extension(names: Names, extension: Extension, path: Path) -> Found:
    for field, option in extension.params.items():
        if option not in names.options:
            yield unknown(option, "option", (*path, "params", field), names.options)
    for where, name in placeholders(extension.result, (*path, "result")):
        if option_of(name, names.options) is None:
            yield unknown(name.removesuffix(ALL_VALUES), "option", where, names.options)


def _test(names: Names, test: UnitTest, path: Path) -> Found:
    given, expect = test.given, test.expect
    if given.mode is not None:
        yield from (found._replace(path=(*path, "given", "mode")) for found in names.picks({MODE: given.mode}, ()))
    yield from names.picks(given.options, (*path, "given", "options"))
    for index, provider in enumerate(given.client.providers or ()):
        if provider not in names.config.providers:
            where = (*path, "given", "client", "providers", index)
            yield unknown(provider, "provider", where, names.config.providers)
    if given.tool is not None:
        yield from names.tool(given.tool, (*path, "given", "tool"))
    if expect.model is not None and expect.model not in names.catalog:
        yield unknown(expect.model, "model", (*path, "expect", "model"), names.catalog)
    yield from names.picks(expect.options, (*path, "expect", "options"))
    for option in expect.values:
        if option not in names.options:
            yield unknown(option, "option", (*path, "expect", "values", option), names.options, at_key=True)
    for index, tool in enumerate(expect.tools or ()):
        yield from names.tool(tool.removeprefix(EXCLUDES), (*path, "expect", "tools", index))
