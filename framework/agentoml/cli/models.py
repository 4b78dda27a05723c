"""`agentoml models [CONFIG]`: every model that an agent has, as a table or as JSON. Nobody is asked."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from agentoml.cli.building import built_or_told
from agentoml.cli.choosing import add_configuration
from agentoml.cli.columns import columns
from agentoml.config.merge import merge
from agentoml.config.parse import parse_all
from agentoml.config.schema import Model
from agentoml.config.structure import structure
from agentoml.session.providers import with_credentials
from agentoml.snapshot.build import Built
from agentoml.snapshot.clip import why_no_model
from agentoml.snapshot.resolve import ClientFacts, resolve
from agentoml.snapshot.selections import Selections
from agentoml.snapshot.snapshot import CatalogModel, Snapshot

EXIT_PROBLEMS = 2
HEAD = ("", "MODEL", "NAME", "PROVIDER", "CONTEXT", "REASONING", "$ IN", "$ OUT", "CAN", "REMARKS")
RIGHT = frozenset({4, 6, 7})


def main(args: list[str]) -> int:
    """Print the models; return 0, or 2 if the configuration can't be used."""
    arguments = _arguments().parse_args(args)
    built = built_or_told(arguments)
    if built.snapshot is None:
        return EXIT_PROBLEMS
    models = list(_models(built, built.snapshot))
    if arguments.format == "json":
        print(json.dumps(models, indent=2, ensure_ascii=False))
    elif models:
        print(columns(HEAD, [_row(model) for model in models], RIGHT))
    else:
        print(why_no_model(built.snapshot))
    return 0


def _models(built: Built, snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """Yield what is known of each model, starred entries last."""
    written = structure(merge(parse_all(built.reading))).models
    credentials = with_credentials(snapshot.providers)
    client = ClientFacts(credentials=credentials)
    default = resolve(snapshot, client, Selections()).profile.model
    for model in snapshot.models.everything():
        table = written[model.key]
        yield {
            "key": model.key,
            "name": model.name,
            "provider": model.provider,
            "id": model.id,
            "default": model.key == default,
            "credentials": model.provider in credentials,
            "hidden": table.hidden is True or table.status == "hidden",
            **_facts(model, table),
        }


def _facts(model: CatalogModel, table: Model) -> Mapping[str, Any]:
    reasoning = model.reasoning
    return {
        "limit": attrs.asdict(model.limit),
        "cost": attrs.asdict(model.cost),
        "capabilities": sorted(model.capabilities) if model.capabilities_known else None,
        "reasoning": {"values": list(reasoning.values), "default": reasoning.default} if reasoning else None,
        "variants": list(model.variants),
        "aliases": list(table.aliases),
        "fallback": list(model.fallback),
        "status": table.status,
        "released": table.released.isoformat() if table.released else None,
    }


def _row(model: Mapping[str, Any]) -> tuple[str, ...]:
    reasoning, capabilities = model["reasoning"], model["capabilities"]
    return (
        "*" if model["default"] else "",
        model["key"],
        model["name"] if model["name"] != model["key"] else "",
        model["provider"],
        _tokens(model["limit"]["context"]),
        ", ".join(f"{level}*" if level == reasoning["default"] else level for level in reasoning["values"])
        if reasoning
        else "",
        _price(model["cost"]["input"]),
        _price(model["cost"]["output"]),
        "?" if capabilities is None else ", ".join(word for word in capabilities if word != "reasoning"),
        ", ".join(_remarks(model)),
    )


def _remarks(model: Mapping[str, Any]) -> Iterator[str]:
    if not model["credentials"]:
        yield "no credentials"
    if model["hidden"]:
        yield "hidden"
    if model["status"] not in (None, "stable", "hidden"):
        yield model["status"]
    if "*" in model["key"]:
        yield "serves what is not listed"
    if model["variants"]:
        yield f"variants {', '.join(model['variants'])}"
    if model["aliases"]:
        yield f"also {', '.join(model['aliases'])}"


def _tokens(size: int | None) -> str:
    """Return a size as people say it: 200k, 1M."""
    if size is None:
        return ""
    for unit, tokens in (("M", 1_000_000), ("k", 1_000)):
        if size >= tokens:
            return f"{round(size / tokens, 2 if unit == 'M' else 0):g}{unit}"
    return str(size)


def _price(usd: float | None) -> str:
    return "" if usd is None else f"{usd:g}"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml models",
        description="List the models of a configuration and of its catalogs; * is what a new session begins with. "
        "CONTEXT is in tokens, prices are USD per million tokens, ? is what nobody says.",
    )
    add_configuration(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: an array of objects")
    return parser
