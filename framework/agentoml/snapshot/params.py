"""What a model call sends beside its messages (E28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentoml.snapshot.patches import leaves, thaw
from agentoml.snapshot.profile import Profile
from agentoml.snapshot.resolving.fold import put
from agentoml.snapshot.snapshot import CatalogModel, Snapshot


def request_params(snapshot: Snapshot, profile: Profile, model: CatalogModel | None = None) -> dict[str, Any]:
    """Return the request parameters: the provider's, the base's, the model's, the variant's, then the patches'.

    `model` is the one that is asked; left out, the one in force.
    """
    if model is None and profile.model is not None:
        model = snapshot.models.get(profile.model)
    layers: list[Mapping[str, Any]] = [profile.base_params, profile.patch_params]
    if model is not None:
        provider = snapshot.providers.get(model.provider)
        variant = model.variants.get(profile.variant or "")
        layers = [
            provider.params if provider is not None else {},
            profile.base_params,
            model.params,
            variant.params if variant is not None else {},
            profile.patch_params,
        ]
    merged: dict[str, Any] = {}
    for layer in layers:
        for path, value in leaves(layer):
            put(merged, path[1:], thaw(value))
    return merged
