"""`agentoml models`: every model of an agent, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentoml.cli.main import main as command_line

AGENT = """schema = 1
[providers.p]
adapter = "scripted"
[providers.locked]
adapter = "openai"
api_key = { env = "NOT_SET_ANYWHERE" }
[models.sonnet]
provider = "p"
id = "sonnet-4-5"
name = "Sonnet"
limit = { context = 200_000, output = 64_000 }
cost = { input = 3.0, output = 15.0 }
capabilities = ["tools", "images"]
reasoning = { values = ["low", "high"], default = "high" }
aliases = ["sonnet-4"]
variants.fast = { name = "Fast" }
released = 2026-09-29
[models.old]
provider = "locked"
status = "deprecated"
hidden = true
[models."any/*"]
provider = "p"
[catalogs.more]
file = "more.toml"
[options.model]
values_from = "models"
default = "listed"
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("agent.toml").write_text(AGENT, encoding="utf-8")
    Path("more.toml").write_text('[models.listed]\nprovider = "p"\nname = "模型"\n', encoding="utf-8")


def test_a_table_with_the_one_that_a_session_begins_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["models", "agent.toml"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == [
        "MODEL",
        "NAME",
        "PROVIDER",
        "CONTEXT",
        "REASONING",
        "$",
        "IN",
        "$",
        "OUT",
        "CAN",
        "REMARKS",
    ]
    by_key = {row[3:].split()[0]: row for row in rows}
    assert list(by_key) == ["sonnet", "old", "listed", "any/*"]
    for word in ("Sonnet", "200k", "low, high*", "images, tools", "variants fast", "also sonnet-4"):
        assert word in by_key["sonnet"]
    assert "no credentials, hidden, deprecated" in by_key["old"]
    assert "serves what is not listed" in by_key["any/*"]
    assert [key for key, row in by_key.items() if row.startswith("*")] == ["listed"]
    assert by_key["sonnet"].index("200k") + 4 == head.index("CONTEXT") + 7, "sizes stand at the right"


def test_all_of_it_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["models", "--format", "json", "agent.toml"]) == 0
    models = {model["key"]: model for model in json.loads(capsys.readouterr().out)}
    assert models["sonnet"] == {
        "key": "sonnet",
        "name": "Sonnet",
        "provider": "p",
        "id": "sonnet-4-5",
        "default": False,
        "credentials": True,
        "hidden": False,
        "limit": {"context": 200000, "output": 64000},
        "cost": {"input": 3.0, "output": 15.0, "cache_read": None, "cache_write": None},
        "capabilities": ["images", "reasoning", "tools"],
        "reasoning": {"values": ["low", "high"], "default": "high"},
        "variants": ["fast"],
        "aliases": ["sonnet-4"],
        "fallback": [],
        "status": None,
        "released": "2026-09-29",
    }
    assert (models["old"]["hidden"], models["old"]["credentials"]) == (True, False)
    assert models["listed"]["default"] and models["listed"]["capabilities"] is None


def test_a_broken_configuration_is_told_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agent.toml").write_text(AGENT.replace("limit =", "limits ="), encoding="utf-8")
    assert command_line(["models", "agent.toml"]) == 2
    assert "agent.toml:11:1" in capsys.readouterr().err


def test_presets_can_be_named_and_an_agent_without_models_says_what_to_write(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command_line(["models", "preset:offline"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("*")
    Path("agent.toml").write_text("schema = 1\n", encoding="utf-8")
    assert command_line(["models", "agent.toml"]) == 0
    assert "no models" in capsys.readouterr().out
