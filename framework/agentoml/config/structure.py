"""The merged table -> Config: strictly, with every problem at once. Nothing is converted, nothing is ignored."""

from __future__ import annotations

from agentoml.config.diagnostics.locate import locate
from agentoml.config.policy import policy_problems
from agentoml.config.schema import Config
from agentoml.config.structuring.converter import INCOMPLETE, converter
from agentoml.config.structuring.findings import Findings
from agentoml.config.texts import Merged
from agentoml.errors import ConfigError


def structure(merged: Merged) -> Config:
    """Return the configuration that the merged table says.

    Raises:
        ConfigError: everything that is wrong in it, and what was wrong in its texts already.
    """
    problems = [*merged.problems, *policy_problems(merged)]
    broken = any(problem.severity == "error" for problem in problems)
    config = None
    try:
        config = converter().structure(dict(merged.table), Config)
    except Findings as findings:
        problems += [problem for problem in findings.problems if not (broken and problem.code in INCOMPLETE)]
    if config is None or broken:
        raise ConfigError(tuple(dict.fromkeys(locate(problems, merged))))  # a policy's sets may be its layer's, too
    return config
