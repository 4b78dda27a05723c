"""One value -> the notation that is asked for: a hook for each type of its own, and what it is called in messages."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from typing import Any

from agentoml.config.problems import Problem, did_you_mean, shown
from agentoml.config.structuring.findings import Findings, finding, wrong_type
from agentoml.config.texts import Included
from agentoml.config.vocabulary.notation import Duration, ListEdit, Patterns, Secret, TextFile

Hook = Callable[[Any, Any], Any]


def name(name: str) -> str:
    """Return the key of a table of named entries, if it can be a name."""
    if not name:
        raise finding("AGT107", "a name is empty", at="key")
    if name != name.strip() or not name.isprintable() or len(name) > 256:
        hint = "1 to 256 printable characters, without a space at either end"
        raise finding("AGT107", "this can't be a name", hint, at="key")
    return name


def each(value: list[Any], take: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Take every item of a list; the problems of all of them are raised together."""
    problems: list[Problem] = []
    taken = []
    for index, item in enumerate(value):
        try:
            taken.append(take(item))
        except Findings as findings:
            problems += findings.under(index)
    if problems:
        raise Findings(problems)
    return tuple(taken)


def _exactly(kind: type) -> Hook:
    def exact(value: Any, _: Any) -> Any:
        if type(value) is not kind:
            raise wrong_type(EXPECTED[kind], value)
        return value

    return exact


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float):
        raise wrong_type(EXPECTED[float], value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise finding("AGT109", "a number must be finite")
    return number


def _date(value: Any, _: Any) -> datetime.date:
    if type(value) is str:
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise finding("AGT110", "this is not a date", "write it as in 2026-09-29") from None
    if type(value) is not datetime.date:
        raise wrong_type(EXPECTED[datetime.date], value)
    return value


DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _duration(value: Any, _: Any) -> float:
    if type(value) is not str:
        number = f"{value:g}" if type(value) in (int, float) and math.isfinite(value) else ""
        hint = f'say the unit: "{number}s" or "{number}ms"' if number else ""
        raise finding("AGT106", "a duration is a string with a unit: ms, s, m, h or d", hint)
    match = DURATION.fullmatch(value)
    if match is None:
        hint = 'write a number and a unit: "500ms", "10s", "5m", "1h", "2d"'
        raise finding("AGT106", "this is not a duration", hint)
    return float(match[1]) * _SECONDS[match[2]]


def _patterns(value: Any, _: Any) -> tuple[str, ...]:
    if type(value) not in (str, list):
        raise wrong_type("a string or a list of strings", value)
    return _filled(value, "a pattern") if type(value) is list else _filled([value], "a pattern", alone=True)


def _filled(value: list[Any], what: str, *, alone: bool = False) -> tuple[str, ...]:
    """Return a list of strings, none of them empty."""

    def take(item: Any) -> str:
        if type(item) is not str:
            raise wrong_type("a string", item)
        if not item.strip("! "):
            raise finding("AGT107", f"{what} is empty")
        return item

    return (take(value[0]),) if alone else each(value, take)


def _list_edit(value: Any, _: Any) -> ListEdit:
    if type(value) is str:
        return ListEdit(replace=_filled([value], "a name", alone=True))
    if type(value) is list:
        return ListEdit(replace=_filled(value, "a name"))
    if type(value) is not dict:
        raise wrong_type("a list of strings", value)
    problems: list[Problem] = []
    edits: dict[str, tuple[str, ...]] = {}
    for key, items in value.items():
        try:
            if key not in ("add", "remove"):
                raise finding(
                    "AGT101", f"a list has no {shown(key)}", "a list is edited by `.add` and `.remove`", at="key"
                )
            if type(items) is not list:
                raise wrong_type("a list of strings", items)
            edits[key] = _filled(items, "a name")
        except Findings as findings:
            problems += findings.under(key)
    if problems:
        raise Findings(problems)
    return ListEdit(**edits)


_SECRET = ("env", "file", "command", "keyring")


def _secret(value: Any, _: Any) -> Secret:
    if type(value) is str:
        raise finding("AGT113", "a secret must not stand in the file", 'name where it is: { env = "NAME" }')
    if type(value) is not dict:
        raise wrong_type("a table", value)
    wrong = [key for key in value if key not in _SECRET]
    if wrong:
        hints = [did_you_mean(key, _SECRET) or "there are: env, file, command, keyring" for key in wrong]
        message = "a secret has no key {}"
        raise Findings(
            Problem("AGT101", message.format(shown(key)), (key,), hint=hint, at="key")
            for key, hint in zip(wrong, hints, strict=True)
        )
    if len(value) != 1:
        message = "a secret is given by exactly one of `env`, `file`, `command` and `keyring`"
        raise finding("AGT105", message, 'write { env = "NAME" }', at="key")
    ((place, given),) = value.items()
    try:
        if place == "command":
            if type(given) is not list or not given:
                raise wrong_type("a list of strings", given)
            return Secret(command=_filled(given, "a word of the command"))
        if type(given) is not str:
            raise wrong_type("a string", given)
        if place == "keyring" and not all(part.strip() for part in given.rpartition("/")[::2]):
            raise finding("AGT110", "an entry of the keyring is SERVICE/USER", 'as in { keyring = "acme-gateway/jo" }')
        if not given.strip() or (place == "env" and not re.fullmatch(r"[^=\s]+", given)):
            raise finding("AGT107", "this names nothing")
    except Findings as findings:
        raise Findings(findings.under(place)) from None
    return Secret(
        env=given if place == "env" else None,
        file=given if place == "file" else None,
        keyring=given if place == "keyring" else None,
    )


def _text_file(value: Any, _: Any) -> TextFile:
    if type(value) is Included:
        return TextFile(value.file, value.text)
    if type(value) is not dict:
        raise wrong_type("a table", value)
    if value.keys() != {"file"} or type(value["file"]) is not str:
        raise finding("AGT105", 'a text is a string or { file = "..." }, nothing else')
    raise Findings([Problem("AGT306", "the text has not been read", ("file",))])


def free_table(value: Any, _: Any) -> Any:
    """Return a copy of a table that may hold anything that can be sent as JSON."""
    if type(value) is not dict:
        raise wrong_type("a table", value)
    return _json(value, _)


def _json(value: Any, _: Any) -> Any:
    """Return a copy of what can be sent as JSON."""
    if type(value) is dict:
        problems: list[Problem] = []
        entries = {}
        for key, item in value.items():
            try:
                entries[key] = _json(item, _)
            except Findings as findings:
                problems += findings.under(key)
        if problems:
            raise Findings(problems)
        return entries
    if type(value) is list:
        return list(each(value, lambda item: _json(item, _)))
    if type(value) is float and not math.isfinite(value):
        raise finding("AGT109", "a number must be finite: JSON has no nan and inf")
    if type(value) not in (str, int, float, bool):
        raise finding("AGT102", "JSON has no dates and times", "put it in quotes")
    return value


HOOKS: dict[Any, Hook] = {
    str: _exactly(str),
    bool: _exactly(bool),
    int: _exactly(int),
    datetime.date: _date,
    float: _number,
    Duration: _duration,
    Patterns: _patterns,
    ListEdit: _list_edit,
    Secret: _secret,
    TextFile: _text_file,
    Any: _json,
}

EXPECTED: dict[Any, str] = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    datetime.date: "a date, as in 2026-09-29",
    Duration: 'a duration, as in "10s"',
    Patterns: "a string or a list of strings",
    ListEdit: "a list of strings",
    TextFile: '{ file = "..." }',
    Secret: '{ env = "NAME" }',
}

WRITTEN_AS: dict[Any, frozenset[type]] = {
    str: frozenset({str}),
    bool: frozenset({bool}),
    int: frozenset({int}),
    float: frozenset({int, float}),
    datetime.date: frozenset({datetime.date, str}),
    Duration: frozenset({str, int, float}),
    Patterns: frozenset({str, list}),
    ListEdit: frozenset({str, list, dict}),
    Secret: frozenset({dict}),
    TextFile: frozenset({dict, Included}),
}
