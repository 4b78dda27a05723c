from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from agentoml.config.schema import Retry
from agentoml.config.vocabulary.notation import Duration
from agentoml.errors import ModelError, ModelErrorKind
from agentoml.models.model import Event, Finished, ModelRequest, TextDelta
from agentoml.models.retry import Retrying

REQUEST = ModelRequest("m", "", ())
FINISHED = Finished("end_turn")
AT_ONCE = Retry(attempts=4, base=Duration(0.0))


def failure(kind: ModelErrorKind = "overloaded", retry_after: float | None = None) -> ModelError:
    return ModelError(kind, f"played {kind}", retry_after=retry_after)


class Plays:
    """An adapter whose n-th call plays the n-th list: events are yielded, errors raised, gates waited for."""

    def __init__(self, *calls: Sequence[Event | ModelError | asyncio.Event]) -> None:
        self.calls = list(calls)
        self.made = 0
        self.running = 0
        self.most_running = 0
        self.begun = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        steps = self.calls[self.made]
        self.made += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.begun.set()
        try:
            for step in steps:
                if isinstance(step, ModelError):
                    raise step
                if isinstance(step, asyncio.Event):
                    await step.wait()
                else:
                    yield step
        finally:
            self.running -= 1

    async def aclose(self) -> None:
        pass


async def events_of(adapter: Retrying) -> list[Event]:
    return [event async for event in adapter.stream(REQUEST)]


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded", "timeout", "connection"])
async def test_what_may_pass_is_tried_again(kind: ModelErrorKind) -> None:
    plays = Plays([failure(kind)], [failure(kind)], [TextDelta("x"), FINISHED])

    assert await events_of(Retrying(plays, AT_ONCE)) == [TextDelta("x"), FINISHED]
    assert plays.made == 3


@pytest.mark.parametrize("kind", ["auth", "bad_request", "context_length", "protocol"])
async def test_what_stays_is_not_tried_again(kind: ModelErrorKind) -> None:
    plays = Plays([failure(kind)], [FINISHED])

    with pytest.raises(ModelError):
        await events_of(Retrying(plays, AT_ONCE))
    assert plays.made == 1


async def test_an_answer_that_has_begun_is_not_begun_anew() -> None:
    plays = Plays([TextDelta("x"), failure()], [FINISHED])
    heard = []

    with pytest.raises(ModelError):
        async for event in Retrying(plays, AT_ONCE).stream(REQUEST):
            heard.append(event)
    assert heard == [TextDelta("x")]
    assert plays.made == 1


async def test_tries_are_counted() -> None:
    plays = Plays(*[[failure("timeout")]] * 9)

    with pytest.raises(ModelError, match="played timeout"):
        await events_of(Retrying(plays, AT_ONCE))
    assert plays.made == 4


async def waits_of(retry: Retry, *errors: ModelError, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("agentoml.models.retry.asyncio.sleep", note)
    plays = Plays(*[[error] for error in errors], [FINISHED])
    await events_of(Retrying(plays, retry))
    return waits


async def test_waits_double_up_to_the_longest_and_half_of_each_is_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    retry = Retry(attempts=6, base=Duration(1.0), max=Duration(5.0))

    waits = await waits_of(retry, *[failure()] * 5, monkeypatch=monkeypatch)

    for wait, longest in zip(waits, [1, 2, 4, 5, 5], strict=True):
        assert longest / 2 <= wait <= longest


async def test_the_wait_that_a_provider_asks_for_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    retry = Retry(attempts=3, base=Duration(1.0), max=Duration(5.0))

    assert await waits_of(retry, failure("rate_limit", 4.5), monkeypatch=monkeypatch) == [4.5]


async def test_a_wait_beyond_the_longest_is_a_failure() -> None:
    plays = Plays([failure("rate_limit", 60.0)], [FINISHED])

    with pytest.raises(ModelError) as error:
        await events_of(Retrying(plays, Retry(max=Duration(5.0))))
    assert error.value.retry_after == 60.0


async def test_no_more_calls_run_at_one_time_than_the_provider_takes() -> None:
    plays = Plays(*[[TextDelta("x"), FINISHED]] * 9)
    adapter = Retrying(plays, AT_ONCE, concurrency=2)

    await asyncio.gather(*(events_of(adapter) for _ in range(9)))

    assert plays.made == 9
    assert plays.most_running <= 2


async def test_a_call_that_waits_for_its_next_try_lets_others_pass() -> None:
    never = asyncio.Event()
    plays = Plays([failure("rate_limit", 30.0)], [FINISHED], [never])
    adapter = Retrying(plays, Retry(), concurrency=1)

    waiting = asyncio.create_task(events_of(adapter))
    await plays.begun.wait()
    assert await events_of(adapter) == [FINISHED]
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()


async def test_a_call_that_is_cancelled_makes_room() -> None:
    never = asyncio.Event()
    plays = Plays([never], [FINISHED])
    adapter = Retrying(plays, AT_ONCE, concurrency=1)
    running = asyncio.create_task(events_of(adapter))
    await plays.begun.wait()

    running.cancel()

    assert await events_of(adapter) == [FINISHED]
    assert plays.running == 0


async def test_closing_the_generator_closes_the_one_within() -> None:
    plays = Plays([TextDelta("x"), asyncio.Event()])
    stream = Retrying(plays, AT_ONCE).stream(REQUEST)
    await anext(stream)

    await stream.aclose()

    assert plays.running == 0
