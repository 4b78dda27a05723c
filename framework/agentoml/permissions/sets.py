"""Permission sets made ready to judge: rules with their selectors taken apart, kinds and a default."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agentoml.config.globs import EXCLUDES, matches
from agentoml.config.schema import PermissionSet, Rule
from agentoml.config.vocabulary.notation import Action

STRICTNESS: Mapping[str, int] = {"allow": 0, "ask": 1, "always_ask": 2, "deny": 3}


def strictness(action: str) -> int:
    """Return the rank of a verdict: allow < ask < always_ask < deny."""
    return STRICTNESS[action]


@frozen
class ReadyRule:
    """One rule of a set. A key that is None is not asked about; a rule matches when all others do."""

    set_name: str
    name: str
    action: Action
    tool: tuple[str, ...] | None = None
    kind: tuple[str, ...] | None = None
    path: tuple[str, ...] | None = None
    command: tuple[str, ...] | None = None
    args: tuple[tuple[str, tuple[str, ...]], ...] = ()
    host: tuple[str, ...] | None = None


@frozen
class ReadySet:
    """One permission set: rules, then kinds, then a default. `ceiling`: a policy's, in force whatever lists name."""

    name: str
    default: Action | None = None
    kinds: Mapping[str, Action] = {}
    rules: tuple[ReadyRule, ...] = ()
    ceiling: bool = False


def compile_sets(tables: Mapping[str, PermissionSet]) -> Mapping[str, ReadySet]:
    """Return the sets of a configuration, ready to judge, by their names."""
    return {name: compile_set(name, table) for name, table in tables.items()}


def compile_set(name: str, table: PermissionSet) -> ReadySet:
    """Return one set, ready to judge."""
    rules = tuple(compile_rule(name, rule_name, rule) for rule_name, rule in table.rules.items())
    return ReadySet(name, table.default, dict(table.kinds), rules)


def compile_rule(set_name: str, name: str, rule: Rule) -> ReadyRule:
    """Return one rule, ready to judge. A rule without an action denies: malformed never means "no rule"."""
    return ReadyRule(
        set_name=set_name,
        name=name,
        action=rule.action or "deny",
        tool=rule.tool,
        kind=rule.kind,
        path=rule.path,
        command=rule.command,
        args=tuple(rule.args.items()),
        host=rule.host,
    )


def selects_tool(selectors: tuple[str, ...], tool: str, kind: str) -> bool:
    """Return whether selectors choose a tool: names and globs, `kind:read`, `mcp:server/tool`, `!` excludes.

    Exclusions alone start from everything.
    """
    positive = tuple(selector for selector in selectors if not selector.startswith(EXCLUDES))
    negative = tuple(selector[len(EXCLUDES) :] for selector in selectors if selector.startswith(EXCLUDES))
    if not (any(_selected(selector, tool, kind) for selector in positive) or (negative and not positive)):
        return False
    return not any(_selected(selector, tool, kind) for selector in negative)


def _selected(selector: str, tool: str, kind: str) -> bool:
    if selector.startswith("kind:"):
        return matches(selector.removeprefix("kind:"), kind)
    return matches(selector, tool)
