"""What a session is like: each option and what gives it its value, the profile patch by patch, what comes of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from agentoml.cli.columns import columns
from agentoml.cli.explain_case import Case
from agentoml.config.inline import inline
from agentoml.config.problems import Path as KeyPath
from agentoml.config.problems import dotted
from agentoml.config.vocabulary.notation import ListEdit
from agentoml.snapshot.patches import Patch, thaw
from agentoml.snapshot.profile import Profile
from agentoml.snapshot.resolve import is_rendered
from agentoml.snapshot.resolving.chain import why
from agentoml.snapshot.resolving.fold import contributions, keys_of_base, keys_of_patches
from agentoml.snapshot.resolving.state import Active

Explanation = dict[str, Any]

HEAD = ("OPTION", "VALUE", "BECAUSE", "WHERE")
BECAUSE: Mapping[str, str] = {
    "picked": "picked",
    "default": "its default",
    "base": "the base says so",
    "data": "the model's own default",
    "first": "the first of its list",
}


def explain(case: Case, _: argparse.Namespace) -> Explanation:
    """Return the options, the patches in the order in which they are laid over one another, and the profile."""
    options = [_option(case, active) for active in case.resolved.shown.active.values()]
    patches = list(_patches(case))
    places = case.places(each["path"] for each in (*options, *patches))
    for each in (*options, *patches):
        each["where"] = places.get(each.pop("path"))
    return {
        "options": options,
        "missing": dict(case.resolved.shown.missing),
        "patches": patches,
        "profile": _profile(case.resolved.profile),
    }


def text(explanation: Explanation) -> Iterator[str]:
    """Yield the explanation as lines."""
    rows = [
        (each["option"], each["value"], each["because"] + ("" if each["shown"] else ", not shown"), each["where"] or "")
        for each in explanation["options"]
    ]
    rows += [(name, "", f"is not there: {reason}", "") for name, reason in explanation["missing"].items()]
    yield from columns(HEAD, rows).splitlines() if rows else ["no options"]
    for patch in explanation["patches"]:
        yield ""
        yield f"{patch['by']}  # {patch['where']}" if patch["where"] else patch["by"]
        for key, value in patch["sets"].items():
            instead = patch["does_not_count"].get(key)
            yield _line(key, value) + (f"  # does not count: {instead}" if instead else "")
    yield ""
    yield "in force"
    yield from (_line(key, value) for key, value in explanation["profile"].items())


def _line(key: str, value: Any) -> str:
    text = inline(value).replace("\\u000a", "\\n")
    return f"  {key} = {text}"


# ------------------------------------------------------------------------------------------------ options


def _option(case: Case, active: Active) -> dict[str, Any]:
    """Return an option with its value, and what gives it that."""
    name, value = active.option.id, active.value.id
    because, path = _because(case, active)
    return {
        "option": name,
        "value": value,
        "because": because,
        "path": path,
        "shown": is_rendered(active.option, case.resolved.shown),
    }


def _because(case: Case, active: Active) -> tuple[str, KeyPath]:
    option = active.option
    own = case.linked.values.tables[option.id].path
    if active.forced_by is not None:
        by = active.forced_by
        key = next(iter(by.keys))
        return f"forced by {by.who}", case.value_path(by.option or "", by.value, "set", *key)
    link = why(option, case.resolved.shown.listings[option.id], case.resolved.shown)
    if link is None:
        return "", own
    if link.why == "preselected" and link.by is not None:
        place = f"{link.by[0]} = {link.by[1]!r}"
        return f"preselected by {place}", case.value_path(*link.by, "preselect", option.id)
    paths: dict[str, KeyPath] = {"default": (*own, "default"), "base": _of_base(case, option.id)}
    if option.source == "model.reasoning" and case.resolved.shown.model is not None:
        paths["data"] = ("models", case.resolved.shown.model.entry, "reasoning", "default")
    is_off = link.why == "first" and option.kind == "boolean"
    return "off, as nothing turns it on" if is_off else BECAUSE[link.why], paths.get(
        link.why, case.value_path(option.id, active.value.id)
    )


def _of_base(case: Case, option: str) -> KeyPath:
    return ("agent", *next(iter(case.snapshot.ownership[option].keys), ()))


# ------------------------------------------------------------------------------------------------ patches


def _patches(case: Case) -> Iterator[dict[str, Any]]:
    """Yield what the base sets, then what each active value sets, in fold order."""
    state = case.resolved.shown
    winning = {**dict(keys_of_base(state)), **dict(keys_of_patches(state))}
    later: dict[KeyPath, str] = {}
    found: list[tuple[str, KeyPath, Patch]] = [("the base", ("agent",), case.snapshot.base.patch)]
    for name, patch in contributions(state):
        if name is not None and patch != Patch():
            value = state.active[name].value.id
            found.append((f"{name} = {value}", case.value_path(name, value), patch))
    told = []
    for who, path, patch in reversed(found):
        lost = {}
        for key, said in patch.keys.items():
            owner = state.snapshot.owners.get(key)
            if owner in state.active and not who.startswith(f"{owner} = "):
                lost[dotted(key)] = f"the option {owner} decides"
            elif key in later or winning.get(key) != said:
                lost[dotted(key)] = f"{later.get(key, 'another value')} sets it"
            else:
                later[key] = who
        sets = _sets(patch, case, base=who == "the base")
        told.append({"by": who, "path": path, "sets": sets, "does_not_count": lost})
    yield from reversed(told)


def _sets(patch: Patch, case: Case, *, base: bool) -> dict[str, Any]:
    """Return what a patch sets, as a file says it."""
    found: dict[str, Any] = {dotted(key): thaw(value) for key, value in patch.keys.items()}
    found |= {dotted(("mcp", glob)): on for glob, on in patch.server_globs}
    permissions = (case.snapshot.base.permissions,) if base else patch.permissions
    said: dict[str, list[Any]] = {
        "instructions_append": list(patch.paragraphs),
        "reminder": list(patch.reminders),
        "permissions": [list(names) for names in permissions],
    }
    found |= {name: one[0] if len(one) == 1 else one for name, one in said.items() if one}
    for name in ("tools", "auto_answers", "commands", "context_files"):
        for edit in getattr(patch, name):
            found |= _edit(name, edit)
    for limits in patch.limits:
        found |= {f"limits.{name}": said for name, said in _given(limits).items()}
    return found


def _edit(name: str, edit: ListEdit) -> dict[str, Any]:
    said = {"": edit.replace, ".add": edit.add, ".remove": edit.remove}
    return {f"{name}{verb}": list(names) for verb, names in said.items() if names}


def _given(table: Any) -> dict[str, Any]:
    """Return what is given in a class of the vocabulary, as plain data."""
    return attrs.asdict(table, filter=lambda _, value: value is not None)


# ------------------------------------------------------------------------------------------------ what comes of it


def _profile(profile: Profile) -> dict[str, Any]:
    """Return the profile by the keys that files use, without what is not set."""
    everything = {
        "model": profile.model,
        "summary_model": profile.summary_model,
        "reasoning": profile.reasoning,
        "variant": profile.variant,
        "params": thaw(profile.params),
        "instructions": "\n\n".join(profile.instructions_paragraphs),
        "reminder": list(profile.reminder),
        "mcp": dict(profile.mcp),
        "permissions": list(profile.permissions_base),
        "permissions of values": [list(names) for names in profile.permissions_patches],
        "auto_answers": list(profile.auto_answers),
        "commands": list(profile.commands),
        "context_files": list(profile.context_files),
        "limits": _given(profile.limits),
    }
    return {key: value for key, value in everything.items() if value}
