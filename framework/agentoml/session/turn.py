"""One session/prompt: the model is asked, its tools run, until it is done or something stops it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from attrs import define, field

from agentoml.config.vocabulary.profile import Limits
from agentoml.errors import ModelError
from agentoml.models.model import AssistantMessage, Finished, TextDelta, TextPart, ThoughtDelta, ToolRequest
from agentoml.session.budget import Accounts
from agentoml.session.chunks import Chunks
from agentoml.session.commands import prompt_of, sent_command
from agentoml.session.context_files import read_context_files
from agentoml.session.history import OUT_OF_CALLS, user_parts
from agentoml.session.providers import Providers
from agentoml.session.request import model_request
from agentoml.session.session import Session
from agentoml.session.tool_calls import ToolCalls, UserStopped
from agentoml.session.toolbox import toolbox
from agentoml.session.usage import cost_usd
from agentoml.snapshot.clip import why_no_model
from agentoml.snapshot.resolving.fold import least_limits
from agentoml.snapshot.snapshot import CatalogModel, Snapshot
from agentoml.threads import in_thread
from agentoml.tools.tool import Tool
from agentoml.wire import messages

logger = logging.getLogger("agentoml.turn")

STOP_REASONS = {"end_turn": "end_turn", "tool_use": "end_turn", "max_tokens": "max_tokens", "refusal": "refusal"}
OUT_OF_BUDGET = "max_turn_requests"


@define(eq=False)
class Turn:
    """A turn keeps the snapshot it started with; what the user picks meanwhile binds at the next model call."""

    session: Session
    pinned: Snapshot
    providers: Providers
    built_in: Mapping[str, Tool]
    _accounts: Accounts = field(init=False)
    _context: tuple[str, ...] = ()
    _instead: str | None = None
    _heard: list[str] = field(factory=list)
    _thought: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._accounts = Accounts(self.session.spent)

    async def run(self, prompt: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Play the turn and return the result of session/prompt. A cancelled turn is one too, never an error.

        Raises:
            InvalidParams: a content block that can't be taken, or a slash command that can't be sent now.
        """
        sent = sent_command(prompt, self.pinned.commands)
        if sent is None:
            self.session.begin_turn()
        elif self.session.begin_command(sent.name):
            prompt = prompt_of(self.pinned.commands[sent.name], sent)
        else:
            await self._say(f"/{sent.name}: done.")
            return {"stopReason": "end_turn"}
        try:
            return await self._play(prompt)
        finally:
            self.session.end_turn()

    async def _play(self, prompt: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        history, accounts = self.session.history, self._accounts
        for spent in accounts.both():
            spent.begin()
        try:
            history.add_user((*user_parts(prompt, self.pinned, self._model()), *self._reminders()))
            with self.session.servers.in_use():
                async with asyncio.timeout(None) as timeout:
                    return {"stopReason": await self._until_done(timeout)}
        except TimeoutError:
            await self._say(f"I stop here: {accounts.exhausted(self._limits()) or 'the time is over'}.")
            return {"stopReason": OUT_OF_BUDGET}
        except (asyncio.CancelledError, UserStopped):
            return {"stopReason": "cancelled"}
        except ModelError as error:
            return await self._failed(error)
        finally:
            for spent in accounts.both():
                spent.end()
            self._keep_what_was_heard()
            history.close_open_requests()

    async def _until_done(self, timeout: asyncio.Timeout) -> str:
        self._keep_time(timeout)
        await self.session.servers.settled()
        patterns = self.session.resolved(self.pinned).profile.context_files
        if patterns:
            context = await in_thread(partial(read_context_files, patterns, self.session.cwd), "context files")
            self._context = self.session.environment.vault.masked(context)
        while True:
            self._keep_time(timeout)
            exhausted = self._accounts.exhausted(self._limits())
            if exhausted is not None:
                await self._say(f"I stop here: {exhausted}.")
                return OUT_OF_BUDGET
            tools = toolbox(self.session, self.pinned, self.built_in)
            finished = await self._answer(tools)
            requests = finished.tool_requests if finished.stop == "tool_use" else ()
            answer = AssistantMessage("".join(self._heard), "".join(self._thought), requests, finished.opaque)
            self._heard.clear()
            self._thought.clear()
            self.session.history.add_answer(answer)
            if not requests:
                return STOP_REASONS[finished.stop]
            self._keep_time(timeout)
            await self._run_tools(tools, requests)

    async def _run_tools(self, tools: Mapping[str, Tool], requests: tuple[ToolRequest, ...]) -> None:
        left = self._accounts.tool_calls_left(self._limits())
        allowed = requests if left is None else requests[:left]
        for spent in self._accounts.both():
            spent.tool_calls += len(allowed)
        await ToolCalls(self.session, tools, self.session.environment).run(allowed)
        self.session.history.close_open_requests(OUT_OF_CALLS)  # a pick may have raised the limit meanwhile

    def _limits(self) -> Limits:
        """Return the least of all that count: what a reload lowers while the turn runs binds at its next step."""
        return least_limits([standing.resolved().profile.limits for standing in self.session.standings()])

    def _keep_time(self, timeout: asyncio.Timeout) -> None:
        """Have the turn end when the time that it may take now is over. What is picked while the model answers or tools
        run counts from the next of these on.
        """
        left = self._accounts.seconds_left(self._limits())
        timeout.reschedule(None if left is None else asyncio.get_running_loop().time() + left)

    # -------------------------------------------------------------------------------------------- the model

    def _model(self) -> CatalogModel:
        key = self._instead or self.session.resolved(self.pinned).profile.model
        if key is None:
            raise ModelError("bad_request", why_no_model(self.pinned))
        return self.pinned.models[key]

    async def _answer(self, tools: Mapping[str, Tool]) -> Finished:
        """Ask the model in force; where it is overloaded or unreachable, those it falls back to, in order."""
        first = self._model()
        fallback = [key for key in first.fallback if key in self.pinned.models]
        while True:
            try:
                return await self._ask(self._model(), tools)
            except ModelError as error:
                if not (error.retryable and fallback) or self._heard or self._thought:
                    raise
                following = fallback.pop(0)
                logger.warning("%s: %s; going on with %s", self._model().key, error, following)
                if not self.session.fall_back(following):
                    raise
                in_force = self.session.resolved(self.pinned).profile.model
                self._instead = None if in_force == following else following

    async def _ask(self, model: CatalogModel, tools: Mapping[str, Tool]) -> Finished:
        adapter = self.providers.adapter(model.provider, self.pinned.providers[model.provider])
        request = model_request(self.session, self.pinned, model, tools, self._context)
        for spent in self._accounts.both():
            spent.model_calls += 1
        chunks = Chunks(self.session.id, self.session.client)
        finished: Finished | None = None
        try:
            async with aclosing(adapter.stream(request)) as events:
                async for event in events:
                    match event:
                        case TextDelta(text):
                            self._heard.append(text)
                            await chunks.text(text)
                        case ThoughtDelta(text):
                            self._thought.append(text)
                            await chunks.thought(text)
                        case Finished():
                            finished = event
        finally:
            chunks.flush()
        if finished is None:
            raise ModelError("protocol", "the answer broke off")
        self._count(model, finished)
        return finished

    def _count(self, model: CatalogModel, finished: Finished) -> None:
        usage = finished.usage
        cost = cost_usd(model.cost, usage) if usage is not None else None
        for spent in self._accounts.both():
            spent.model_call(usage, cost)
        if usage is not None and model.limit.context:
            total = self.session.spent.cost_usd or None
            update = messages.usage_update(usage.input + usage.output, model.limit.context, total)
            self.session.client.update(self.session.id, update)

    # ------------------------------------------------------------------------------------------------ words

    def _reminders(self) -> tuple[TextPart, ...]:
        """Return the notes that came into force since the last message; one that stays in force is sent once (E30)."""
        in_force = self.session.resolved(self.pinned).profile.reminder
        new = tuple(TextPart(note) for note in in_force if note not in self.session.reminded)
        self.session.reminded = frozenset(in_force)
        return new

    async def _failed(self, error: ModelError) -> dict[str, Any]:
        logger.error("the model call failed (%s): %s", error.kind, error)
        await self._say(f"The model could not answer: {error}")
        details = {"kind": error.kind, "message": str(error)}
        return {"stopReason": "end_turn", "_meta": {"agentoml": {"error": details}}}

    async def _say(self, text: str) -> None:
        chunks = Chunks(self.session.id, self.session.client)
        await chunks.text(text)
        chunks.flush()

    def _keep_what_was_heard(self) -> None:
        """Keep the part of an answer that broke off, so that the model knows what the user has read."""
        if self._heard:
            self.session.history.add_answer(AssistantMessage("".join(self._heard), "".join(self._thought)))
