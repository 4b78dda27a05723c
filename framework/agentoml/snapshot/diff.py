"""Two snapshots -> what changed, as sentences; what widens first. Pure data, for records, dry runs and questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

import attrs
from attrs import frozen

from agentoml.config.problems import quoted
from agentoml.config.schema import ToolDefinition
from agentoml.config.vocabulary.notation import ListEdit
from agentoml.permissions.sets import ReadyRule, ReadySet
from agentoml.snapshot import widening
from agentoml.snapshot.deciding import Choice, chooses_anew, decided_anew, folds_anew
from agentoml.snapshot.patches import MODEL, NOTHING, Patch
from agentoml.snapshot.snapshot import MODEL_IN_FORCE, Command, Option, Snapshot, ToolKind, Value

What = Literal["added", "removed", "changed"]

AREAS = ("permissions", "options", "models", "modes", "providers", "mcp", "commands", "tools", "agent", "connection")
"""In the order in which changes are told, those that widen before all others."""

MODE = "mode"


@frozen
class Change:
    """One entry that came, went or changed. `widens`: more may be allowed, run, reached or handed out than before.

    `restarts`: the server starts anew. `sentence` says it without secrets and without a full stop.
    """

    area: str
    name: str
    what: What
    sentence: str
    widens: bool = False
    restarts: bool = False


def diff(before: Snapshot, after: Snapshot) -> tuple[Change, ...]:
    """Return what changed from one snapshot to another, what widens first, then area by area."""
    found = [
        *_permissions(before, after),
        *_options(before, after),
        *_models(before, after),
        *_providers(before, after),
        *_servers(before, after),
        *_commands(before, after),
        *_tools(before, after),
        *_agent(before, after),
        *_connection(before, after),
    ]
    return tuple(sorted(found, key=lambda change: (not change.widens, AREAS.index(change.area))))


T = TypeVar("T")

Pair = tuple[str, What, T | None, T | None]


def _pairs(before: Mapping[str, T], after: Mapping[str, T]) -> Iterator[Pair[T]]:
    """Yield the entries that are not the same on both sides."""
    for name in {**before, **after}:
        was, now = before.get(name), after.get(name)
        if was is not now and was != now:
            yield name, "added" if was is None else "removed" if now is None else "changed", was, now


def _changed_fields(before: Any, after: Any, but: tuple[str, ...] = ()) -> list[str]:
    if before is None or after is None:
        return []
    names = (attribute.name for attribute in attrs.fields(type(before)))
    return [name for name in names if name not in but and getattr(before, name) != getattr(after, name)]


def _sentence(kind: str, name: str, what: What, fields: list[str]) -> str:
    which = f": {', '.join(fields)}" if what != "removed" and fields else ""
    return f"{kind} {quoted(name)} {what}{which}"


# --------------------------------------------------------------------------------- permissions, tool kinds


def _permissions(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    for name, what, was, now in _pairs(before.permissions, after.permissions):
        looser = was is not None and now is not None and widening.set_is_looser(was, now)
        yield Change("permissions", name, what, _about_set(name, what, was, now), looser)
    lists = (
        ("permissions", before.base.permissions, after.base.permissions),
        ("auto_answers", before.base.auto_answers, after.base.auto_answers),
    )
    for key, old, new in lists:
        if old != new:
            looser = widening.list_is_looser(old, new, before.permissions, after.permissions)
            text = f"[agent] {key} is {_listed(new)} instead of {_listed(old)}"
            yield Change("permissions", f"agent.{key}", "changed", text, looser)
    if before.ceiling != after.ceiling:
        looser = widening.ceiling_is_looser(before.ceiling, after.ceiling)
        yield Change("permissions", "policy", "changed", "the policy changed", looser)
    yield from _tool_kinds(dict(before.tool_kinds), dict(after.tool_kinds))
    for name in decided_anew(before, after):
        which = f"the option {quoted(name)}" if name != MODEL_IN_FORCE else "the model"
        text = f"what {which} is where the user picks nothing is decided anew"
        yield Change("permissions", name or "model", "changed", text, widens=True)


def _about_set(name: str, what: What, was: ReadySet | None, now: ReadySet | None) -> str:
    if was is None or now is None:
        return f"permission set {quoted(name)} {what}"
    rules = _pairs({rule.name: rule for rule in was.rules}, {rule.name: rule for rule in now.rules})
    parts = [_about_rule(*pair) for pair in rules]
    parts += [
        f"kind {kind} is {now.kinds.get(kind, 'not said')} instead of {was.kinds.get(kind, 'not said')}"
        for kind in {**was.kinds, **now.kinds}
        if was.kinds.get(kind) != now.kinds.get(kind)
    ]
    if was.default != now.default:
        parts.append(f"its default is {now.default or 'not said'} instead of {was.default or 'not said'}")
    return f"permission set {quoted(name)} changed: {', '.join(parts)}"


def _about_rule(name: str, what: What, was: ReadyRule | None, now: ReadyRule | None) -> str:
    if was is None or now is None:
        rule = now or was
        return f"rule {quoted(name)}, which says {rule.action if rule else ''}, {what}"
    fields = _changed_fields(was, now, but=("action",))
    calls = f" for other calls ({', '.join(fields)})" if fields else ""
    instead = f" instead of {was.action}" if was.action != now.action else ""
    return f"rule {quoted(name)} says {now.action}{calls}{instead}"


def _listed(names: tuple[str, ...]) -> str:
    return f"[{', '.join(names)}]"


def _tool_kinds(before: Mapping[str, ToolKind], after: Mapping[str, ToolKind]) -> Iterator[Change]:
    """Yield tools that are of another kind: rules and kinds of sets judge them by it, and by their paths."""
    if widening.reordered(before, after):
        yield Change("permissions", "tool_kinds", "changed", "the order of [tool_kinds] changed", widens=True)
    for name, what, was, now in _pairs(before, after):
        judged = [(one.kind, one.locations) if one else None for one in (was, now)]
        yield Change(
            "permissions", name, what, _sentence("the kind of tool", name, what, []), widens=judged[0] != judged[1]
        )


# --------------------------------------------------------------------------------------- options and modes


OF_VALUES = ("values", "known", "setters", "per_model", "starred", "other", "conditional", "grouped")
OF_THE_SOURCE = ("filters", "source_keys")


def _options(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    for name in {**before.options, **after.options}:
        was, now = before.options.get(name), after.options.get(name)
        what: What = "added" if was is None else "removed" if now is None else "changed"
        fields = _changed_fields(was, now, but=OF_VALUES + OF_THE_SOURCE)
        if what != "changed" or fields:
            yield Change("options", name, what, _sentence("option", name, what, fields))
        yield from _values(was, now, before, after)
        if was is not None and now is not None and widening.reordered(was.values, now.values):
            area, kind = ("modes", "the modes") if name == MODE else ("options", f"the values of {quoted(name)}")
            yield Change(area, name, "changed", f"{kind} stand in another order")
    other_fold = widening.reordered(before.options, after.options) and folds_anew(before, after)
    if other_fold or widening.reordered(before.display, after.display):
        yield Change("options", "options", "changed", "the options stand in another order", other_fold)


def _values(was: Option | None, now: Option | None, before: Snapshot, after: Snapshot) -> Iterator[Change]:
    """Yield written values, and those of a source that grant something else; data is told where it is declared."""
    option = now or was
    assert option is not None
    area, kind = ("modes", "mode") if option.id == MODE else ("options", f"value of {quoted(option.id)}:")
    old, new = (widening.all_values(one) if one else {} for one in (was, now))
    for value_id, what, one, other in _pairs(old, new):
        widens = other is not None and _grants_more(was, one, now, other, after)
        if was is not None and one is not None and other is None and (now is None or now.open):
            widens = widening.restricts(widening.grants(was, one), before.permissions, after)
        from_data = any(value is not None and value.from_data for value in (one, other))
        if (was and now and not from_data) or widens:
            fields = _changed_fields(one, other, but=("shown", "patch"))
            fields += _set_anew(one.patch if one else NOTHING, other.patch if other else NOTHING)
            fields = fields or (["what is shown"] if what == "changed" else [])
            yield Change(area, value_id, what, _sentence(kind, value_id, what, fields), widens)


def _set_anew(before: Patch, after: Patch) -> list[str]:
    """Return what a patch sets that another did not; of what decides about permissions also what that is."""
    found = []
    if before.permissions != after.permissions:
        instead = f" instead of {_of_lists(before.permissions)}" if before.permissions else ""
        found.append(f"permissions {_of_lists(after.permissions)}{instead}")
    if before.auto_answers != after.auto_answers:
        instead = f" instead of {_of_edits(before.auto_answers)}" if before.auto_answers else ""
        found.append(f"auto_answers {_of_edits(after.auto_answers)}{instead}")
    return found + [_written(name) for name in _changed_fields(before, after, but=("permissions", "auto_answers"))]


def _of_lists(lists: tuple[tuple[str, ...], ...]) -> str:
    return " and ".join(map(_listed, lists)) or "none"


def _of_edits(edits: tuple[ListEdit, ...]) -> str:
    words = (
        f"{word} {_listed(names)}"
        for edit in edits
        for word, names in (("", edit.replace), ("plus", edit.add), ("without", edit.remove))
        if names is not None and (names or not word)
    )
    return " ".join(words).strip() or "none"


def _grants_more(was: Option | None, one: Value | None, now: Option | None, other: Value, after: Snapshot) -> bool:
    before = widening.grants(was, one) if was is not None and one is not None else widening.NO_GRANTS
    return now is not None and widening.grants_more(before, widening.grants(now, other), after)


# ------------------------------------------------------------------------- models, providers, servers, tools


def _models(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    old, new = ({model.key: model for model in one.models.everything()} for one in (before, after))
    for name, what, was, now in _pairs(old, new):
        yield Change("models", name, what, _sentence("model", name, what, _changed_fields(was, now, but=("entry",))))


def _providers(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    decisive = ("adapter", "base_url", "api_key", "headers")
    for name, what, was, now in _pairs(before.providers, after.providers):
        fields = _changed_fields(was, now)
        widens = what == "added" or any(field in decisive for field in fields)
        yield Change("providers", name, what, _sentence("provider", name, what, fields), widens)


CONNECTION = ("command", "url", "transport", "headers", "env")
"""What a running MCP server depends on; another one of these starts it anew."""


def _servers(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    for name, what, was, now in _pairs(before.servers, after.servers):
        fields = _changed_fields(was, now)
        restarts = any(field in CONNECTION for field in fields)
        enabled = was is not None and now is not None and now.enabled and not was.enabled
        text = _sentence("MCP server", name, what, fields) + (" (it starts anew)" if restarts else "")
        yield Change("mcp", name, what, text, what == "added" or restarts or enabled, restarts)
    old, new = (widening.grants_of(one.base.patch) for one in (before, after))
    if old.servers != new.servers:
        more = widening.servers_may_start(old.servers, new.servers)
        yield Change("mcp", "agent.mcp", "changed", "[agent] mcp turns other servers on or off", more)
    for key, option in before.owners.items():
        if key[0] == "mcp" and key[1] in after.servers and after.owners.get(key) != option:
            text = f"the option {quoted(option)} alone no longer says whether the MCP server {quoted(key[1])} is on"
            yield Change("mcp", key[1], "changed", text, widens=True)


def _commands(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    for name, what, was, now in _pairs(before.commands, after.commands):
        fields = _changed_fields(was, now, but=("name", "value"))
        if was is not None and now is not None:
            fields += _changed_fields(was.value, now.value, but=("patch",))
        fields += _set_anew(was.value.patch if was else NOTHING, now.value.patch if now else NOTHING)
        widens = now is not None and widening.grants_more(_of_command(was), _of_command(now), after)
        widens = widens or chooses_anew(_chosen_by_command(was, after), _chosen_by_command(now, after), before, after)
        yield Change("commands", name, what, _sentence("command", name, what, fields), widens)


def _of_command(command: Command | None) -> widening.Grants:
    return widening.grants_of(command.value.patch) if command is not None else widening.NO_GRANTS


def _chosen_by_command(command: Command | None, after: Snapshot) -> list[Choice]:
    """Return what a command chooses along, for its turn or for good, and the options that it forces."""
    if command is None:
        return []
    chosen = (*command.value.preselect.items(), *command.switch_to.items())
    owners = {MODEL: MODEL_IN_FORCE, **after.owners}
    forced = ((owners[key], said) for key, said in command.value.patch.keys.items() if key in owners)
    return [Choice(command.name, option, value) for option, value in (*chosen, *forced)]


def _chosen_by_answers(tool: ToolDefinition | None) -> list[Choice]:
    answers = tool.choices if tool is not None else ()
    return [Choice(answer.name or "", *chosen) for answer in answers for chosen in answer.switch_to.items()]


def _tools(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    decisive = ("command", "kind", "locations", "parameters")
    for name, what, was, now in _pairs(before.tools, after.tools):
        fields = _changed_fields(was, now)
        runs = now is not None and now.command is not None
        widens = runs and (what == "added" or any(field in decisive for field in fields))
        widens = widens or chooses_anew(_chosen_by_answers(was), _chosen_by_answers(now), before, after)
        yield Change("tools", name, what, _sentence("tool", name, what, fields), widens)


# ------------------------------------------------------------------------------ the agent, and its connection


def _agent(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    old, new = before.base, after.base
    more = [name for name in widening.elsewhere(new.context_files) if name not in old.context_files]
    if more:
        text = f"[agent] context_files are also read from elsewhere: {', '.join(map(quoted, more))}"
        yield Change("permissions", "agent.context_files", "changed", text, widens=True)
    fields = _changed_fields(old, new, but=("patch", "permissions", "auto_answers"))
    fields += _changed_fields(old.patch, new.patch, but=("permissions", "auto_answers"))
    if fields:
        yield Change("agent", "agent", "changed", f"[agent] changed: {', '.join(_written(field) for field in fields)}")


def _written(field: str) -> str:
    return {"keys": "model, instructions, parameters or servers", "paragraphs": "instructions_append"}.get(field, field)


def _connection(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    """Yield what ACP can't change on a live connection or in an open session."""
    for field in ("name", "title", "version", "prompt"):
        was, now = getattr(before, field), getattr(after, field)
        if was != now:
            text = f"[agent] {field} changed: clients see it from the next connection on"
            yield Change("connection", field, "changed", text)
    if list(before.extensions) != list(after.extensions):
        text = "[extensions] changed: they can be called now, and clients are told of them from the next connection on"
        yield Change("connection", "extensions", "changed", text)
    old, new = (one.options.get(MODE) for one in (before, after))
    if list(old.known if old else ()) != list(new.known if new else ()):
        text = "the list of modes changed: clients that know no config options see it from the next session on"
        yield Change("connection", "modes", "changed", text)
