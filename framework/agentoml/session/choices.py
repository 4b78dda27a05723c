"""Questions to the user whose answers are picks: `[tools.x]` with `choices`, and the shipped switch_mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from agentoml.config.schema import ToolDefinition
from agentoml.errors import RemoteError, ToolError
from agentoml.session.session import Session
from agentoml.session.told import MODE
from agentoml.snapshot.selections import Refused
from agentoml.snapshot.snapshot import Snapshot
from agentoml.tools.command import parameters_schema
from agentoml.tools.tool import Tool, ToolContext, ToolResult
from agentoml.wire.messages import permission_option, tool_call_update


@frozen
class Answer:
    """One answer that is offered, and what it switches: option -> value."""

    name: str
    switch_to: Mapping[str, Any]
    rejects: bool = False


def choice_tool(session: Session, name: str, definition: ToolDefinition) -> Tool:
    """Return the tool that a table with `choices` describes, for one session."""
    answers = [Answer(choice.name or "", choice.switch_to, choice.reject) for choice in definition.choices]
    title = definition.title or definition.description or name

    async def run(_: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return await ask(session, context, title, answers)

    return Tool(
        name,
        definition.description or name,
        parameters_schema(definition.parameters),
        run,
        definition.kind or "switch_mode",
        title,
        definition.locations,
        asks_the_user=True,
    )


def switch_mode_tool(session: Session, snapshot: Snapshot) -> Tool | None:
    """Return the shipped tool that proposes another mode; None where there are not two to switch between."""
    option = snapshot.options.get(MODE)
    if option is None or len(option.values) < 2:
        return None
    modes = {value.id: value.shown for value in option.values.values()}

    async def run(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        wanted = modes.get(args["mode"])
        if wanted is None:
            raise ToolError(f"there is no mode {args['mode']!r}; there are {', '.join(modes)}")
        answers = [Answer(f"Switch to {wanted.name}", {MODE: args["mode"]}), Answer("Stay", {}, rejects=True)]
        return await ask(session, context, f"Switch to {wanted.name}: {args['reason']}", answers)

    described = "; ".join(
        f"{key}: {shown.name}{f' ({shown.description})' if shown.description else ''}" for key, shown in modes.items()
    )
    return Tool(
        "switch_mode",
        f"Propose to the user to switch to another mode. Modes: {described}.",
        {
            "type": "object",
            "properties": {
                "mode": {"type": "string", "description": "The id of the mode"},
                "reason": {"type": "string", "description": "Why, in one sentence for the user"},
            },
            "required": ["mode", "reason"],
            "additionalProperties": False,
        },
        run,
        "switch_mode",
        "Switch to {mode}: {reason}",
        asks_the_user=True,
    )


async def ask(session: Session, context: ToolContext, title: str, answers: Sequence[Answer]) -> ToolResult:
    """Ask the user and make the picks of the answer, exactly as the client's own (E9).

    Raises:
        ToolError: the user can't be asked, or did not answer.
    """
    options = [
        permission_option(str(number), answer.name, "reject_once" if answer.rejects else "allow_once")
        for number, answer in enumerate(answers)
    ]
    call = tool_call_update(context.tool_call_id, title=title, kind="switch_mode", status="pending")
    try:
        chosen = await session.client.request_permission(session.id, call, options)
    except RemoteError as error:
        raise ToolError(f"the user could not be asked: {error.message}") from None
    if chosen is None:
        raise ToolError("the user did not answer")
    answer = answers[int(chosen)]
    try:
        session.switch(answer.switch_to)
    except Refused as refused:
        raise ToolError(f"the user chose {answer.name!r}, but {refused}") from None
    return ToolResult(f"The user chose: {answer.name}", failed=answer.rejects)
