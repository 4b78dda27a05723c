"""[models] -> the catalog."""

from __future__ import annotations

from collections.abc import Mapping

from agentoml.config.schema import Model
from agentoml.snapshot.patches import freeze
from agentoml.snapshot.snapshot import EMPTY, Catalog, CatalogModel, Variant


def catalog(tables: Mapping[str, Model], known: Mapping[str, CatalogModel]) -> Catalog:
    """Return the catalog that the tables declare; `known` are models of it that have been made already.

    A key with a star serves what is not listed.
    """
    models = {key: known.get(key) or _model(key, model) for key, model in tables.items()}
    return Catalog(
        models={key: model for key, model in models.items() if "*" not in key},
        starred={key: model for key, model in models.items() if "*" in key},
        aliases={alias: key for key, model in tables.items() for alias in model.aliases},
    )


def _model(key: str, model: Model) -> CatalogModel:
    capabilities = set(model.capabilities or ())
    if model.reasoning is not None:
        capabilities.add("reasoning")
    variants = {name: Variant(name, freeze(variant.params)) for name, variant in model.variants.items()}
    return CatalogModel(
        key=key,
        id=model.id or key,
        provider=model.provider or "",
        name=model.name or key,
        limit=model.limit,
        cost=model.cost,
        capabilities=frozenset(capabilities),
        capabilities_known=model.capabilities is not None,
        reasoning=model.reasoning,
        params=freeze(model.params) if model.params else EMPTY,
        variants=freeze(variants) if variants else EMPTY,
        fallback=model.fallback,
        entry=key,
    )
