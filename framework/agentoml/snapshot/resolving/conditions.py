"""Whether a condition holds (E24)."""

from __future__ import annotations

from collections.abc import Sequence

from agentoml.config.globs import divided, matches, selects
from agentoml.snapshot.resolving.state import State
from agentoml.snapshot.snapshot import ON, CatalogModel, Condition, Hidden, Test


def holds(condition: Condition, state: State, provider: str | None = None) -> bool:
    """Return whether all of a condition holds. `provider` is the one whose `credentials` it speaks of."""
    return not condition or all(_holds(test, state, provider) for test in condition)


def is_hidden(hidden: Hidden, state: State, provider: str | None = None) -> bool:
    """Return whether something is in force without being offered."""
    return bool(hidden) and any(holds(condition, state, provider) for condition in hidden)


def _holds(test: Test, state: State, provider: str | None) -> bool:
    wanted = test.wanted
    match test.about:
        case "client":
            return not isinstance(wanted, bool) and selects(wanted, state.client.name or "", ignore_case=True)
        case "trusted":
            return wanted is state.client.trusted
        case "credentials":
            return wanted is (provider in state.client.credentials)
        case "capability":
            return not isinstance(wanted, bool) and _has_capability(wanted, state.model)
        case option:
            active = state.active.get(option)
            if isinstance(wanted, bool):
                return wanted is (active is not None and active.value.id == ON)
            return active is not None and selects(wanted, active.value.id, ignore_case=True)


def _has_capability(patterns: Sequence[str], model: CatalogModel | None) -> bool:
    """Any may match the positives, none an exclusion; what is unknown satisfies neither."""
    if model is None:
        return False
    chosen, excluded = divided(patterns)
    if excluded and not model.capabilities_known:
        return False
    if any(matches(glob, word, ignore_case=True) for glob in excluded for word in model.capabilities):
        return False
    if excluded and all(pattern.startswith("!") for pattern in patterns):
        return True
    return any(matches(glob, word, ignore_case=True) for glob in chosen for word in model.capabilities)
