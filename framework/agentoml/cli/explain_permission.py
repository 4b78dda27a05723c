"""Why a tool call is allowed, asked about or denied: each set in force, what it says, which rule counts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentoml.cli.columns import columns
from agentoml.cli.explain_case import Case, NotExplained
from agentoml.config.problems import Path as KeyPath
from agentoml.config.problems import did_you_mean, quoted
from agentoml.permissions.calls import World
from agentoml.permissions.judging import hear
from agentoml.permissions.parts import Part
from agentoml.permissions.verdict import InForce, Judgement, Reason, judgements, strictness
from agentoml.session.world import world_of
from agentoml.snapshot.resolving.fold import contributions
from agentoml.snapshot.tool_names import ToolTables
from agentoml.tools.built_in import built_in_tools

Explanation = dict[str, Any]

HEAD = ("", "SAYS", "BY", "WHERE")
SAID_OF: Mapping[str, str] = {
    "allow": "it runs without a question",
    "ask": "the user is asked",
    "always_ask": "the user is asked every time",
    "deny": "it never runs",
}


def explain(case: Case, arguments: argparse.Namespace) -> Explanation:
    """Return the verdict on a call and all that led to it.

    Raises:
        NotExplained: no such tool, or arguments that it does not have.
    """
    args = _arguments_of(case, arguments.tool, arguments.args)
    call = ToolTables(case.snapshot.tools, case.snapshot.tool_kinds).call(arguments.tool, args)
    profile = case.resolved.profile
    in_force = InForce(profile.permissions_base, profile.permissions_patches, profile.auto_answers)
    world = world_of(str(Path.cwd()), ())
    judged = judgements(call, in_force, case.snapshot.permissions, world)
    decisive = max(judged, key=lambda each: strictness(each[1].verdict))
    explained = [_part(case, part, judgement, world) for part, judgement in judged]
    _add_places(case, [said for part in explained for listed in part["lists"] for said in (listed, *listed["each"])])
    return {
        "tool": arguments.tool,
        "kind": call.kind,
        "args": args,
        "options": {name: active.value.id for name, active in case.resolved.shown.active.items()},
        "verdict": decisive[1].verdict,
        "because": next((said for said in explained[judged.index(decisive)]["lists"] if said["counts"]), None),
        "parts": explained,
    }


def text(explanation: Explanation) -> Iterator[str]:
    """Yield the explanation as lines."""
    options = ", ".join(f"{name} = {value}" for name, value in explanation["options"].items())
    yield f"{explanation['tool']} (kind {explanation['kind']})" + (f" with {options}" if options else "")
    for part in explanation["parts"]:
        yield ""
        yield part["part"]
        rows = [row for said in part["lists"] for row in _rows(said)]
        yield from (f"  {line}" for line in columns(HEAD, rows).splitlines()[1:])
    yield ""
    because = explanation["because"]
    why = "nothing speaks about it" if because is None else because["by"]
    where = f", {because['where']}" if because is not None and because["where"] else ""
    yield f"{explanation['verdict']}: {SAID_OF[explanation['verdict']]} ({why}{where})"


def _rows(said: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    counts = "  <- counts" if said["counts"] else ""
    yield said["who"], said["says"] or "silent", said["by"] or "", f"{said['where'] or ''}{counts}"
    if len(said["each"]) > 1 or said["says"] is None:
        for each in said["each"]:
            yield f"  {each['set']}", each["says"] or "silent", each["by"] or "", each["where"] or ""


# ------------------------------------------------------------------------------------------------ the call


def _arguments_of(case: Case, tool: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a call from words: in order, or by name."""
    known = _parameters(case, tool)
    if known is None and not tool.startswith("mcp:"):
        names = [*built_in_tools(), *case.snapshot.tools]
        meant = did_you_mean(tool, names) or f"there are: {', '.join(names)}"
        raise NotExplained(f"agentoml explain: no tool {quoted(tool)}; {meant}")
    if tool == "shell":
        return {"command": " ".join(words)} if words else {}
    args: dict[str, Any] = {}
    waiting = list(known or ())
    for word in words:
        name, equals, value = word.partition("=")
        if equals and (known is None or name in known):
            args[name] = value
            waiting = [each for each in waiting if each != name]
        elif waiting:
            args[waiting.pop(0)] = word
        else:
            has = f"it has: {', '.join(known)}" if known else "write NAME=VALUE"
            raise NotExplained(f"agentoml explain: {quoted(word)} is no argument of {tool}; {has}")
    return args


def _parameters(case: Case, tool: str) -> tuple[str, ...] | None:
    """Return the names of a tool's parameters, the required ones first; None where they are not known."""
    if tool in case.snapshot.tools:
        return tuple(case.snapshot.tools[tool].parameters)
    built_in = built_in_tools().get(tool)
    if built_in is None:
        return None
    required = built_in.parameters.get("required", ())
    return tuple(dict.fromkeys((*required, *built_in.parameters.get("properties", {}))))


# ------------------------------------------------------------------------------------------------ what is said


def _part(case: Case, part: Part, judgement: Judgement, world: World) -> dict[str, Any]:
    """Return a part of the call, with what each list of sets says of it, and each set of a list alone."""
    patches = (
        f"{name} = {case.resolved.shown.active[name].value.id}"
        for name, patch in contributions(case.resolved.shown)
        if name is not None
        for _ in patch.permissions
    )
    lists = []
    for reason in judgement.reasons:
        who = next(patches) if reason.who == "a patch" else reason.who
        lists.append(_list(case, who, reason, part, world))
    return {"part": part.text, "verdict": judgement.verdict, "lists": lists}


def _list(case: Case, who: str, reason: Reason, part: Part, world: World) -> dict[str, Any]:
    answering = reason.who == "auto_answers"
    each = []
    for name in reason.sets:
        ready = case.snapshot.permissions.get(name)
        said = hear((ready,), part, world, answering=answering).said if ready is not None else None
        each.append({"set": name, "says": said.action if said else None, "by": said.by if said else None})
    by = None if reason.says is None else reason.by
    return {"who": who, "says": reason.says, "by": by, "counts": reason.counts, "each": each}


def _add_places(case: Case, everything: Sequence[dict[str, Any]]) -> None:
    """Add to each thing that is said the line that says it."""
    paths = {said["by"]: path for said in everything if (path := _path(case, said["by"]))}
    places = case.places(paths.values())
    for said in everything:
        said["where"] = places.get(paths.get(said["by"], ()))


def _path(case: Case, by: str | None) -> KeyPath:
    """Return the key path of a rule, kind or default: `SET.rules.NAME`, `SET.kinds.KIND`, `SET.default`."""
    name = next((name for name in case.linked.config.permissions if (by or "").startswith(f"{name}.")), None)
    if by is None or name is None:
        return ()
    return ("permissions", name, *by.removeprefix(f"{name}.").split(".", 1))
