"""What a turn and a session have spent, and whether that is all they may (`limits`)."""

from __future__ import annotations

import time

from attrs import define, field

from agentoml.config.vocabulary.profile import Budget, Limits
from agentoml.models.model import Usage


@define(eq=False)
class Spent:
    """What has been spent so far. `seconds` are those of turns that are over; a running one counts on top."""

    model_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    _running_since: float | None = None

    def begin(self) -> None:
        """Let the time count."""
        self._running_since = time.monotonic()

    def end(self) -> None:
        """Let the time count no more."""
        self.seconds, self._running_since = self.time, None

    @property
    def time(self) -> float:
        """Seconds spent in turns."""
        return self.seconds + (time.monotonic() - self._running_since if self._running_since is not None else 0.0)

    def model_call(self, usage: Usage | None, cost: float | None) -> None:
        """Count what a call of the model used."""
        if usage is not None:
            self.tokens += usage.input + usage.output
        self.cost_usd += cost or 0.0


@define(eq=False)
class Accounts:
    """The budget of one turn and that of its session."""

    session: Spent
    turn: Spent = field(factory=Spent)

    def both(self) -> tuple[Spent, Spent]:
        """Return both, to count in."""
        return self.turn, self.session

    def exhausted(self, limits: Limits) -> str | None:
        """Return what is spent, as a sentence for the user; None while another model call may be made."""
        return _exhausted("turn", limits.turn, self.turn) or _exhausted("session", limits.session, self.session)

    def tool_calls_left(self, limits: Limits) -> int | None:
        """Return how many tool calls may still be made; None where nothing limits them."""
        budgets = ((limits.turn, self.turn), (limits.session, self.session))
        left = [
            budget.tool_calls - spent.tool_calls
            for budget, spent in budgets
            if budget and budget.tool_calls is not None
        ]
        return max(0, min(left)) if left else None

    def seconds_left(self, limits: Limits) -> float | None:
        """Return how long the turn may still run; None where nothing limits it."""
        budgets = ((limits.turn, self.turn), (limits.session, self.session))
        left = [budget.time - spent.time for budget, spent in budgets if budget and budget.time is not None]
        return max(0.0, min(left)) if left else None


def _exhausted(of: str, budget: Budget | None, spent: Spent) -> str | None:
    if budget is None:
        return None
    if budget.model_calls is not None and spent.model_calls >= budget.model_calls:
        return f"the {of} may make {budget.model_calls} model calls"
    if budget.tool_calls is not None and spent.tool_calls >= budget.tool_calls:
        return f"the {of} may make {budget.tool_calls} tool calls"
    if budget.tokens is not None and spent.tokens >= budget.tokens:
        return f"the {of} may use {budget.tokens} tokens"
    if budget.cost_usd is not None and spent.cost_usd >= budget.cost_usd:
        return f"the {of} may cost {budget.cost_usd:g} USD"
    if budget.time is not None and spent.time >= budget.time:
        return f"the {of} may take {budget.time:g} s"
    return None
