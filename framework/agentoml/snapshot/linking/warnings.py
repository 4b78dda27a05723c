"""What is allowed and perhaps not meant: told by `check`, in the way of nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from agentoml.config.problems import Path, Problem, did_you_mean, quoted
from agentoml.config.schema import Config
from agentoml.snapshot.linking.option_tables import OptionTable
from agentoml.snapshot.linking.places import place_of
from agentoml.snapshot.linking.wiring import values_of
from agentoml.snapshot.patches import Key, Patch
from agentoml.snapshot.resolving.forcing import fitting_values
from agentoml.snapshot.snapshot import Catalog, Option, Ownership
from agentoml.tools.command import unknown_places, unused_parameters

NAMES_NOTHING = frozenset({"AGT201", "AGT205"})


def base_warnings(ownership: Mapping[str, Ownership]) -> Iterator[Problem]:
    """Yield the values of the base that none of their option's values sets (E2)."""
    for name, owned in ownership.items():
        for key in owned.kept:
            yield Problem(
                "AGT251",
                f"no value of the option {quoted(name)} sets {quoted('.'.join(key))} so",
                ("agent", *key),
                hint="it stays wherever the option's value sets nothing; write a value for it, or leave it out",
                severity="warning",
            )


def forcing_warnings(
    config: Config,
    tables: Mapping[str, OptionTable],
    options: Mapping[str, Option],
    owners: Mapping[Key, str],
    catalog: Catalog,
) -> Iterator[Problem]:
    """Yield the values that take another option away, because none of its values sets what they set (E4)."""
    for option in options.values():
        for value in values_of(option):
            for owner, keys in _claimed(option.id, value.patch, owners).items():
                if not fitting_values(options[owner], keys, catalog):
                    key = next(iter(keys))
                    yield _takes_away(owner, key, place_of(config, tables[option.id], value.id, ("set", *key)))


@frozen
class Forcing:
    """A value that forces an option of somebody else to one of its values (E3)."""

    option: str
    value: str
    forced: str
    to: str


def forcings(options: Mapping[str, Option], owners: Mapping[Key, str], catalog: Catalog) -> Iterator[Forcing]:
    """Yield every value that forces an option, whichever is active."""
    for option in options.values():
        for value in values_of(option):
            for owner, keys in _claimed(option.id, value.patch, owners).items():
                fitting = fitting_values(options[owner], keys, catalog)
                if fitting:
                    yield Forcing(option.id, value.id, owner, fitting[0])


def _claimed(option_id: str, patch: Patch, owners: Mapping[Key, str]) -> Mapping[str, Mapping[Key, object]]:
    """Return the keys that a value sets and other options own, by owner."""
    found: dict[str, dict[Key, object]] = {}
    for key, said in patch.keys.items():
        owner = owners.get(key, option_id)
        if owner != option_id:
            found.setdefault(owner, {})[key] = said
    return found


def _takes_away(owner: str, key: Key, path: Path) -> Problem:
    return Problem(
        "AGT252",
        f"no value of the option {quoted(owner)} sets {quoted('.'.join(key))} so: the option is not there meanwhile",
        path,
        hint="write a value for it, or set what one of its values sets",
        severity="warning",
    )


def place_warnings(config: Config) -> Iterator[Problem]:
    """Yield the places of tools with a command that no parameter fills, and the parameters that fill none."""
    for name, tool in config.tools.items():
        unknown = tuple(unknown_places(tool)) if tool.command is not None else ()
        for where, place in unknown:
            yield Problem(
                "AGT257",
                f"the tool {quoted(name)} has no parameter {quoted(place)}",
                ("tools", name, *where),
                hint=did_you_mean(place, tool.parameters) or "declare it among `parameters`, if it is meant to be one",
                severity="warning",
            )
        for parameter in unused_parameters(tool) if tool.command is not None and not unknown else ():
            yield Problem(
                "AGT258",
                f"the parameter {quoted(parameter)} of the tool {quoted(name)} never reaches its command",
                ("tools", name, "parameters", parameter),
                hint=f"write {quoted('{' + parameter + '}')} where the command is to have it, or leave it out",
                at="key",
                severity="warning",
            )


def unlisted(config: Config, problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the catalogs whose provider has no models yet, where a name that names nothing may be one of them."""
    if not any(problem.code in NAMES_NOTHING for problem in problems):
        return
    serving = {model.provider for model in config.models.values()}
    for name, catalog in config.catalogs.items():
        provider = catalog.discover or ""
        if provider in config.providers and catalog.file is None and provider not in serving:
            yield Problem(
                "AGT256",
                f"the provider {quoted(provider)} has not been asked for its models yet",
                ("catalogs", name, "discover"),
                hint="`agentoml catalog sync` asks it; then names of its models are known",
                severity="warning",
            )
