"""One session/prompt: the model is asked, its tools run, until it is done or something stops it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from attrs import define, field

from agentoml.errors import ModelError
from agentoml.models.model import (
    AssistantMessage,
    Finished,
    ModelRequest,
    TextDelta,
    TextPart,
    ThoughtDelta,
    ToolSpec,
    Usage,
)
from agentoml.session.chunks import Chunks
from agentoml.session.environment import environment
from agentoml.session.history import user_parts
from agentoml.session.providers import Providers
from agentoml.session.session import Session
from agentoml.session.tool_calls import ToolCalls, UserStopped
from agentoml.session.usage import cost_usd
from agentoml.snapshot.params import request_params
from agentoml.snapshot.resolve import Profile
from agentoml.snapshot.snapshot import CatalogModel, Snapshot
from agentoml.tools.tool import Tool
from agentoml.wire import messages

logger = logging.getLogger("agentoml.turn")

STOP_REASONS = {"end_turn": "end_turn", "tool_use": "end_turn", "max_tokens": "max_tokens", "refusal": "refusal"}


@define(eq=False)
class Turn:
    """A turn keeps the snapshot it started with; what the user picks meanwhile binds at the next model call."""

    session: Session
    pinned: Snapshot
    providers: Providers
    built_in: Mapping[str, Tool]
    _heard: list[str] = field(factory=list)
    _thought: list[str] = field(factory=list)

    async def run(self, prompt: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Play the turn and return the result of session/prompt. A cancelled turn is one too, never an error.

        Raises:
            InvalidParams: a content block that can't be taken.
        """
        parts = user_parts(prompt)
        history = self.session.history
        history.add_user((*parts, *self._reminders()))
        try:
            return {"stopReason": await self._until_done()}
        except (asyncio.CancelledError, UserStopped):
            return {"stopReason": "cancelled"}
        except ModelError as error:
            return await self._failed(error)
        finally:
            self._keep_what_was_heard()
            history.close_open_requests()

    async def _until_done(self) -> str:
        while True:
            finished = await self._ask_model()
            requests = finished.tool_requests if finished.stop == "tool_use" else ()
            answer = AssistantMessage("".join(self._heard), "".join(self._thought), requests, finished.opaque)
            self._heard.clear()
            self._thought.clear()
            self.session.history.add_answer(answer)
            if not requests:
                return STOP_REASONS[finished.stop]
            tools = self._tools(self.session.resolved(self.pinned).profile)
            await ToolCalls(self.session, self.pinned, tools, environment(self.pinned)).run(requests)

    async def _ask_model(self) -> Finished:
        profile = self.session.resolved(self.pinned).profile
        if profile.model is None:
            raise ModelError("bad_request", "this agent declares no model: add [models.NAME] to its file")
        model = self.pinned.models[profile.model]
        adapter = self.providers.adapter(model.provider, self.pinned.providers[model.provider])
        chunks = Chunks(self.session.id, self.session.client)
        finished: Finished | None = None
        try:
            async with aclosing(adapter.stream(self._request(profile))) as events:
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
        if finished.usage is not None:
            self._tell_usage(model, finished.usage)
        return finished

    def _request(self, profile: Profile) -> ModelRequest:
        model = self.pinned.models[profile.model or ""]
        return ModelRequest(
            model_id=model.id,
            instructions="\n\n".join((*profile.instructions_paragraphs, f"Working directory: {self.session.cwd}")),
            messages=tuple(self.session.history.messages),
            tools=tuple(
                ToolSpec(tool.name, tool.description, tool.parameters) for tool in self._tools(profile).values()
            ),
            params=request_params(self.pinned, profile),
            reasoning=profile.reasoning,
            reasoning_budget=model.reasoning.budgets.get(profile.reasoning or "") if model.reasoning else None,
            max_output=model.limit.output,
        )

    def _tools(self, profile: Profile) -> dict[str, Tool]:
        return {name: tool for name, tool in self.built_in.items() if profile.shows(name, tool.kind)}

    def _reminders(self) -> tuple[TextPart, ...]:
        """Return the notes that came into force since the last message; one that stays in force is sent once."""
        in_force = self.session.resolved(self.pinned).profile.reminder
        new = tuple(TextPart(note) for note in in_force if note not in self.session.reminded)
        self.session.reminded = frozenset(in_force)
        return new

    def _tell_usage(self, model: CatalogModel, usage: Usage) -> None:
        cost = cost_usd(model.cost, usage)
        if cost is not None:
            self.session.cost = (self.session.cost or 0.0) + cost
        if model.limit.context:
            used = usage.input + usage.output
            update = messages.usage_update(used, model.limit.context, self.session.cost)
            self.session.client.update(self.session.id, update)

    async def _failed(self, error: ModelError) -> dict[str, Any]:
        logger.error("the model call failed (%s): %s", error.kind, error)
        chunks = Chunks(self.session.id, self.session.client)
        await chunks.text(f"The model could not answer: {error}")
        chunks.flush()
        details = {"kind": error.kind, "message": str(error)}
        return {"stopReason": "end_turn", "_meta": {"agentoml": {"error": details}}}

    def _keep_what_was_heard(self) -> None:
        """Keep the part of an answer that broke off, so that the model knows what the user has read."""
        if self._heard:
            self.session.history.add_answer(AssistantMessage("".join(self._heard), "".join(self._thought)))
