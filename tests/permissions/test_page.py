"""docs/permissions.md shows what the program takes, and what it says comes out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agentoml.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "permissions.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [shown] = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "agent.toml").write_text(shown, encoding="utf-8")


def test_its_configuration_is_valid_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "agent.toml"]) == 0
    assert "warning" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("mode", "words", "verdict"),
    [
        ("yolo", ("shell", "git push"), "always_ask"),
        ("yolo", ("shell", "rm -r build"), "allow"),
        ("yolo", ("edit_file", ".env"), "deny"),
        ("code", ("edit_file", ".env.example"), "ask"),
        ("code", ("shell", "make test"), "allow"),
        ("code", ("fetch_url", "https://wiki.internal/x"), "deny"),
        ("plan", ("edit_file", "a.py"), "deny"),
    ],
)
def test_what_it_says_comes_out(
    mode: str, words: tuple[str, ...], verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "permission", *words, "--config", "agent.toml", "--mode", mode, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict
