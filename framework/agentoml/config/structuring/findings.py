"""What the stages of structuring find wrong with one value: the type that was asked for, the type that is there."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Literal

from agentoml.config.problems import Problem, did_you_mean, dotted, quoted
from agentoml.config.texts import Included

MOST_NAMES = 12
"""How many names a remedy spells out."""


class Findings(Exception):
    """Problems of one value; their paths begin at the value."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(len(self.problems))

    def under(self, part: str | int) -> tuple[Problem, ...]:
        """Return the problems as those of the table or list that holds the value."""
        return tuple(problem._replace(path=(part, *problem.path)) for problem in self.problems)


def finding(code: str, message: str, hint: str = "", *, at: Literal["key", "value"] = "value") -> Findings:
    """Return one problem of the value itself, ready to be raised."""
    return Findings([Problem(code, message, hint=hint, at=at)])


def wrong_type(expected: str, value: object) -> Findings:
    """Return that a value is not what is asked for, and what to do where it is nearly that."""
    return finding("AGT102", f"expected {expected}, found {_kind(value)}", _remedy(expected, value))


def not_among(value: str, allowed: Iterable[str]) -> Findings:
    """Return that a word is not one of those allowed."""
    words = [quoted(word) for word in allowed]
    nearest = did_you_mean(value, [word.strip('"') for word in words]).replace("`", '"')
    choice = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    return finding("AGT103", f"{quoted(value)} is not known here", nearest or f"write {choice}")


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "a string"
        case int():
            return "a whole number"
        case float():
            return "a number"
        case Included():
            return "a text file"
        case list():
            return "a list"
        case dict():
            return "a table"
        case datetime.datetime() | datetime.date():
            return "a date"
        case _:
            return "a time"


def _remedy(expected: str, value: object) -> str:
    text = value if isinstance(value, str) else ""
    if "true or false" in expected and text.lower() in {"true", "false"}:
        return f"remove the quotes: {text.lower()}"
    if "number" in expected and _is_number(text):
        return f"remove the quotes: {text}"
    if "list" in expected and text:
        return f"put it in brackets: [{quoted(text)}]"
    if "string" in expected and isinstance(value, bool | int | float):
        return f'put it in quotes: "{str(value).lower()}"'
    if "string" in expected and isinstance(value, datetime.date | datetime.time):
        return "put it in quotes"
    if expected == "a string" and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"remove the brackets: {quoted(value[0])}"
    if expected == "a table of tables" and isinstance(value, list) and 0 < len(value) <= MOST_NAMES:
        return f"write {{ {', '.join(f'{dotted((name,))} = {{}}' for name in value)} }}" if _are_texts(value) else ""
    if expected == "a whole number" and isinstance(value, float) and value.is_integer():
        return f"write {int(value)}"
    if expected == "a table" and text:
        return "write { KEY = VALUE } in its place, or its keys under a header of their own"
    if isinstance(value, dict) and value and value.keys() <= {"add", "remove"}:
        return "`.add` and `.remove` edit lists only"
    return ""


def _are_texts(items: list[object]) -> bool:
    return all(type(item) is str for item in items)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
