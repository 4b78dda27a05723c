"""What a catalog says -> a table of models that lies beneath all that is written. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentoml.config.documents import document
from agentoml.config.globs import selects
from agentoml.config.problems import Problem
from agentoml.config.texts import CatalogText, Table

KEYS = ("schema", "models")
"""What may stand in a catalog's file."""


def written_table(catalog: CatalogText, table: Table) -> Table:
    """Return the models of a catalog's file, parsed as `table`, that the catalog's globs let through."""
    models = table.values.get("models", {})
    others = [key for key in document(catalog.text.content).values if key not in KEYS]
    problems = table.problems
    if others:
        from agentoml.config.diagnostics.locate import place

        hint = "it stands in the configuration that names this file"
        foreign = [
            Problem("AGT101", f"a catalog has models alone, no `{key}`", (key,), hint=hint, at="key") for key in others
        ]
        problems = (*problems, *place(foreign, catalog.text))
    return Table(table.text, _selected(models, catalog), problems, "written")


def listed_table(catalog: CatalogText) -> Table:
    """Return the models that others list, as far as the catalog's globs let them through. Never raises."""
    return Table(catalog.text, _selected(_listed(catalog), catalog), catalog.text.problems, "listed")


def _selected(models: Any, catalog: CatalogText) -> Mapping[str, Any]:
    if isinstance(models, dict) and not (catalog.include == ("*",) and not catalog.exclude):
        models = {key: entry for key, entry in models.items() if _included(key, catalog)}
    return {"models": models}


def _included(key: str, catalog: CatalogText) -> bool:
    return selects(catalog.include, key) and not selects(catalog.exclude, key)


def _listed(catalog: CatalogText) -> Mapping[str, Any]:
    if catalog.source == "bundled":
        from agentoml.config.catalogs.cost_map import litellm_models

        return litellm_models(catalog.listed, catalog.providers, catalog.today)
    from agentoml.config.catalogs.lists import provided_models

    return provided_models(catalog.listed, catalog.providers[0][1])


def written_first(merged: dict[str, Any], tables: Sequence[Table]) -> dict[str, Any]:
    """Return the table with its models in order: those that no catalog has, as declared, then the catalogs' own.

    What is written about a catalog's model decorates it where it stands. What is only listed somewhere else gives
    way to the model that has its key as an alias.
    """
    models = merged.get("models")
    if not isinstance(models, dict):
        return merged
    in_catalogs = _keys(table for table in tables if table.catalog)
    written = _keys(table for table in tables if table.catalog != "listed")
    aliases: set[Any] = set()
    for model in models.values():
        if isinstance(model, dict) and isinstance(model.get("aliases"), list):
            aliases.update(alias for alias in model["aliases"] if isinstance(alias, str))
    first = {key: model for key, model in models.items() if key not in in_catalogs}
    taken = {key for key in aliases if key not in written}
    return {**merged, "models": first | {key: models[key] for key in models if key in in_catalogs and key not in taken}}


def _keys(tables: Any) -> set[str]:
    found: set[str] = set()
    for table in tables:
        models = table.values.get("models")
        if isinstance(models, dict):
            found.update(models)
    return found
