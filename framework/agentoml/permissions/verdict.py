"""The verdict on a call: what the sets in force say of it; the strictest counts, automatic answers settle an ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from agentoml.config.schema import Rule
from agentoml.config.vocabulary.notation import Action
from agentoml.permissions.calls import Call, World
from agentoml.permissions.judging import Hearing, Said, hear, hear_kinds_and_defaults, hear_rules
from agentoml.permissions.parts import Part, parts
from agentoml.permissions.sets import ReadyRule, ReadySet, compile_rule, strictness

__all__ = ["Call", "InForce", "Judgement", "Reason", "World", "strictness", "verdict"]

REMEMBERED = "remembered"


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
    """What one list of sets says of one part of a call. `by`: the rule, kind or default that speaks."""

    part: str
    who: str
    sets: tuple[str, ...]
    says: Action | None
    by: str
    counts: bool = False


@frozen
class Judgement:
    """What becomes of a call; `answered_by` names the automatic answer that settled it.

    Of a command line, each part has its own reasons; those that count decided about the whole.
    """

    verdict: Action
    answered_by: str | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def reason(self) -> str:
        """What counts, in a few words."""
        counting = [reason for reason in self.reasons if reason.counts]
        if not counting:
            return "nothing speaks about it"
        return f"{counting[-1].by}: {_short(counting[-1].part)}"


def verdict(call: Call, in_force: InForce, sets: Mapping[str, ReadySet], world: World) -> Judgement:
    """Judge a call (E40 to E49). Of a command line each part is judged and answered by itself, the strictest counts."""
    judged = [judgement for _, judgement in judgements(call, in_force, sets, world)]
    decisive = max(judged, key=lambda judgement: strictness(judgement.verdict))
    reasons = (
        reason
        for judgement in judged
        for reason in (judgement.reasons if judgement is decisive else _silenced(judgement.reasons))
    )
    return Judgement(decisive.verdict, decisive.answered_by, tuple(reasons))


def judgements(
    call: Call, in_force: InForce, sets: Mapping[str, ReadySet], world: World
) -> tuple[tuple[Part, Judgement], ...]:
    """Return the parts of a call, each with what becomes of it alone."""
    lists = _Lists.of(in_force, sets)
    return tuple((part, _judge_under_ceiling(part, lists, world)) for part in parts(call, world))


@frozen
class _Lists:
    """The sets in force themselves."""

    base: tuple[ReadySet, ...]
    patches: tuple[tuple[ReadySet, ...], ...]
    answers: tuple[ReadySet, ...]
    ceiling: tuple[ReadySet, ...]

    @classmethod
    def of(cls, in_force: InForce, sets: Mapping[str, ReadySet]) -> _Lists:
        def named(names: Sequence[str]) -> tuple[ReadySet, ...]:
            """Return the sets; one that is not there denies: missing never means "no rules"."""
            return tuple(sets.get(name) or ReadySet(name, default="deny") for name in names)

        rules = tuple(compile_rule(REMEMBERED, str(at), rule) for at, rule in enumerate(in_force.remembered, 1))
        remembered = (ReadySet(REMEMBERED, rules=rules),) if rules else ()
        return cls(
            named(in_force.base),
            tuple(named(names) for names in in_force.patches),
            (*named(in_force.auto_answers), *remembered),
            tuple(ready for ready in sets.values() if ready.ceiling),
        )

    def forbid_what_is_hidden(self) -> bool:
        """Return whether any list in force has a rule on commands or paths that always asks or denies (E45)."""
        return any(
            rule.action in ("always_ask", "deny") and (rule.command is not None or rule.path is not None)
            for rule in self._rules()
        )

    def restrict_paths(self) -> bool:
        """Return whether any list in force has a rule on paths that does more than allow."""
        return any(rule.action != "allow" and rule.path is not None for rule in self._rules())

    def _rules(self) -> Iterator[ReadyRule]:
        for each in (self.base, self.answers, self.ceiling, *self.patches):
            for ready in each:
                yield from ready.rules


def _judge_under_ceiling(part: Part, lists: _Lists, world: World) -> Judgement:
    """Judge one part; what policies always ask is no way around an automatic answer that denies: they only narrow."""
    judged = _judge(part, lists, world)
    if not lists.ceiling:
        return judged
    without = _judge(part, evolve(lists, ceiling=()), world)
    return max(judged, without, key=lambda judgement: strictness(judgement.verdict))


def _judge(part: Part, lists: _Lists, world: World) -> Judgement:
    """Judge one part (E40, E41) and, where that is a question, answer it automatically if an answer is there."""
    if part.more_files and lists.restrict_paths():
        part = evolve(part, hidden=True)
    heard = [
        ("the base", lists.base, hear_rules(lists.base, part, world, answering=False)),
        *(("a patch", patch, hear(patch, part, world, answering=False)) for patch in lists.patches),
    ]
    doubts = [doubt for _, _, hearing in heard for doubt in hearing.doubts]
    if not any(hearing.said for _, _, hearing in heard):
        heard[0] = ("the base", lists.base, hear_kinds_and_defaults(lists.base, part, world, answering=False))
    if lists.ceiling:  # beside all others: what it asks silences no kind that denies
        heard.append(("the policy", lists.ceiling, hear_rules(lists.ceiling, part, world, answering=False)))
        doubts += heard[-1][2].doubts
    reasons, strictest = _weigh(part, heard)
    if strictest is not None and strictness(strictest.action) > strictness("ask"):
        return Judgement(strictest.action, None, reasons)
    if strictest is not None and strictest.action == "allow" and not (part.hidden or doubts):
        return Judgement("allow", None, reasons)
    if strictest is None or strictest.action == "allow":
        why = "not all of it can be seen" if part.hidden else doubts[0].by if doubts else "nothing speaks about it"
        reasons = (*_silenced(reasons), Reason(part.text, "the base", (), "ask", why, counts=True))
    answer = hear(lists.answers, part, world, answering=True)
    severe = any(doubt.action != "ask" for doubt in (*doubts, *answer.doubts))
    return _answer(
        part, lists, reasons, answer.said, free=not (severe or (part.hidden and lists.forbid_what_is_hidden()))
    )


def _answer(part: Part, lists: _Lists, reasons: tuple[Reason, ...], answer: Said | None, *, free: bool) -> Judgement:
    """Settle a question by an automatic answer: one that denies always does, one that allows where it is `free` to."""
    settled = answer is not None and (answer.action == "deny" or (answer.action == "allow" and free))
    names = tuple(ready.name for ready in lists.answers)
    said = Reason(
        part.text,
        "auto_answers",
        names,
        answer.action if answer else None,
        answer.by if answer else "silent",
        counts=settled,
    )
    if answer is None or not settled:
        return Judgement("ask", None, (*reasons, said))
    return Judgement(answer.action, answer.by, (*_silenced(reasons), said))


def _weigh(
    part: Part, heard: Sequence[tuple[str, tuple[ReadySet, ...], Hearing]]
) -> tuple[tuple[Reason, ...], Said | None]:
    """Return what each list says, and the strictest of it."""
    spoken = [hearing.said for _, _, hearing in heard if hearing.said]
    strictest = max(spoken, key=lambda said: strictness(said.action), default=None)
    reasons = (
        Reason(
            part.text,
            who,
            tuple(ready.name for ready in sets),
            hearing.said.action if hearing.said else None,
            hearing.said.by if hearing.said else "silent",
            counts=hearing.said is not None and hearing.said is strictest,
        )
        for who, sets, hearing in heard
    )
    return tuple(reasons), strictest


def _silenced(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    return tuple(Reason(each.part, each.who, each.sets, each.says, each.by) for each in reasons)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
