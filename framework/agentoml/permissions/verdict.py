"""The verdict on a call: what the sets in force say of it; the strictest counts, automatic answers settle an ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from agentoml.config.globs import selects
from agentoml.config.notation import Action
from agentoml.config.schema import Rule
from agentoml.permissions.calls import Call, World
from agentoml.permissions.sets import ReadyRule, ReadySet, compile_rule, selects_tool, strictness

__all__ = ["Call", "InForce", "Judgement", "Reason", "World", "strictness", "verdict"]


@frozen
class InForce:
    """The permission sets in force, by name: the base's list, a list for each active patch, and the answers.

    `remembered` are the rules of the user's "always"; they stand among `auto_answers`.
    """

    base: tuple[str, ...]
    patches: tuple[tuple[str, ...], ...] = ()
    auto_answers: tuple[str, ...] = ()
    remembered: tuple[Rule, ...] = ()


@frozen
class Reason:
    """What one list of sets says of a call: `by` is the rule, kind or default that speaks."""

    who: str
    sets: tuple[str, ...]
    says: Action | None
    by: str
    counts: bool = False


@frozen
class Judgement:
    """What becomes of a call; `answered_by` names the automatic answer that settled it."""

    verdict: Action
    answered_by: str | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def reason(self) -> str:
        """What counts, in a few words."""
        return next((reason.by for reason in self.reasons if reason.counts), "nothing speaks about it")


@frozen
class _Said:
    action: Action
    by: str


def verdict(call: Call, in_force: InForce, sets: Mapping[str, ReadySet], world: World) -> Judgement:
    """Judge a call (E40, E41); where the verdict is `ask`, consult the automatic answers."""
    base, patches = _named(in_force.base, sets), [_named(names, sets) for names in in_force.patches]
    heard = [
        ("the base", in_force.base, _rules(base, call, world)),
        *(("a patch", names, _one(found, call, world)) for names, found in zip(in_force.patches, patches, strict=True)),
    ]
    if all(said is None for _, _, said in heard):
        heard.append(("the base", in_force.base, _kinds(base, call) or _defaults(base)))
    strictest = max((said for _, _, said in heard if said), key=lambda said: strictness(said.action), default=None)
    reasons = [
        Reason(
            who,
            names,
            said.action if said else None,
            said.by if said else "silent",
            said is not None and said is strictest,
        )
        for who, names, said in heard
    ]
    if strictest is not None and strictest.action != "ask":
        return Judgement(strictest.action, None, tuple(reasons))
    remembered = ReadySet("remembered", rules=_ready(in_force.remembered))
    answer = _one([*_named(in_force.auto_answers, sets), remembered], call, world)
    settled = answer is not None and answer.action in ("allow", "deny")
    reasons.append(
        Reason(
            "auto_answers",
            in_force.auto_answers,
            answer.action if answer else None,
            answer.by if answer else "silent",
            settled,
        )
    )
    if answer is None or not settled:
        return Judgement("ask", None, tuple(reasons))
    return Judgement(answer.action, answer.by, tuple(reasons))


def _ready(rules: Iterable[Rule]) -> tuple[ReadyRule, ...]:
    return tuple(compile_rule("remembered", str(number), rule) for number, rule in enumerate(rules, 1))


def _named(names: Sequence[str], sets: Mapping[str, ReadySet]) -> list[ReadySet]:
    """Return the sets; one that is not there denies: missing never means "no rules"."""
    return [sets.get(name) or ReadySet(name, default="deny") for name in names]


def _one(sets: Sequence[ReadySet], call: Call, world: World) -> _Said | None:
    """Judge a list of sets as one (E40): its rules, then its kinds, then its defaults."""
    return _rules(sets, call, world) or _kinds(sets, call) or _defaults(sets)


def _rules(sets: Sequence[ReadySet], call: Call, world: World) -> _Said | None:
    found = (rule for ready in sets for rule in ready.rules if _matches(rule, call))
    return _strictest(_Said(rule.action, f"{rule.set_name}.rules.{rule.name}") for rule in found)


def _kinds(sets: Sequence[ReadySet], call: Call) -> _Said | None:
    found = ((ready, ready.kinds.get(call.kind)) for ready in sets)
    return _strictest(_Said(action, f"{ready.name}.kinds.{call.kind}") for ready, action in found if action)


def _defaults(sets: Sequence[ReadySet]) -> _Said | None:
    return _strictest(_Said(ready.default, f"{ready.name}.default") for ready in sets if ready.default)


def _strictest(said: Iterable[_Said]) -> _Said | None:
    return max(said, key=lambda one: strictness(one.action), default=None)


def _matches(rule: ReadyRule, call: Call) -> bool:
    return (
        (rule.tool is None or selects_tool(rule.tool, call.tool, call.kind))
        and (rule.kind is None or selects(rule.kind, call.kind))
        and not any(key is not None for key in (rule.path, rule.command, rule.host))
        and not rule.args
    )
