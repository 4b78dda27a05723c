"""Reloads keep the last good configuration on disk: each test has a place of its own for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from watched import agent


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with one model, in a directory of its own."""
    folder = tmp_path / "team"
    folder.mkdir()
    file = folder / "agent.toml"
    file.write_text(agent("one"), encoding="utf-8")
    return file
