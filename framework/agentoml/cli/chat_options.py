"""Config options as a terminal shows and takes them: ACP lists in, lines of text and picks out. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

Option = dict[str, Any]
"""A `SessionConfigOption` as it came over the wire."""

SWITCH_WORDS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}

SOME = 6

PROMPT_CATEGORIES = ("mode", "model", "thought_level")
"""The options whose current values stand in the prompt line."""


class Entry(NamedTuple):
    """One value of a select."""

    value: str
    name: str
    description: str


class NotOffered(Exception):
    """What the user typed names no option, or no value that the option could take."""


def entries(option: Option) -> list[Entry]:
    """Return the values of an option in order, groups dissolved; a boolean has none."""
    listed: list[Entry] = []
    for item in option.get("options", ()):
        for value in item.get("options", [item]):
            listed.append(Entry(value["value"], value["name"], value.get("description") or ""))
    return listed


def current(option: Option) -> str:
    """Return the current value as users type it: a value id, or on or off."""
    value = option["currentValue"]
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def changes(before: list[Option], after: list[Option]) -> list[str]:
    """Say what differs between two option lists, one short phrase each; empty if nothing that shows does."""
    old = {option["id"]: option for option in before}
    phrases: list[str] = []
    for option in after:
        was = old.pop(option["id"], None)
        if was is None:
            phrases.append(f"+ {option['id']}: {current(option)}")
            continue
        if current(was) != current(option):
            phrases.append(f"{option['id']}: {current(was)} -> {current(option)}")
        listed, listed_before = [[entry.value for entry in entries(item)] for item in (option, was)]
        added = [value for value in listed if value not in listed_before]
        removed = [value for value in listed_before if value not in listed]
        phrases += [f"{sign} {option['id']} {some(few)}" for sign, few in (("+", added), ("-", removed)) if few]
    phrases += [f"- {gone}" for gone in old]
    return phrases or _other_words(before, after)


def prompt_line(options: list[Option]) -> str:
    """Return what stands before the cursor: mode, model and level, and the switches that are on."""
    shown = [current(option) for category in PROMPT_CATEGORIES for option in options if _category(option) == category]
    shown += [option["id"] for option in options if option["currentValue"] is True]
    return " · ".join(shown)


def table(options: list[Option]) -> list[str]:
    """Return one line an option: its id, its value and what it could be set to."""
    width = max((len(option["id"]) for option in options), default=0)
    return [f"{option['id']:{width}}  {current(option)}{_others(option)}" for option in options]


def values(option: Option) -> list[str]:
    """Return one line a value of an option, the current one marked."""
    listed = entries(option) or [Entry("on", "On", ""), Entry("off", "Off", "")]
    width = max(len(entry.value) for entry in listed)
    return [
        f"{'*' if entry.value == current(option) else ' '} {entry.value:{width}}  {_label(entry)}".rstrip()
        for entry in listed
    ]


def some(names: list[str]) -> str:
    """Return names in a row, of many the first few."""
    return ", ".join(names[:SOME]) + (f" and {len(names) - SOME} more" if len(names) > SOME else "")


def find(options: list[Option], word: str) -> Option:
    """Return the option that `word` names, by id, name or category, letter case ignored.

    Raises:
        NotOffered: none does.
    """
    for names in (_ids, _names, _categories):
        for option in options:
            if word.casefold() in names(option):
                return option
    raise NotOffered(f"no option `{word}`; there are: {some([option['id'] for option in options]) or 'none'}")


def pick(option: Option, word: str) -> str | bool:
    """Return the value that `word` means for an option: a value id or name. What is not listed goes out as it is
    (an open option may take it, and the agent says so if not).

    Raises:
        NotOffered: the option is a switch and `word` is neither on nor off.
    """
    if option["type"] == "boolean":
        if word.casefold() not in SWITCH_WORDS:
            raise NotOffered(f"`{option['id']}` is a switch: on or off")
        return SWITCH_WORDS[word.casefold()]
    listed = entries(option)
    if any(entry.value == word for entry in listed):
        return word
    matches = [entry.value for entry in listed if word.casefold() in (entry.value.casefold(), entry.name.casefold())]
    return matches[0] if matches else word


def _other_words(before: list[Option], after: list[Option]) -> list[str]:
    """Say what is called or ordered otherwise in two lists of the same options with the same values."""
    old = {option["id"]: option for option in before}
    phrases = ["options in another order"] if list(old) != [option["id"] for option in after] else []
    for option in after:
        was = old[option["id"]]
        listed, listed_before = entries(option), entries(was)
        reworded = [entry.value for entry in listed if entry not in listed_before]
        found = [f"{option['id']} {some(reworded)} reworded"] if reworded else []
        if [entry.value for entry in listed] != [entry.value for entry in listed_before]:
            found.append(f"{option['id']} in another order")
        phrases += found or ([f"{option['id']} reworded"] if was != option else [])
    return phrases


def _category(option: Option) -> str:
    return str(option.get("category") or "")


def _ids(option: Option) -> list[str]:
    return [option["id"].casefold()]


def _names(option: Option) -> list[str]:
    return [option["name"].casefold()]


def _categories(option: Option) -> list[str]:
    return [_category(option).casefold()]


def _others(option: Option) -> str:
    others = [entry.value for entry in entries(option) if entry.value != current(option)]
    if option["type"] == "boolean":
        others = ["off" if option["currentValue"] else "on"]
    return f"  ({some(others)})" if others else ""


def _label(entry: Entry) -> str:
    name = entry.name if entry.name != entry.value else ""
    return ": ".join(part for part in (name, entry.description) if part)
