"""The tool update_plan: the agent's plan, shown by the client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentoml.tools.tool import Tool, ToolContext, ToolResult
from agentoml.wire.messages import plan, plan_entry


async def update_plan(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Send the whole plan to the client (A43)."""
    entries = [
        plan_entry(entry["content"], entry["status"], entry.get("priority") or "medium") for entry in args["entries"]
    ]
    context.client.update(context.session_id, plan(entries))
    done = sum(entry["status"] == "completed" for entry in entries)
    return ToolResult(f"The plan is shown: {done} of {len(entries)} steps are completed.")


UPDATE_PLAN = Tool(
    "update_plan",
    "Show your plan to the user. Send all steps each time, with the status of each; one step is in progress at a time.",
    {
        "type": "object",
        "properties": {
            "entries": {
                "type": "array",
                "description": "All steps, in order",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "description": "What is done in this step"},
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        "priority": {"type": "string", "enum": ["high", "medium", "low"]},
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["entries"],
        "additionalProperties": False,
    },
    update_plan,
    "think",
    "Update the plan",
)
