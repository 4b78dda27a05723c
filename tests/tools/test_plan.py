from __future__ import annotations

from agentoml.tools.arguments import check_arguments
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.tool import ToolContext
from tools.fakes import EditorClient

UPDATE_PLAN = built_in_tools()["update_plan"]


async def test_a_plan_is_sent_whole(context: ToolContext, client: EditorClient) -> None:
    entries = [{"content": "Look", "status": "completed"}, {"content": "Do", "status": "pending", "priority": "high"}]

    result = await UPDATE_PLAN.run({"entries": entries}, context)

    assert client.updates == [
        {
            "sessionUpdate": "plan",
            "entries": [
                {"content": "Look", "status": "completed", "priority": "medium"},
                {"content": "Do", "status": "pending", "priority": "high"},
            ],
        }
    ]
    assert "1 of 2" in result.text


def test_a_wrong_step_is_named() -> None:
    assert check_arguments(UPDATE_PLAN, {"entries": [{"content": "Look", "status": "done"}]}) == [
        "entries[0].status must be one of pending, in_progress, completed"
    ]
