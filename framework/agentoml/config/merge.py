"""Tables -> one table (L1 to L5).

Tables merge deep, everything else replaces. `x.add` and `x.remove` edit a list that is inherited and wait beside
one another where none is; `remove = true` deletes what is inherited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentoml.config.edits import both_edits, edited, is_edit
from agentoml.config.layering.destinations import leads_elsewhere, secrets_left_behind, without_secrets
from agentoml.config.problems import Path, Problem, did_you_mean, dotted
from agentoml.config.texts import FREE_KEYS, Merged, Table

POLICY_LAYERS = frozenset({"user", "policy"})
"""The layers whose `[policy]` counts: the user's own and the administrator's."""


def merge(tables: Sequence[Table]) -> Merged:
    """Merge tables, weakest first; an inherited entry keeps its first place (E27). Never raises."""
    problems = [problem for table in tables for problem in table.problems]
    known = bool(problems)  # what is broken may be what is missing here
    ceilings = tuple(_with_its_sets(table, tables) for table in tables if _has_policy(table))
    tables = [_without_ceiling(table) for table in tables if table.text.layer != "policy"]
    merged: dict[str, Any] = {}
    gone: set[Path] = set()
    for table in tables:
        merging = _Merging(gone, removes=table.text.may_have_key(b"remove"))
        merged = merging.tables(merged, table.values, ())
        if merging.problems and not known:
            from agentoml.config.diagnostics.locate import place

            problems += place(merging.problems, table.text)
    if any(table.catalog for table in tables):
        from agentoml.config.catalogs.tables import written_first

        merged = written_first(merged, tables)
    return Merged(merged, tuple(tables), tuple(problems), ceilings)


def _has_policy(table: Table) -> bool:
    return table.text.layer in POLICY_LAYERS and "policy" in table.values


def _with_its_sets(policy: Table, tables: Sequence[Table]) -> Table:
    """Return a policy beside the permission sets as its own layer leaves them: no other can change what it names."""
    own = [table for table in tables if table.text.layer in ("built-in", policy.text.layer)]
    sets: dict[str, Any] = {}
    for table in own:
        said = {key: value for key, value in table.values.items() if key == "permissions"}
        sets = _Merging(set(), removes=True).tables(sets, said, ())
    beside = policy.values if policy.text.layer == "policy" else {"policy": policy.values["policy"]}
    return policy._replace(values={**beside, "permissions": sets.get("permissions", {})})


def _without_ceiling(table: Table) -> Table:
    """Return a table without the `[policy]` that counts; in any other layer it stays, to be refused."""
    if not _has_policy(table):
        return table
    return table._replace(values={key: value for key, value in table.values.items() if key != "policy"})


def says_the_same(one: Any, other: Any) -> bool:
    """Tell whether two tables say the same, of the same types and in the same order: `==` overlooks both."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        pairs = zip(one.items(), other.items(), strict=True)
        return len(one) == len(other) and all(a == b and says_the_same(x, y) for (a, x), (b, y) in pairs)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(says_the_same, one, other))
    return bool(one == other)


class _Merging:
    """One table laid over what is there. Where its text removes nothing, what is new is taken as it is.

    `gone` is what weaker texts removed: nobody needs to know that another layer did so already.
    """

    def __init__(self, gone: set[Path], *, removes: bool) -> None:
        self._gone = gone
        self._removes = removes
        self.problems: list[Problem] = []

    def tables(self, below: Mapping[str, Any], above: Mapping[str, Any], path: Path) -> dict[str, Any]:
        result = dict(below)
        for key, value in above.items():
            if not isinstance(value, dict) or (key not in result and not self._removes):
                result[key] = value
            elif value.get("remove") is True:
                self._remove(result, value, (*path, key))
            else:
                result[key] = self._table_over(result.get(key), value, (*path, key))
        return result

    def _table_over(self, below: Any, above: Mapping[str, Any], path: Path) -> Any:
        if is_edit(above):
            if isinstance(below, str):
                below = [below]
            if isinstance(below, list):
                return edited(below, above)
            if isinstance(below, dict) and is_edit(below) and FREE_KEYS.isdisjoint(path):
                return both_edits(below, above)
        below = below if isinstance(below, dict) else {}
        elsewhere = leads_elsewhere(below, above, path)
        if elsewhere is None:
            return self.tables(below, above, path)
        after = self.tables(without_secrets(below), above, path)
        self.problems += secrets_left_behind(below, after, path, elsewhere)
        return after

    def _remove(self, result: dict[str, Any], value: Mapping[str, Any], path: Path) -> None:
        beside = [key for key in value if key != "remove"]
        name = str(path[-1])
        if beside:
            hint = "remove the other keys, or write the entry under another name"
            self._report("AGT305", "`remove = true` stands alone in its table", (*path, beside[0]), hint)
        elif name not in result and path not in self._gone:
            hint = did_you_mean(name, result) or "leave it out: nothing beneath this file has it"
            self._report("AGT304", f"there is no inherited `{dotted(path)}` to remove", path, hint)
        result.pop(name, None)
        self._gone.add(path)

    def _report(self, code: str, message: str, path: Path, hint: str) -> None:
        self.problems.append(Problem(code, message, path, hint=hint, at="key"))
