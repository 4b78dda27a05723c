"""`agentoml catalog list|sync [CONFIG]`: which catalogs there are, and lists of models written into catalog files."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import NamedTuple

from agentoml.cli.choosing import add_configuration, chosen, names_a_configuration, tell_of_trust
from agentoml.cli.columns import columns
from agentoml.config import layers, merge, parse
from agentoml.config.catalogs.lists import fetched_at
from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.diagnostics.locate import locate
from agentoml.config.problems import render_text
from agentoml.config.texts import CatalogText
from agentoml.errors import ConfigError

EXIT_PROBLEMS = 2


def main(args: list[str]) -> int:
    """Run `list` or `sync`; return 0, 1 if a catalog could not be written, 2 if the configuration can't be used."""
    arguments = _arguments().parse_args(args)
    if arguments.what == "list":
        return _list(chosen(arguments.config, arguments.settings), arguments.format)
    from agentoml.cli.catalog_sync import sync

    config, names = arguments.config, arguments.names
    if config is not None and not names_a_configuration(config):
        config, names = None, [config, *names]
    try:
        return sync(chosen(config, arguments.settings), names)
    except ConfigError as error:
        print(render_text(error.problems), file=sys.stderr)
        return EXIT_PROBLEMS


def _list(config: layers.Chosen, form: str) -> int:
    reading = with_catalogs(layers.read(config))
    tell_of_trust(reading)
    rows = [_row(catalog) for catalog in reading.catalogs]
    merged = merge.merge(parse.parse_all(reading))
    broken = any(problem.severity == "error" for problem in merged.problems)
    if form == "json":
        print(json.dumps([row._asdict() for row in rows], indent=2, ensure_ascii=False))
    elif rows:
        head = ("CATALOG", "MODELS", "FROM", "AS OF")
        cells = [(row.catalog, str(row.models), row.origin, _short(row.as_of)) for row in rows]
        print(columns(head, cells, right=frozenset({1})))
    elif not broken:
        print('no catalogs: write [catalogs.NAME] with file = "models.toml" or discover = "PROVIDER"')
    if merged.problems:
        print(render_text(locate(merged.problems, merged)), file=sys.stderr)
    return EXIT_PROBLEMS if broken else 0


class _Row(NamedTuple):
    """One file or list of a catalog. `models` are those that its globs let through, `listed` all."""

    catalog: str
    source: str
    origin: str
    models: int
    listed: int
    as_of: str | None


def _row(catalog: CatalogText) -> _Row:
    models, listed = (_count(one) for one in (catalog, catalog._replace(include=("*",), exclude=())))
    path = catalog.text.path
    if catalog.source == "discover":
        fetched = fetched_at(catalog.listed)
        origin = f"the list of {catalog.providers[0][0]}" + ("" if fetched else ", not asked for yet")
        as_of = fetched.isoformat(timespec="seconds") if fetched else None
    elif catalog.source == "bundled":
        from importlib.metadata import version

        origin, as_of = f"litellm {version('litellm')}", None
    else:
        origin, as_of = catalog.text.name, _modified(path)
    return _Row(catalog.catalog, catalog.source, origin, models, listed, as_of)


def _count(catalog: CatalogText) -> int:
    models = parse.parse_catalog(catalog).values.get("models")
    return len(models) if isinstance(models, dict) else 0


def _modified(path: Path | None) -> str | None:
    try:
        seconds = path.stat().st_mtime if path is not None else None
    except OSError:
        return None
    return datetime.datetime.fromtimestamp(seconds or 0, tz=datetime.UTC).isoformat(timespec="seconds")


def _short(as_of: str | None) -> str:
    return as_of[:16].replace("T", " ") if as_of else "-"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agentoml catalog", description="Catalogs: models from somewhere else.")
    commands = parser.add_subparsers(dest="what", required=True, metavar="list|sync")
    listing = commands.add_parser("list", help="show the catalogs of a configuration; nobody is asked")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="json: an array of objects")
    syncing = commands.add_parser(
        "sync",
        help="ask now, and write what is listed into catalog files",
        description="Ask the providers of `discover` (and litellm's map of `bundled`) for their models, and write each "
        "list into the file that its catalog names beside, else into catalogs/NAME.toml: the whole list, include and "
        "exclude count when the file is read. What fails leaves its file as it was.",
    )
    for command in (listing, syncing):
        add_configuration(command)
    syncing.add_argument("names", nargs="*", metavar="NAME", help="these catalogs alone")
    return parser
