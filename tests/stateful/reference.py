"""What permissions say, worked out anew and plainly from the tables of a configuration (DESIGN section 3, E40, E41)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from attrs import frozen

from stateful.configurations import ACTIONS, TOOLS, Table

BUILT_IN: Table = {
    "standard": {"default": "ask", "kinds": {"read": "allow", "search": "allow", "think": "allow"}},
    "no-changes": {"kinds": {"edit": "deny", "delete": "deny", "move": "deny", "execute": "ask"}},
    "everything": {"default": "allow"},
    "nothing": {"default": "deny"},
}


@frozen
class Lists:
    """Names of permission sets in force, and the tools of which the user said "always"."""

    base: Sequence[str]
    patches: Sequence[Sequence[str]]
    answers: Sequence[str]
    always: Sequence[str] = ()


def verdict(table: Table, lists: Lists, tool: str) -> str:
    """The verdict on a call, after automatic answers."""
    always = {name: {"tool": name, "action": "allow"} for name in lists.always}
    sets = {**BUILT_IN, **table["permissions"], "always": {"rules": always}}
    base, patches, answers = lists.base, lists.patches, (*lists.answers, "always")
    said = [_rules(sets, base, tool), *(_says(sets, patch, tool) for patch in patches)]
    found = _strictest(said) or _kinds(sets, base, tool) or _defaults(sets, base) or "ask"
    answer = _says(sets, answers, tool)
    return answer if found == "ask" and answer in ("allow", "deny") else found


def base_of(table: Table) -> list[str]:
    """The base's permission sets."""
    written = table.get("agent", {}).get("permissions", [])
    return list(dict.fromkeys(["standard", *written["add"]])) if isinstance(written, dict) else written or ["standard"]


def _says(sets: Table, names: Sequence[str], tool: str) -> str | None:
    return _rules(sets, names, tool) or _kinds(sets, names, tool) or _defaults(sets, names)


def _rules(sets: Table, names: Sequence[str], tool: str) -> str | None:
    rules = [rule for name in names for rule in sets[name].get("rules", {}).values()]
    return _strictest(rule["action"] for rule in rules if _matches(rule["tool"], tool))


def _kinds(sets: Table, names: Sequence[str], tool: str) -> str | None:
    return _strictest(sets[name].get("kinds", {}).get(TOOLS[tool]) for name in names)


def _defaults(sets: Table, names: Sequence[str]) -> str | None:
    return _strictest(sets[name].get("default") for name in names)


def _matches(pattern: str, tool: str) -> bool:
    return not fnmatchcase(tool, pattern[1:]) if pattern.startswith("!") else fnmatchcase(tool, pattern)


def _strictest(actions: Iterable[Any]) -> str | None:
    return max((action for action in actions if action is not None), key=ACTIONS.index, default=None)


def patches_of(table: Table, shown: dict[str, str | bool]) -> list[list[str]]:
    """The permission lists of the values that are shown, in fold order; nothing else is active."""
    found = []
    for option in dict.fromkeys(("mode", *table["options"])):
        if option in shown:
            value = {True: "on", False: "off"}.get(shown[option], shown[option])  # type: ignore[call-overload]
            found += _lists_of(table, option, value)
    return found


def _lists_of(table: Table, option: str, value: str) -> list[list[str]]:
    written = table["options"].get(option, {})
    match option:
        case "mode":
            said = table["modes"][value]
        case "model":
            said = table["models"][value]
        case "flag":
            said = written.get(value, {})
        case "persona":
            said = written["values"][value]
        case "guard":
            return [[value]]
        case _:
            return []
    lists = said.get("set", {}).get("permissions")
    return [] if lists is None else [[lists] if isinstance(lists, str) else lists]
