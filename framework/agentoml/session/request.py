"""What a session is at one moment -> one call of the model."""

from __future__ import annotations

from collections.abc import Mapping

from agentoml.models.model import ModelRequest, ToolSpec
from agentoml.session.session import Session
from agentoml.snapshot.params import request_params
from agentoml.snapshot.snapshot import CatalogModel, Snapshot
from agentoml.tools.names import model_name
from agentoml.tools.tool import Tool


def model_request(
    session: Session, pinned: Snapshot, model: CatalogModel, tools: Mapping[str, Tool], context: tuple[str, ...]
) -> ModelRequest:
    """Return the request: instructions, context files, the conversation, the visible tools and the parameters."""
    profile = session.resolved(pinned).profile
    paragraphs = (*profile.instructions_paragraphs, *context, f"Working directory: {session.cwd}")
    reasoning = profile.reasoning if profile.reasoning in model.levels else None
    return ModelRequest(
        model_id=model.id,
        instructions="\n\n".join(paragraphs),
        messages=tuple(session.history.messages),
        tools=tuple(ToolSpec(model_name(tool.name), tool.description, tool.parameters) for tool in tools.values()),
        params=request_params(pinned, profile, model),
        reasoning=reasoning,
        reasoning_budget=model.reasoning.budgets.get(reasoning) if model.reasoning and reasoning else None,
        max_output=model.limit.output,
    )
