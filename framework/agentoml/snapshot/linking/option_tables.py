"""[options] and [modes] -> every option there is, each with the table that counts for it (E17, E27)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from agentoml.config import schema
from agentoml.snapshot.linking import sources
from agentoml.snapshot.linking.sources import Entry

MODE = "mode"
"""The option that `[modes]` feeds."""


@frozen
class OptionTable:
    """`[options.x]` as it counts: with the source of `mode`, and for `each` the entry that it is about."""

    id: str
    written: schema.Option
    path: tuple[str, ...]
    entry: Entry | None = None

    @property
    def is_boolean(self) -> bool:
        """Whether its values are off and on."""
        return self.written.type == "boolean" or self.entry is not None


def option_tables(config: schema.Config) -> Mapping[str, OptionTable]:
    """Return every option in fold order: `mode`, then the others as declared; `each` gives one an entry."""
    found: dict[str, OptionTable] = {}
    switches: dict[str, OptionTable] = {}
    if config.modes or MODE in config.options:
        path = ("options", MODE) if MODE in config.options else ("modes",)
        found[MODE] = OptionTable(MODE, _mode(config), path)
    for option_id, written in config.options.items():
        path = ("options", option_id)
        if option_id == MODE:
            continue
        if written.each is None:
            found[option_id] = OptionTable(option_id, written, path)
            continue
        for entry in sources.entries(config, written.each):
            name = f"{option_id}/{entry.id}"
            found[name] = switches[name] = OptionTable(name, written, path, entry)
    return {**found, **switches}


def _mode(config: schema.Config) -> schema.Option:
    written = config.options.get(MODE, schema.Option())
    if config.modes:
        written = evolve(written, values_from="modes")
    return written if written.category is not None else evolve(written, category="mode")
