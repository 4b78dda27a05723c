from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentoml.tools.tool import ToolContext
from tools.fakes import EditorClient, Shown


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
