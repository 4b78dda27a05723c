"""Where in the files an option or one of its values says something: for problems only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentoml.config.problems import Path
from agentoml.config.schema import Config
from agentoml.snapshot.linking.option_tables import OptionTable


def place_of(config: Config, table: OptionTable | None, value: str | None, key: tuple[str, ...]) -> Path:
    """Return the key path at which an option (`table` None: the catalog) or one of its values says `key`."""
    candidates = [("models", value or "")] if table is None else list(_tables(config, table, value))
    said = (path for path in candidates if _says(config, (*path, *key)))
    found = next(said, None)
    return (*found, *key) if found is not None else candidates[0]


def _tables(config: Config, table: OptionTable, value: str | None) -> Iterator[tuple[str, ...]]:
    """Yield the tables in which a value, or the option itself, may be written."""
    if value is None:
        yield table.path
    elif table.is_boolean:
        yield ("options", table.path[-1], value)
    elif value == "":
        yield (*table.path, "other")
    else:
        yield ("options", table.path[-1], "values", value)
        source = table.written.values_from
        if source is not None and source.startswith("model."):
            yield from (("models", model, "variants", value) for model in config.models)
        elif source is not None:
            yield (source, value)
    if table.entry is not None:
        yield table.entry.table


def _says(config: Config, path: tuple[str, ...]) -> bool:
    here: Any = config
    for part in path:
        here = here.get(part) if isinstance(here, Mapping) else getattr(here, part, None)
    return here is not None and here != ()
