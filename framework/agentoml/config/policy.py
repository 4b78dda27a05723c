"""`[policy]`: ceilings over everything that was merged. Each policy is one for itself, so none can widen another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from agentoml.config.diagnostics.locate import place
from agentoml.config.inline import inline
from agentoml.config.problems import Problem, did_you_mean, dotted, quoted
from agentoml.config.provenance import leaves
from agentoml.config.schema import Config, PermissionSet, Policy
from agentoml.config.structuring.converter import converter
from agentoml.config.structuring.findings import Findings
from agentoml.config.texts import Merged, Text


@frozen
class Ceiling:
    """One policy, and the permission sets that it names, as its own layer and the shipped ones define them."""

    text: Text
    policy: Policy
    sets: Mapping[str, PermissionSet]


def ceilings(merged: Merged) -> tuple[Ceiling, ...]:
    """Return the policies that count, once `structure` found nothing wrong with them."""
    return tuple(_ceiling(table.text, table.values) for table in merged.ceilings)


def policy_problems(merged: Merged) -> Iterator[Problem]:
    """Yield all that is wrong with policies: one that can't be understood is no policy, but an error."""
    for table in merged.ceilings:
        try:
            _ceiling(table.text, table.values)
        except Findings as findings:
            yield from place(findings.problems, table.text)


def _ceiling(text: Text, values: Mapping[str, Any]) -> Ceiling:
    problems = list(_elsewhere(values)) if text.layer == "policy" else []
    policy, sets = Policy(), {}
    try:
        policy = converter().structure(values["policy"], Policy)
    except Findings as findings:
        problems += findings.under("policy")
    try:
        sets = dict(converter().structure({"permissions": values["permissions"]}, Config).permissions)
        problems += _unknown_sets(policy, sets)
    except Findings as findings:
        problems += findings.problems
    if problems:
        raise Findings(problems)
    return Ceiling(text, policy, {name: sets[name] for name in policy.permissions})


def _elsewhere(values: Mapping[str, Any]) -> Iterator[Problem]:
    for key in values:
        if key not in ("schema", "policy", "permissions"):
            hint = "only [policy] and the [permissions] that it names count here"
            yield Problem("AGT310", "this is no part of a policy", (key,), hint=hint, at="key")


def _unknown_sets(policy: Policy, sets: Mapping[str, PermissionSet]) -> Iterator[Problem]:
    for index, name in enumerate(policy.permissions):
        if name not in sets:
            hint = did_you_mean(name, sets) or "a policy names sets of its own layer, or shipped ones"
            message = f"there is no permission set {quoted(name)} here"
            yield Problem("AGT201", message, ("policy", "permissions", index), hint=hint)


def policy_lines(merged: Merged) -> list[str]:
    """Return what policies say, as comments of TOML: they are no part of what is merged."""
    lines = []
    for table in merged.ceilings:
        said = list(leaves({"policy": table.values["policy"]}))
        places = place([Problem("", "", path, at="key") for path, _ in said], table.text)
        for problem, (path, value) in zip(places, said, strict=True):
            lines.append(f"# {dotted(path)} = {inline(value)}  # {problem.file}:{problem.line}")
    return ["", "# a ceiling over all of this:", *lines] if lines else []
