from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentoml.tools.tool import ToolContext
from tools.fakes import EditorClient, Shown


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mcp_servers: runs MCP servers from elsewhere, where they are installed")


@pytest.fixture
def client() -> EditorClient:
    return EditorClient()


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def context(tmp_path: Path, client: EditorClient, shown: Shown) -> ToolContext:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    return ToolContext("s1", "call_1", str(tmp_path), (str(tmp_path),), client, shown, environment=environment)
