"""What a list of permission sets, judged as one, says of a part of a call (E40): rules, then kinds, then defaults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from agentoml.config.vocabulary.notation import Action
from agentoml.permissions.calls import World
from agentoml.permissions.matching import allows, restricts, within_roots
from agentoml.permissions.parts import Part
from agentoml.permissions.sets import ReadySet, strictness


@frozen
class Said:
    """What is said, and by which rule, kind or default."""

    action: Action
    by: str


@frozen
class Hearing:
    """What a list says; None: it is silent. `doubts`: rules that would say more, if an expansion is what they mean."""

    said: Said | None
    doubts: tuple[Said, ...] = ()


def hear(sets: Sequence[ReadySet], part: Part, world: World, *, answering: bool) -> Hearing:
    """Judge a list of sets as one. `answering`: they are `auto_answers`."""
    rules = hear_rules(sets, part, world, answering=answering)
    if rules.said is not None:
        return rules
    return Hearing(hear_kinds_and_defaults(sets, part, world, answering=answering).said, rules.doubts)


def hear_rules(sets: Sequence[ReadySet], part: Part, world: World, *, answering: bool) -> Hearing:
    """Return what the strictest matching rule says."""
    said: list[Said] = []
    doubts: list[Said] = []
    for ready in sets:
        for rule in ready.rules:
            by = f"{ready.name}.rules.{rule.name}"
            if rule.action == "allow":
                if allows(rule, part, world, answering=answering):
                    said.append(Said("allow", by))
            elif (match := restricts(rule, part, world)) != "no":
                (said if match == "yes" else doubts).append(Said(rule.action, by))
    return Hearing(_strictest(said), tuple(sorted(doubts, key=lambda doubt: -strictness(doubt.action))))


def hear_kinds_and_defaults(sets: Sequence[ReadySet], part: Part, world: World, *, answering: bool) -> Hearing:
    """Return what the strictest entry for the kind says, else the strictest default.

    Outside the roots an allow is silent, unless it answers (E47).
    """
    within = answering or within_roots(part, world)
    kinds = (
        Said(ready.kinds[part.kind], f"{ready.name}.kinds.{part.kind}") for ready in sets if part.kind in ready.kinds
    )
    spoken = _strictest(said for said in kinds if said.action != "allow" or (within and not part.call.shadows))
    if spoken is None:
        defaults = (Said(ready.default, f"{ready.name}.default") for ready in sets if ready.default)
        spoken = _strictest(said for said in defaults if said.action != "allow" or within)
    return Hearing(spoken)


def _strictest(said: Iterable[Said]) -> Said | None:
    return max(said, key=lambda one: strictness(one.action), default=None)
