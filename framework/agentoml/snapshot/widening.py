"""Is one configuration looser than another? What can't be shown to narrow counts as widening.

What may only narrow, wherever a set stands, among `permissions` or among `auto_answers` (E40 to E45): to say less that
allows, to deny more, and to say something stricter with the same keys, unless an allow becomes a question: rules that
ask match more calls than rules that allow (E44), and so could hide a stricter kind or default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from agentoml.config.vocabulary.notation import Action, ListEdit
from agentoml.permissions.sets import ReadyRule, ReadySet, strictness
from agentoml.snapshot.ceiling import Ceiling
from agentoml.snapshot.patches import NOTHING, Patch
from agentoml.snapshot.snapshot import Option, Snapshot, Value

Sets = Mapping[str, ReadySet]


def set_is_looser(before: ReadySet, after: ReadySet) -> bool:
    """Return whether a set may allow something that it did not."""
    rules, new_rules = ({rule.name: rule for rule in ready.rules} for ready in (before, after))
    return (
        any(_rule_is_looser(rules.get(name), new_rules.get(name)) for name in {**rules, **new_rules})
        or any(
            _word_is_looser(before.kinds.get(kind), after.kinds.get(kind)) for kind in {**before.kinds, **after.kinds}
        )
        or _word_is_looser(before.default, after.default)
    )


def _rule_is_looser(before: ReadyRule | None, after: ReadyRule | None) -> bool:
    if before is None:
        return after is not None and after.action != "deny"
    if after is None:
        return before.action != "allow"
    if before == after:
        return False
    same_calls = evolve(before, action=after.action) == after
    if not same_calls or strictness(after.action) < strictness(before.action):
        return True
    return before.action == "allow" and after.action != "deny"


def _word_is_looser(before: Action | None, after: Action | None) -> bool:
    """Compare what a set says of a kind, or by default: nothing said is as loose as an allow, and hides nothing."""
    if before == after:
        return False
    if before is None:
        return after != "deny"
    if after is None:
        return before != "allow"
    return strictness(after) < strictness(before)


def list_is_looser(before: Collection[str], after: Collection[str], old: Sets, new: Sets) -> bool:
    """Return whether a list of sets may allow more for the sets that came or went; what they say is not compared."""
    gone = (old[name] for name in before if name not in after and name in old)
    come = (new[name] for name in after if name not in before and name in new)
    return any(set(said(ready)) - {"allow"} for ready in gone) or any(set(said(ready)) - {"deny"} for ready in come)


def ceiling_is_looser(before: Ceiling, after: Ceiling) -> bool:
    """Return whether policies may leave more than they did: one that stood is gone or says something else."""
    lists = ("models", "providers", "servers", "hosts", "limits")
    if any(set(getattr(before, name)) - set(getattr(after, name)) for name in lists):
        return True
    now = {ready.name: ready for ready in after.sets}
    return any(ready.name not in now or set_is_looser(ready, now[ready.name]) for ready in before.sets)


def reordered(before: Iterable[str], after: Iterable[str]) -> bool:
    """Tell whether what is on both sides stands in another order."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    return [name for name in old if name in new] != [name for name in new if name in old]


def said(ready: ReadySet) -> Iterator[Action]:
    """Yield every verdict that a set may give."""
    yield from (rule.action for rule in ready.rules)
    yield from ready.kinds.values()
    if ready.default is not None:
        yield ready.default


# ------------------------------------------------------------------------------------- what values set


ANY_OTHER = "any other"

Switches = tuple[tuple[str, bool], ...]
"""Names and globs of MCP servers -> whether they are on."""


@frozen
class Grants:
    """What a value sets that permissions and commands depend on, and which files it has read unasked from elsewhere."""

    permissions: tuple[tuple[str, ...], ...] = ()
    auto_answers: tuple[ListEdit, ...] = ()
    servers: Switches = ()
    reads: tuple[ListEdit, ...] = ()


NO_GRANTS = Grants()


def all_values(option: Option) -> Mapping[str, Value]:
    """Return all values of an option: those that it may list, and what serves those that it does not."""
    found = {**option.known, **option.starred}
    return found if option.other is None else {**found, ANY_OTHER: option.other}


def grants(option: Option, value: Value) -> Grants:
    """Return what a value grants or takes, with the implicit patch of its source."""
    if value.patch is NOTHING and not (value.from_source and option.target in ("permissions", "auto_answers", "mcp")):
        return NO_GRANTS
    return grants_of(option.patch(value))


def grants_something(option: Option, value: Value) -> bool:
    """Return whether permissions, answers or servers depend on a value."""
    found = grants(option, value)
    return found is not NO_GRANTS and found != NO_GRANTS


def grants_of(patch: Patch) -> Grants:
    """Return what a patch grants or takes."""
    servers = tuple((key[1], bool(on)) for key, on in patch.keys.items() if key[0] == "mcp")
    reads = tuple(edit for edit in patch.context_files if elsewhere((*(edit.replace or ()), *edit.add, *edit.remove)))
    return Grants(patch.permissions, patch.auto_answers, servers + patch.server_globs, reads)


def elsewhere(context_files: Iterable[str]) -> tuple[str, ...]:
    """Return the names and globs that lead out of a session's directory."""
    return tuple(name for name in context_files if name.startswith(("/", "~")) or ".." in name.split("/"))


def grants_more(before: Grants, after: Grants, snapshot: Snapshot) -> bool:
    """Return whether a value may allow more than it did, the sets themselves being as they are."""
    if before == after:
        return False
    if servers_may_start(before.servers, after.servers) or before.auto_answers != after.auto_answers:
        return True
    if before.reads != after.reads:
        return True
    return before.permissions != after.permissions and (
        before.permissions != () or not _is_mask(after.permissions, snapshot)
    )


def servers_may_start(before: Switches, after: Switches) -> bool:
    """Return whether servers may be on that were off: one is turned on anew or not turned off any more, or what is said
    of them stands in another order, of which the later counts (E29).
    """
    turned_on = any(on and (name, on) not in before for name, on in after)
    turned_off = any(not on and (name, on) not in after for name, on in before)
    return turned_on or turned_off or [one for one in before if one in after] != [one for one in after if one in before]


def restricts(before: Grants, old: Sets, snapshot: Snapshot) -> bool:
    """Return whether more may be allowed where a value is not there any more that granted this, by the sets as they
    were (`old`).
    """
    answers_less = any(edit.replace is not None or edit.remove for edit in before.auto_answers)
    return (
        answers_less or servers_may_start(before.servers, ()) or lists_are_looser(before.permissions, (), old, snapshot)
    )


def lists_are_looser(
    before: tuple[tuple[str, ...], ...], after: tuple[tuple[str, ...], ...], old: Sets, snapshot: Snapshot
) -> bool:
    """Return whether a value's lists of permission sets may allow more than those of the value it replaces.

    `before` are judged by the sets as they were (`old`), `after` by those of `snapshot`.
    """
    lost = (old[name] for names in before if names not in after for name in names if name in old)
    if any(set(said(ready)) - {"allow"} for ready in lost):
        return True
    return not _is_mask(tuple(names for names in after if names not in before), snapshot)


def _is_mask(lists: tuple[tuple[str, ...], ...], snapshot: Snapshot) -> bool:
    """Return whether lists say nothing looser than the base's kinds and defaults, which they silence (E41)."""
    sets = snapshot.permissions
    base = [sets[name] for name in snapshot.base.permissions if name in sets]
    defaults = [ready.default for ready in base if ready.default is not None]
    strictest = _strictest([*defaults, *(word for ready in base for word in ready.kinds.values())])
    for ready in (sets[name] for names in lists for name in names if name in sets):
        for kind, word in ready.kinds.items():
            if strictness(word) < _strictest([one.kinds[kind] for one in base if kind in one.kinds] or defaults):
                return False
        others = [*(rule.action for rule in ready.rules), *([ready.default] if ready.default is not None else [])]
        if any(strictness(word) < strictest for word in others):
            return False
    return True


def _strictest(words: Sequence[Action]) -> int:
    """Return how strict the strictest is; where nothing is said, it is asked."""
    return max(map(strictness, words), default=strictness("ask"))
