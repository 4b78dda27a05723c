"""The merged table -> Config: strictly, with every problem at once. Nothing is converted, nothing is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from agentoml.config.diagnostics.locate import locate
from agentoml.config.policy import policy_problems
from agentoml.config.schema import Config, Model
from agentoml.config.structuring.converter import INCOMPLETE, converter
from agentoml.config.structuring.findings import Findings
from agentoml.config.texts import Merged
from agentoml.errors import ConfigError


@frozen
class Structured:
    """A table, and the configuration that it said."""

    table: Mapping[str, Any]
    config: Config


def structure(merged: Merged, before: Structured | None = None) -> Config:
    """Return the configuration that the merged table says. Models whose tables are those of `before` are its models.

    Raises:
        ConfigError: everything that is wrong in it, and what was wrong in its texts already.
    """
    problems = [*merged.problems, *policy_problems(merged)]
    broken = any(problem.severity == "error" for problem in problems)
    config = None
    known = _known_models(merged.table, before) if before is not None else {}
    try:
        config = converter().structure(_without_models(merged.table, known), Config)
    except Findings as findings:
        problems += [problem for problem in findings.problems if not (broken and problem.code in INCOMPLETE)]
    if config is None or broken:
        raise ConfigError(tuple(dict.fromkeys(locate(problems, merged))))  # a policy's sets may be its layer's, too
    models = merged.table.get("models", {})
    return evolve(config, models={key: known.get(key) or config.models[key] for key in models}) if known else config


def _known_models(table: Mapping[str, Any], before: Structured) -> Mapping[str, Model]:
    """Return the models whose tables are the very objects that they were: catalogs are long, edits are short."""
    models, were = table.get("models"), before.table.get("models", {})
    if not isinstance(models, dict):
        return {}
    return {key: before.config.models[key] for key, model in models.items() if model is were.get(key)}


def _without_models(table: Mapping[str, Any], known: Mapping[str, Model]) -> dict[str, Any]:
    if not known:
        return dict(table)
    return {**table, "models": {key: model for key, model in table["models"].items() if key not in known}}
