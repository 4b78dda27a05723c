"""Tables -> one table (L1 to L5), and for each key of it the texts that say something about it.

Tables merge deep, everything else replaces. `x.add` and `x.remove` edit a list that is inherited and wait beside
one another where none is; `remove = true` deletes what is inherited. Nothing is recorded while merging: who won is
worked out when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentoml.config.layering.destinations import leads_elsewhere, secrets_left_behind, without_secrets
from agentoml.config.parse import FREE_KEYS, Table, Text
from agentoml.config.problems import Path, Problem, did_you_mean, dotted

EDITS = frozenset({"add", "remove"})

POLICY_LAYERS = frozenset({"user", "policy"})
"""The layers whose `[policy]` counts: the user's own and the administrator's."""


class Merged(NamedTuple):
    """All texts as one table. It is shared: never change it.

    Where `problems` has errors, the table lacks what is broken, and `structure` refuses it. `ceilings` are the texts
    with a `[policy]` that counts, each for itself: none is merged with anything.
    """

    table: Mapping[str, Any]
    tables: tuple[Table, ...]
    problems: tuple[Problem, ...]
    ceilings: tuple[Table, ...] = ()

    @property
    def everything(self) -> Mapping[str, Any]:
        """All that was said, the ceilings too: what is compared to tell whether anything changed."""
        return {**self.table, "policy": [table.values for table in self.ceilings]} if self.ceilings else self.table


class Origin(NamedTuple):
    """One text that says something about a key, and the key path there."""

    text: Text
    path: Path


def merge(tables: Sequence[Table]) -> Merged:
    """Merge tables, weakest first; an inherited entry keeps its first place (E27). Never raises."""
    problems = [problem for table in tables for problem in table.problems]
    known = bool(problems)  # what is broken may be what is missing here
    ceilings = tuple(_with_its_sets(table, tables) for table in tables if _has_policy(table))
    tables = [_without_ceiling(table) for table in tables if table.text.layer != "policy"]
    merged: dict[str, Any] = {}
    gone: set[Path] = set()
    for table in tables:
        merging = _Merging(gone, removes=b"remove" in table.text.content)
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
                return _edited(below, above)
            if isinstance(below, dict) and is_edit(below) and FREE_KEYS.isdisjoint(path):
                return _both_edits(below, above)
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


def is_edit(value: object) -> bool:
    """Tell whether this is `x.add = [...]`, `x.remove = [...]` or both."""
    return isinstance(value, dict) and bool(value) and value.keys() <= EDITS and _all_lists(value.values())


def _all_lists(values: Any) -> bool:
    return all(isinstance(value, list) for value in values)


def _edited(below: Sequence[Any], edit: Mapping[str, Any]) -> list[Any]:
    removed = edit.get("remove", ())
    kept = [item for item in (*below, *edit.get("add", ())) if item not in removed]
    return [item for index, item in enumerate(kept) if item not in kept[:index]]


def _both_edits(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return one edit that does what the two do one after the other."""
    add = _edited(below.get("add", []), {"add": above.get("add", []), "remove": above.get("remove", [])})
    remove = [item for item in below.get("remove", []) if item not in above.get("add", [])]
    remove = _edited(remove, {"add": above.get("remove", [])})
    return {key: items for key, items in (("add", add), ("remove", remove)) if items}


# ----------------------------------------------------------------------------------------------- provenance


def origins(merged: Merged, path: Path) -> tuple[Origin, ...]:
    """Return who says something about a key path: the winner, then the losers, strongest first.

    Where no text has the whole path, those are returned that have the longest part of it: the table in which a key
    is missing, the list that an item came from.
    """
    for length in range(len(path), 0, -1):
        found = tuple(_origins(merged, path[:length]))
        if found:
            return found
    return ()


def _origins(merged: Merged, path: Path) -> Iterator[Origin]:
    for table in reversed(merged.tables):
        found, final = _lookup(table.values, path, merged.table)
        if found is not None:
            yield Origin(table.text, found)
        if final:
            return


def _lookup(values: Mapping[str, Any], path: Path, merged: Mapping[str, Any]) -> tuple[Path | None, bool]:
    """Return the path of this key in one text, and whether nothing beneath this text counts any more."""
    here: Any = values
    whole: Any = merged
    found: Path = ()
    for part in path:
        whole = _child(whole, part)
        if isinstance(part, int):
            place = _item(here, whole)
            if place is None:
                return None, False
            found += place
            here = whole
        elif isinstance(here, dict) and part in here:
            found += (part,)
            here = here[part]
            if isinstance(here, dict) and here.get("remove") is True:
                return None, True
        else:
            return None, not isinstance(here, dict)
    return found, False


def _child(value: Any, part: str | int) -> Any:
    if isinstance(part, int):
        return value[part] if isinstance(value, list) and part < len(value) else None
    return value.get(part) if isinstance(value, dict) else None


def _item(here: Any, item: Any) -> Path | None:
    """Return where a list, or an edit of it, has the item."""
    if isinstance(here, list):
        return (here.index(item),) if item in here else None
    if is_edit(here) and item in here.get("add", ()):
        return ("add", here["add"].index(item))
    return () if isinstance(here, str) and here == item else None
