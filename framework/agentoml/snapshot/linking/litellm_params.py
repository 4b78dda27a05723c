"""Params of providers, models and variants that litellm would be led astray by: every call would be refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentoml.config.problems import Path, Problem, shown
from agentoml.config.schema import Config
from agentoml.models.litellm_params import LITELLM, astray


def astray_params(config: Config) -> Iterator[Problem]:
    """Yield the params that would send calls of a `litellm/NAME` provider elsewhere."""
    through = [name for name, provider in config.providers.items() if (provider.adapter or "").startswith(LITELLM)]
    for name in through:
        yield from _astray(config.providers[name].params, ("providers", name))
    for key, model in config.models.items():
        if model.provider in through:
            yield from _astray(model.params, ("models", key))
            for name, variant in model.variants.items():
                yield from _astray(variant.params, ("models", key, "variants", name))


def _astray(params: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for name, remedy in astray(params):
        message = f"params can't say {shown(name)}: it would lead requests elsewhere than the provider is declared"
        yield Problem("AGT209", message, (*path, "params", name), hint=remedy, at="key")
