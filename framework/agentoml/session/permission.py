"""May this call run? The rules first, then the user: only a selected option that allows is approval."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from agentoml.errors import RemoteError
from agentoml.permissions.calls import Call
from agentoml.permissions.remember import describe, remember
from agentoml.permissions.sets import ReadySet
from agentoml.permissions.verdict import InForce, Judgement, strictness, verdict
from agentoml.session.session import Session
from agentoml.session.world import world_of
from agentoml.wire.messages import permission_option

Show = Callable[[], Awaitable[dict[str, Any]]]
"""Gives what the user is shown of a call (an ACP ToolCallUpdate); called only when the user is asked."""


@frozen
class Decision:
    """Whether a call may run; where not, `refusal` tells the model why. `stop`: the user wants the turn to end."""

    allowed: bool
    refusal: str = ""
    stop: bool = False


def judge(session: Session, call: Call) -> Judgement:
    """Judge a call by what the running turn pinned and by all that restricts since: the strictest counts."""
    world = world_of(session.cwd, session.roots)
    judgements = (verdict(call, in_force, sets, world) for in_force, sets in _rules(session))
    return max(judgements, key=lambda judgement: strictness(judgement.verdict))


def _rules(session: Session) -> Iterator[tuple[InForce, Mapping[str, ReadySet]]]:
    """Yield all that a call has to get past: a new restriction binds at once, what was kept of a value binds still."""
    for standing in session.standings():
        profile = standing.resolved().profile
        lists = (profile.permissions_patches, profile.auto_answers)
        yield InForce(profile.permissions_base, *lists, session.remembered), standing.snapshot.permissions
    base = session.resolved().profile.permissions_base
    for kept in session.kept:
        in_force = InForce(base, kept.patches, kept.auto_answers, session.remembered)
        yield in_force, {**session.snapshot.permissions, **kept.sets}


async def permit(session: Session, call: Call, show: Show) -> Decision:
    """Decide about a call, asking the client where the rules say so."""
    judgement = judge(session, call)
    if judgement.verdict == "allow":
        return Decision(True)
    if judgement.verdict == "deny":
        return Decision(False, f"Denied by the permission rules ({judgement.reason}).")
    rules = remember(call) if judgement.verdict == "ask" else ()
    what = describe(call).replace(f"{session.cwd.rstrip('/')}/", "")
    options = [
        permission_option("allow_once", "Allow once", "allow_once"),
        *([permission_option("allow_always", f"Always allow {what} here", "allow_always")] if rules else []),
        permission_option("reject_once", "Reject", "reject_once"),
    ]
    try:
        chosen = await session.client.request_permission(session.id, await show(), options)
    except RemoteError as error:
        return Decision(False, f"The user could not be asked for permission: {error.message}.")
    if chosen == "allow_always":
        session.remembered = (*session.remembered, *rules)
    if chosen in ("allow_once", "allow_always"):
        return Decision(True)
    if chosen == "reject_once":
        return Decision(False, "The user rejected this call.")
    return Decision(False, "The user cancelled.", stop=True)
