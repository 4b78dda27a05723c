"""The tool calls of one answer: announced, permitted, run, and their results kept for the model."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from attrs import define, field, frozen

from agentoml.errors import ToolError
from agentoml.models.model import ImagePart, Part, TextPart, ToolMessage, ToolRequest
from agentoml.permissions.calls import Call
from agentoml.session.ending import ended
from agentoml.session.history import INTERRUPTED
from agentoml.session.permission import Show, judge, permit
from agentoml.session.session import Session
from agentoml.tools.arguments import (
    check_arguments,
    host_of_call,
    locations_of,
    parse_arguments,
    render_title,
    whole_title,
    without_nulls,
)
from agentoml.tools.clipping import fenced
from agentoml.tools.names import model_name
from agentoml.tools.tool import Content, Tool, ToolContext, ToolResult
from agentoml.tools.urls import host_of
from agentoml.wire import messages

logger = logging.getLogger("agentoml.tools")

SIDE_BY_SIDE = frozenset({"read", "search", "fetch", "think"})
"""Calls of these kinds run beside others; all others one after the other in the model's order."""


class UserStopped(Exception):
    """The user answered a permission question by ending the turn."""


@frozen
class _Announced:
    request: ToolRequest
    id: str
    tool: Tool
    args: Mapping[str, Any]
    paths: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """What the user is shown of the call wherever it stands."""
        return {
            "kind": self.tool.shown_kind or self.tool.kind,
            "locations": [messages.location(path) for path in self.paths],
            "raw_input": dict(self.args),
        }


@define(eq=False)
class ToolCalls:
    """The calls of one answer. The user is asked one question at a time: an answer may settle the next one too."""

    session: Session
    tools: Mapping[str, Tool]
    environment: Mapping[str, str]
    _by_model_name: Mapping[str, Tool] = field(init=False)
    _one_at_a_time: asyncio.Lock = field(factory=asyncio.Lock)
    _asking: asyncio.Lock = field(factory=asyncio.Lock)

    def __attrs_post_init__(self) -> None:
        self._by_model_name = {model_name(tool.name): tool for tool in self.tools.values()}

    async def run(self, requests: tuple[ToolRequest, ...]) -> None:
        """Run all calls and add their results to the history, in the order in which they were asked for.

        Raises:
            UserStopped: the user ended the turn instead of answering.
        """
        tasks = [asyncio.create_task(self._run_one(request)) for request in requests]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await ended(tasks)
            for request, task in zip(requests, tasks, strict=True):
                if not task.cancelled() and task.exception() is None:
                    result = task.result()
                    images = (ImagePart(image.data, image.mime_type) for image in result.images)
                    parts: tuple[Part, ...] = (TextPart(self._masked(result.text)), *images)
                    self.session.history.add_result(ToolMessage(request.id, parts, failed=result.failed))

    async def _run_one(self, request: ToolRequest) -> ToolResult:
        try:
            announced = self._announce(request)
        except ToolError as error:
            return ToolResult(str(error), failed=True)
        try:
            result = await self._permitted(announced)
        except UserStopped:
            self._finish(announced, ToolResult("The user ended the turn.", failed=True))
            raise
        except asyncio.CancelledError:
            self._finish(announced, ToolResult(INTERRUPTED, failed=True))
            raise
        except ToolError as error:
            result = ToolResult(str(error), failed=True)
        except Exception:
            logger.exception("the tool %s broke", announced.tool.name)
            result = ToolResult(f"The tool {announced.tool.name} broke: this is a fault of the tool.", failed=True)
        self._finish(announced, result)
        return result

    def _announce(self, request: ToolRequest) -> _Announced:
        """Show the call as pending; one that can't run is shown as failed and ends here with ToolError."""
        call_id = f"call_{secrets.token_hex(8)}"
        tool = self._by_model_name.get(request.name)
        try:
            if tool is None:
                raise ToolError(f"There is no tool {request.name!r}. There are: {', '.join(self._by_model_name)}.")
            args = without_nulls(tool, parse_arguments(request.arguments))
            if problems := check_arguments(tool, args):
                raise ToolError(f"The arguments are wrong: {'; '.join(problems)}.")
            paths = locations_of(tool, args, self.session.cwd)
        except ToolError as error:
            failed = [messages.content_item(messages.text_block(str(error)))]
            kind: Any = tool.kind if tool is not None else "other"
            self._update(messages.tool_call(call_id, request.name, kind=kind, status="failed", content=failed))
            raise
        announced = _Announced(request, call_id, tool, args, paths)
        self._update(messages.tool_call(call_id, render_title(tool, args), status="pending", **announced.fields()))
        return announced

    async def _permitted(self, announced: _Announced) -> ToolResult:
        if announced.tool.kind in SIDE_BY_SIDE:
            return await self._ask_and_run(announced)
        async with self._one_at_a_time:
            return await self._ask_and_run(announced)

    async def _ask_and_run(self, announced: _Announced) -> ToolResult:
        tool, args = announced.tool, announced.args
        context = ToolContext(
            session_id=self.session.id,
            tool_call_id=announced.id,
            cwd=self.session.cwd,
            roots=self.session.roots,
            client=self.session.client,
            environment=self.environment,
            report=lambda content: self._update(messages.tool_call_update(announced.id, content=list(content))),
            check_url=lambda url: self._check_url(announced, url),
            may_read=self._may_read,
        )
        call = self._call(announced)
        refusal = await self._refusal(announced, call, lambda: self._shown(announced, call, context))
        if refusal:
            return ToolResult(refusal, failed=True)
        self._update(messages.tool_call_update(announced.id, status="in_progress"))
        async with self._asking if tool.asks_the_user else nullcontext():
            return await tool.run(args, context)

    def _call(self, announced: _Announced, url: str | None = None) -> Call:
        """Return what permissions judge; `url` is where a call is led to."""
        tool, args = announced.tool, announced.args
        host = host_of(url) if url is not None else host_of_call(tool, args)
        shadows = self.session.servers.shadows(tool.name)
        return Call(tool.name, tool.kind, args, announced.paths, host, shadows)

    async def _refusal(self, announced: _Announced, call: Call, show: Show) -> str:
        """Return why a call may not run, nothing where it may."""
        if announced.tool.asks_the_user:
            judgement = judge(self.session, call)
            return f"Denied by the permission rules ({judgement.reason})." if judgement.verdict == "deny" else ""
        is_settled = judge(self.session, call).verdict in ("allow", "deny")
        async with nullcontext() if is_settled else self._asking:
            decision = await permit(self.session, call, show)
        if decision.stop:
            raise UserStopped
        return "" if decision.allowed else decision.refusal

    async def _check_url(self, announced: _Announced, url: str) -> None:
        """Judge where a redirect leads to, as a call of its own (E49)."""

        async def show() -> dict[str, Any]:
            return messages.tool_call_update(announced.id, title=f"Go on to {url}", **announced.fields())

        refusal = await self._refusal(announced, self._call(announced, url), show)
        if refusal:
            raise ToolError(refusal)

    def _may_read(self, path: str) -> bool:
        call = Call("read_file", "read", {"path": path}, (path,))
        return judge(self.session, call).verdict == "allow"

    async def _shown(self, announced: _Announced, call: Call, context: ToolContext) -> dict[str, Any]:
        """Return what the user is asked about, with a preview where the tool has one."""
        tool, args = announced.tool, announced.args
        preview: tuple[Content, ...] = ()
        if tool.preview is not None:
            try:
                preview = await tool.preview(args, context)
            except ToolError:  # its text may quote the file
                if all(map(self._may_read, call.paths)):
                    raise
        title, whole = render_title(tool, args), whole_title(tool, args)
        if not preview and title not in (whole, tool.name):  # nobody agrees to what is cut off
            preview = (messages.content_item(messages.text_block(fenced(whole))),)
        shown = messages.tool_call_update(
            announced.id, title=title, status="pending", content=list(preview), **announced.fields()
        )
        return dict(self._masked(shown))

    def _finish(self, announced: _Announced, result: ToolResult) -> None:
        content: list[Content] = list(result.content) or [messages.content_item(messages.text_block(result.text))]
        status: messages.ToolStatus = "failed" if result.failed else "completed"
        self._update(messages.tool_call_update(announced.id, status=status, content=content))

    def _update(self, update: dict[str, Any]) -> None:
        self.session.client.update(self.session.id, self._masked(update))

    def _masked(self, told: Any) -> Any:
        """Return what is told to the model and the client without the secrets that are known."""
        return self.session.environment.vault.masked(told)
