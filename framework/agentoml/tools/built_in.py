"""The built-in tools: one explicit table."""

from __future__ import annotations

from collections.abc import Mapping

from agentoml.tools.files import FileTools
from agentoml.tools.terminal import SHELL
from agentoml.tools.tool import Tool


def built_in_tools() -> Mapping[str, Tool]:
    """Return every built-in tool by its name; called once for an agent."""
    return {tool.name: tool for tool in (*FileTools().tools(), SHELL)}
