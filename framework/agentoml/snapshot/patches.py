"""What a value sets, as a patch over the profile: several patches are added up in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import attrs
from attrs import frozen

from agentoml.config.vocabulary.notation import ListEdit, TextFile
from agentoml.config.vocabulary.profile import Limits, ProfileKeys
from agentoml.snapshot.precedence import is_glob

Key = tuple[str, ...]
"""A key of the profile that holds one thing and can have an owner (E1): ("model",), a leaf of the request
parameters ("params", "thinking", "budget"), or a server ("mcp", "github")."""

MODEL: Key = ("model",)
NOT_GIVEN_PERMISSIONS = ("standard",)
SINGLE_KEYS = ("model", "summary_model", "reasoning", "variant", "instructions")


@frozen
class Patch:
    """What is set. `keys` replace one another; everything else accumulates, in order."""

    keys: Mapping[Key, Any] = MappingProxyType({})
    server_globs: tuple[tuple[str, bool], ...] = ()
    paragraphs: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    tools: tuple[ListEdit, ...] = ()
    permissions: tuple[tuple[str, ...], ...] = ()
    auto_answers: tuple[ListEdit, ...] = ()
    commands: tuple[ListEdit, ...] = ()
    context_files: tuple[ListEdit, ...] = ()
    limits: tuple[Limits, ...] = ()

    def then(self, later: Patch) -> Patch:
        """Return both patches as one."""
        if later is NOTHING or later == NOTHING:
            return self
        if self is NOTHING or self == NOTHING:
            return later
        return Patch(
            keys=MappingProxyType({**self.keys, **later.keys}),
            server_globs=self.server_globs + later.server_globs,
            paragraphs=self.paragraphs + later.paragraphs,
            reminders=self.reminders + later.reminders,
            tools=self.tools + later.tools,
            permissions=self.permissions + later.permissions,
            auto_answers=self.auto_answers + later.auto_answers,
            commands=self.commands + later.commands,
            context_files=self.context_files + later.context_files,
            limits=self.limits + later.limits,
        )


NOTHING = Patch()


def leaves(params: Mapping[str, Any], path: Key = ("params",)) -> Iterator[tuple[Key, Any]]:
    """Yield the leaves of request parameters, each with its path."""
    for name, value in params.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name), freeze(value)


def freeze(value: Any) -> Any:
    """Return TOML data, also within classes of the vocabulary, that can't be changed any more."""
    if isinstance(value, Mapping):
        return MappingProxyType({name: freeze(inner) for name, inner in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(inner) for inner in value)
    if attrs.has(type(value)):
        inner = {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
        return attrs.evolve(value, **{name: freeze(said) for name, said in inner.items() if said})
    return value


def thaw(value: Any) -> Any:
    """Return frozen TOML data as plain dicts and lists."""
    if isinstance(value, Mapping):
        return {name: thaw(inner) for name, inner in value.items()}
    if isinstance(value, tuple):
        return [thaw(inner) for inner in value]
    return value


def text_of(text: str | TextFile | None) -> str | None:
    """Return a text that may stand in a file of its own."""
    return text.text if isinstance(text, TextFile) else text


def patch_of(keys: ProfileKeys, model_key: Callable[[str], str]) -> Patch:
    """Return what a `set` sets. `model_key` maps a model's alias to its key."""
    replaced: dict[Key, Any] = {}
    for name in SINGLE_KEYS:
        value = getattr(keys, name)
        if value is not None:
            replaced[(name,)] = model_key(value) if name in ("model", "summary_model") else text_of(value)
    replaced.update(leaves(keys.params))
    replaced.update({("mcp", name): on for name, on in keys.mcp.items() if not is_glob(name)})
    patch = Patch(
        keys=MappingProxyType(replaced),
        server_globs=tuple((name, on) for name, on in keys.mcp.items() if is_glob(name)),
        paragraphs=_one(text_of(keys.instructions_append)),
        reminders=_one(text_of(keys.reminder)),
        tools=_one(keys.tools),
        permissions=_one((*(keys.permissions.replace or ()), *keys.permissions.add) if keys.permissions else None),
        auto_answers=_one(keys.auto_answers),
        commands=_one(keys.commands),
        context_files=_one(keys.context_files),
        limits=_one(keys.limits),
    )
    return NOTHING if patch == NOTHING else patch


def base_permissions(agent: ProfileKeys) -> tuple[str, ...]:
    """Return the permission sets of the base; where nothing is said of them, `standard`: never "no rules"."""
    return agent.permissions.apply(NOT_GIVEN_PERMISSIONS) if agent.permissions else NOT_GIVEN_PERMISSIONS


def _one(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,)


def implicit_patch(target: str | None, value: str) -> Patch:
    """Return what choosing an entry of a source sets by itself; `target` is a key, "mcp" or None (E20)."""
    match target:
        case None:
            return NOTHING
        case "permissions":
            return Patch(permissions=((value,),))
        case "auto_answers":
            return Patch(auto_answers=(ListEdit(replace=(value,)),))
        case _:
            key = owned_key(target, value)
            return Patch(keys=MappingProxyType({key: True if target == "mcp" else value}))


def owned_key(target: str, value: str) -> Key:
    """Return the key that an entry of a source goes into."""
    return ("mcp", value) if target == "mcp" else (target,)
