"""Active values -> the profile: base, `mode`, the other options, the running command (E2, E5, E27 to E30)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from agentoml.config.globs import divided, matches
from agentoml.config.vocabulary.notation import ListEdit
from agentoml.config.vocabulary.profile import Budget, Limits
from agentoml.snapshot.patches import MODEL, Key, Patch
from agentoml.snapshot.precedence import is_glob, most_specific
from agentoml.snapshot.profile import Profile, Servers
from agentoml.snapshot.resolving.chain import first_model
from agentoml.snapshot.resolving.state import State
from agentoml.snapshot.snapshot import CatalogModel


def fold(state: State) -> Profile:
    """Return the profile that the active values make."""
    snapshot = state.snapshot
    base = snapshot.base
    patches = [patch for _, patch in contributions(state)]
    base_keys = dict(keys_of_base(state))
    patch_keys = dict(keys_of_patches(state))
    keys = {**base_keys, **patch_keys}
    model = state.model
    return Profile(
        model=model.key if model is not None else None,
        summary_model=_of_the_model(keys.get(("summary_model",)), snapshot.models),
        reasoning=_of_the_model(keys.get(("reasoning",)), model.levels if model else ()),
        variant=_of_the_model(keys.get(("variant",)), model.variants if model else ()),
        base_params=params_of(base_keys),
        patch_params=params_of(patch_keys),
        params=params_of(keys),
        instructions=keys.get(("instructions",)),
        instructions_append=_all(base.patch.paragraphs, (patch.paragraphs for patch in patches)),
        reminder=_all(base.patch.reminders, (patch.reminders for patch in patches)),
        servers=servers_in_force(state),
        permissions_base=base.permissions,
        permissions_patches=_all((), (patch.permissions for patch in patches)),
        auto_answers=_edited(base.auto_answers, (patch.auto_answers for patch in patches)),
        context_files=_edited(base.context_files, (patch.context_files for patch in patches)),
        commands=commands_in_force(state),
        limits=least_limits([*base.patch.limits, *_all((), (patch.limits for patch in patches))]),
        tool_edits=_tool_edits(base.tools, _all((), (patch.tools for patch in patches))),
    )


def contributions(state: State) -> Iterator[tuple[str | None, Patch]]:
    """Yield the patch of each active value in fold order, with its option; the running command's (None) last (E27)."""
    for name in state.snapshot.options:
        active = state.active.get(name)
        if active is not None:
            yield name, active.patch
    if state.view.command is not None:
        yield None, state.view.command.value.patch


def keys_of_base(state: State) -> Iterator[tuple[Key, Any]]:
    """Yield the base's keys that count: of an owner that is there only those that none of its values sets (E2)."""
    snapshot = state.snapshot
    for key, said in snapshot.base.patch.keys.items():
        if snapshot.owners.get(key) not in state.active:
            yield key, said
    for name in state.active:
        yield from snapshot.ownership[name].kept.items()


def keys_of_patches(state: State) -> Iterator[tuple[Key, Any]]:
    """Yield the keys of the active values that count: where the owner is there, its own alone (E2, E4)."""
    owners = state.snapshot.owners
    for name, patch in contributions(state):
        for key, said in patch.keys.items():
            owner = owners.get(key)
            if owner is None or owner == name or owner not in state.active:
                yield key, said


def model_in_force(state: State) -> CatalogModel | None:
    """Return the model, once everything that may set it is worked out (E23, E31)."""
    key = _said(MODEL, state)
    if key is None or key not in state.snapshot.models:
        key = first_model(state)
    return None if key is None else state.snapshot.models[key]


def _said(key: Key, state: State) -> Any:
    """Return what is said of a key: by its owner alone where that is there, else by the last patch or the base."""
    snapshot = state.snapshot
    owner = state.active.get(snapshot.owners.get(key, ""))
    if owner is not None:
        return owner.patch.keys.get(key, snapshot.ownership[owner.option.id].kept.get(key))
    said = snapshot.base.patch.keys.get(key)
    for _, patch in contributions(state):
        said = patch.keys.get(key, said)
    return said


def _of_the_model(value: str | None, known: Collection[str]) -> str | None:
    """Return a level or variant that the model in force has (E5)."""
    return value if value in known else None


def _all(base: tuple[Any, ...], added: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return (*base, *(one for some in added for one in some))


def _edited(base: tuple[str, ...], edits: Iterable[tuple[ListEdit, ...]]) -> tuple[str, ...]:
    names = base
    for edit in _all((), edits):
        names = edit.apply(names)
    return names


def params_of(keys: Mapping[Key, Any]) -> dict[str, Any]:
    """Return leaves of request parameters as nested tables."""
    params: dict[str, Any] = {}
    for key, said in keys.items():
        if key[0] == "params":
            put(params, key[1:], said)
    return params


def put(params: dict[str, Any], path: Key, value: Any) -> None:
    """Lay one leaf over request parameters."""
    for name in path[:-1]:
        inner = params.get(name)
        if not isinstance(inner, dict):
            inner = params[name] = {}
        params = inner
    params[path[-1]] = value


def servers_in_force(state: State) -> Servers:
    """Return which servers are on: what an owner that is there says alone, else the most specific rule (E2, E29)."""
    snapshot = state.snapshot
    keys = {**dict(keys_of_base(state)), **dict(keys_of_patches(state))}
    rules = (
        *_all(snapshot.base.patch.server_globs, (patch.server_globs for _, patch in contributions(state))),
        *((key[1], on) for key, on in keys.items() if key[0] == "mcp"),
    )
    declared = {}
    for name, server in snapshot.servers.items():
        owner = snapshot.owners.get(("mcp", name))
        owned = owner is not None and owner in state.active
        said = keys.get(("mcp", name)) if owned else most_specific(rules, name)
        declared[name] = server.enabled if said is None else said
    return Servers(declared, rules, snapshot.server_tools)


def commands_in_force(state: State) -> tuple[str, ...]:
    """Return the slash commands that the base and the active values let through."""
    snapshot = state.snapshot
    names = snapshot.base.commands
    for edit in _all((), (patch.commands for _, patch in contributions(state))):
        names = edited_commands(names, edit, snapshot.commands)
    return names


def edited_commands(before: tuple[str, ...], edit: ListEdit, commands: Iterable[str]) -> tuple[str, ...]:
    """Return a list of commands after an edit; names and globs select among all commands."""
    known = tuple(commands)
    start = before if edit.replace is None else named_commands(edit.replace, known)
    removed = named_commands(edit.remove, known)
    return tuple(dict.fromkeys(name for name in (*start, *named_commands(edit.add, known)) if name not in removed))


def named_commands(patterns: tuple[str, ...], commands: Iterable[str]) -> tuple[str, ...]:
    """Return the commands that names and globs select, in the order in which they are named."""
    chosen, excluded = divided(patterns)
    found = (
        name for glob in chosen for name in commands if (name == glob if not is_glob(glob) else matches(glob, name))
    )
    return tuple(dict.fromkeys(name for name in found if not any(matches(glob, name) for glob in excluded)))


def _tool_edits(base: ListEdit | None, edits: tuple[ListEdit, ...]) -> tuple[ListEdit, ...]:
    """Return the lists of tools that count: the base's too, unless a patch lists something positive (E28)."""
    positive = any(not selector.startswith("!") for edit in edits for selector in edit.replace or ())
    return edits if base is None or positive else (base, *edits)


def least_limits(found: Sequence[Limits]) -> Limits:
    """Return of each limit the smallest."""
    if not found:
        return Limits()
    return Limits(turn=_smallest([one.turn for one in found]), session=_smallest([one.session for one in found]))


def _smallest(budgets: list[Budget | None]) -> Budget | None:
    given = [budget for budget in budgets if budget is not None]
    if not given:
        return None
    smallest = {}
    for attribute in attrs.fields(Budget):
        numbers = [getattr(budget, attribute.name) for budget in given]
        smallest[attribute.name] = min((number for number in numbers if number is not None), default=None)
    return Budget(**smallest)
