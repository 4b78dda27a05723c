from __future__ import annotations

from typing import Any

import pytest
from mcp_types import Tool as Listed

from agentoml.tools.mcp_tools import tools_of
from agentoml.tools.tool import ToolContext, ToolResult


async def run(name: str, args: object, context: ToolContext) -> ToolResult:
    return ToolResult(name)


@pytest.mark.parametrize("wrong", [None, 5, "x", True])
def test_a_schema_that_is_none_becomes_one_that_providers_take(wrong: Any) -> None:
    listed = Listed(name="look", input_schema={"properties": wrong, "required": wrong, "title": "Look"})

    (tool,) = tools_of("docs", [listed], run)

    assert tool.parameters == {"type": "object", "properties": {}, "title": "Look"}
