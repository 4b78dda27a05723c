"""The types of the vocabulary -> the converter that takes tables to them: strictly, with every problem at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import attrs

from agentoml.config.diagnostics.unknown_keys import unknown_key
from agentoml.config.problems import Problem, shown
from agentoml.config.structuring.findings import Findings, not_among, wrong_type
from agentoml.config.structuring.hooks import EXPECTED, HOOKS, WRITTEN_AS, Hook, each, free_table, name
from agentoml.config.structuring.shape import shape_problems

if TYPE_CHECKING:
    from cattrs import ClassValidationError, Converter

INCOMPLETE = frozenset({"AGT104", "AGT105", "AGT111", "AGT306"})
"""What is not told while something else is broken: it may be just that which is missing."""


@lru_cache(maxsize=2)
def converter(*, gates: bool = True) -> Converter:
    """Return the converter from tables to the classes of the vocabulary, built once.

    `gates`: whether keys that are not supported yet are refused.
    """
    from cattrs import Converter

    strict = Converter(detailed_validation=True)
    strict.register_structure_hook_factory(attrs.has, lambda kind: _table_hook(kind, strict, gates))
    strict.register_structure_hook_factory(_is_mapping, lambda kind: _mapping_hook(kind, strict))
    strict.register_structure_hook_factory(_is_tuple, lambda kind: _list_hook(kind, strict))
    strict.register_structure_hook_factory(_is_union, lambda kind: _union_hook(kind, strict))
    strict.register_structure_hook_factory(_is_literal, _literal_hook)
    for kind, hook in HOOKS.items():
        if isinstance(kind, type):
            strict.register_structure_hook(kind, hook)
        else:
            strict.register_structure_hook_func(lambda asked, kind=kind: asked is kind, hook)  # type: ignore[misc]
    return strict


# ------------------------------------------------------------------------------------------ types -> their hooks


def _is_mapping(kind: Any) -> bool:
    return get_origin(kind) is Mapping


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _is_literal(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _is_union(kind: Any) -> bool:
    return len(members(kind)) > 1 or type(None) in get_args(kind)


def members(kind: Any) -> tuple[Any, ...]:
    """Return what a union is made of, without None: TOML has none."""
    import types
    import typing

    if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
        return tuple(member for member in get_args(kind) if member is not type(None))
    return (kind,)


def _table_hook(kind: type, strict: Converter, gates: bool) -> Hook:
    from cattrs import ClassValidationError
    from cattrs.gen import make_dict_structure_fn

    build: Hook = make_dict_structure_fn(kind, strict)
    known = {attribute.name for attribute in attrs.fields(kind)}
    later = {attribute.name for attribute in attrs.fields(kind) if gates and attribute.metadata["later"]}
    usable = known - later

    def hook(value: Any, _: Any) -> Any:
        if type(value) is not dict:
            raise wrong_type("a table", value)
        problems: list[Problem] = []
        given = value
        if not value.keys() <= usable:
            problems += (unknown_key(kind, key, value[key]) for key in value if key not in known)
            problems += (_not_yet(key) for key in value if key in later)
            given = {key: item for key, item in value.items() if key in usable}
        try:
            table = build(given, kind)
        except ClassValidationError as error:
            wrong = _within(error)
            problems += wrong
            blamed = {problem.path[0] for problem in wrong}
            given = {key: item for key, item in given.items() if key not in blamed}
            table = build(given, kind)  # so that the other keys are looked at, too
        broken = bool(problems)
        problems += [problem for problem in shape_problems(table, given) if not (broken and problem.code in INCOMPLETE)]
        if problems:
            raise Findings(problems)
        return table

    return hook


def _not_yet(key: str) -> Problem:
    return Problem("AGT108", f"{shown(key)} is not supported yet", (key,), hint="leave it out", at="key")


def _within(error: ClassValidationError) -> list[Problem]:
    """Return the problems of the keys of a table, each under its key."""
    problems: list[Problem] = []
    for cause, note in error.group_exceptions()[0]:
        if not isinstance(cause, Findings):
            raise error
        problems += cause.under(note.name)
    return problems


def _mapping_hook(kind: Any, strict: Converter) -> Hook:
    entry = get_args(kind)[1]
    if entry is Any:
        return free_table
    hook = strict.get_structure_hook(entry)
    expected = "a table of tables" if attrs.has(entry) else "a table"

    def mapping(value: Any, _: Any) -> Any:
        if type(value) is not dict:
            raise wrong_type(expected, value)
        problems: list[Problem] = []
        entries = {}
        for key, item in value.items():
            try:
                entries[name(key)] = hook(item, entry)
            except Findings as findings:
                problems += findings.under(key)
        if problems:
            raise Findings(problems)
        return entries

    return mapping


def _list_hook(kind: Any, strict: Converter) -> Hook:
    item_kind = get_args(kind)[0]
    hook = strict.get_structure_hook(item_kind)

    def items(value: Any, _: Any) -> Any:
        if type(value) is not list:
            raise wrong_type(_expected(kind), value)
        return each(value, lambda item: hook(item, item_kind))

    return items


def _literal_hook(kind: Any) -> Hook:
    words = get_args(kind)

    def literal(value: Any, _: Any) -> Any:
        if type(value) is not str:
            raise wrong_type(_expected(kind), value)
        if value not in words:
            raise not_among(value, words)
        return value

    return literal


def _union_hook(kind: Any, strict: Converter) -> Hook:
    """Take the member that the type of the value decides for: its own before one that takes it too (`1` is no float),
    and of words and other strings the words.
    """
    choices = members(kind)
    if len(choices) == 1:
        return strict.get_structure_hook(choices[0])
    hooks = [(member, _accepts(member), strict.get_structure_hook(member)) for member in choices]

    def union(value: Any, _: Any) -> Any:
        fitting = [(member, hook) for member, accepts, hook in hooks if type(value) in accepts]
        if not fitting:
            raise wrong_type(_either(_expected(member) for member in choices), value)
        for member, hook in fitting[:-1]:
            if member is type(value) or (_is_literal(member) and value in get_args(member)):
                return hook(value, member)
        member, hook = fitting[-1]
        return hook(value, member)

    return union


def _accepts(kind: Any) -> frozenset[type]:
    """Return the Python types of TOML values that a type of the vocabulary may be written as."""
    if kind in WRITTEN_AS:
        return WRITTEN_AS[kind]
    if attrs.has(kind) or _is_mapping(kind):
        return frozenset({dict})
    return frozenset({str}) if _is_literal(kind) else frozenset({list})


def _expected(kind: Any) -> str:
    """Return in words what a type of the vocabulary asks for."""
    if kind in EXPECTED:
        return EXPECTED[kind]
    if attrs.has(kind) or _is_mapping(kind):
        return "a table"
    if _is_literal(kind):
        return " or ".join(f'"{word}"' for word in get_args(kind)) if len(get_args(kind)) < 5 else "a string"
    return "a list of strings" if get_args(kind)[0] is str else "a list"


def _either(words: Iterable[str]) -> str:
    *first, last = dict.fromkeys(words)
    if any(" or " in word for word in (*first, last)):
        return ", or ".join((*first, last))
    return f"{', '.join(first)} or {last}" if first else last
