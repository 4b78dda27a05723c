"""The built-in tools: one explicit table."""

from __future__ import annotations

from collections.abc import Mapping

from agentoml.tools.fetch import FETCH_URL
from agentoml.tools.files import FileTools
from agentoml.tools.moves import DELETE_FILE, MOVE_FILE
from agentoml.tools.plan import UPDATE_PLAN
from agentoml.tools.search import SEARCH_FILES
from agentoml.tools.terminal import SHELL
from agentoml.tools.tool import Tool


def built_in_tools() -> Mapping[str, Tool]:
    """Return every built-in tool by its name; called once for an agent."""
    tools = (*FileTools().tools(), MOVE_FILE, DELETE_FILE, SEARCH_FILES, SHELL, FETCH_URL, UPDATE_PLAN)
    return {tool.name: tool for tool in tools}
