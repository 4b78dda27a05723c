"""`agentoml tools`: what a new session has, MCP servers included, and which of them could not be started."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agentoml.cli.main import main as command_line

TINY = Path(__file__).parents[1] / "tools" / "tiny_mcp_server.py"
AGENT = f"""schema = 1
[modes.code]
[modes.plan]
[tools.run_tests]
description = "Run the test suite"
command = ["pytest", "-q", "{{target}}"]
parameters = {{ target = {{ type = "string", default = "." }}, why = {{ type = "string" }} }}
[tool_kinds]
"mcp:tiny/*" = "read"
[mcp.tiny]
command = ["{sys.executable}", "{TINY}"]
[mcp.off]
enabled = false
command = ["never-started"]
"""
GONE = '[mcp.gone]\ncommand = ["/nowhere/at-all"]\n'


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def write(text: str) -> str:
    Path("agent.toml").write_text(text, encoding="utf-8")
    return "agent.toml"


def test_built_in_without_code_and_of_servers_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["tools", write(AGENT)]) == 0
    said = capsys.readouterr()
    rows = {line.split()[0]: line for line in said.out.splitlines()[1:] if line}
    assert rows["read_file"].split()[1:5] == ["read", "path", "[line]", "[limit]"]
    assert rows["run_tests"].split()[1:4] == ["execute", "[target]", "why"]
    assert rows["switch_mode"].split()[1] == "switch_mode"
    served = [row for name, row in rows.items() if name.startswith("mcp:tiny/")]
    assert served and all(row.split()[1] == "read" for row in served)
    assert "off, so not asked: off" in said.out
    assert said.err == ""


def test_what_is_hidden_from_the_model_is_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    only = AGENT.replace("[modes.code]", '[modes.code]\nset.tools = ["kind:read", "!mcp:*"]')
    assert command_line(["tools", "--format", "json", write(only)]) == 0
    assert [tool["name"] for tool in json.loads(capsys.readouterr().out)["tools"]] == ["read_file"]


def test_what_another_mode_has_is_a_setting_away(capsys: pytest.CaptureFixture[str]) -> None:
    only = AGENT.replace("[modes.plan]", '[modes.plan]\nset.tools = ["update_plan"]')
    assert command_line(["tools", "--format", "json", "--set", "options.mode.default=plan", write(only)]) == 0
    assert [tool["name"] for tool in json.loads(capsys.readouterr().out)["tools"]] == ["update_plan"]


def test_a_server_that_can_not_be_started_is_said_and_the_rest_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["tools", "--format", "json", write(AGENT + GONE)]) == 1
    said = capsys.readouterr()
    found = json.loads(said.out)
    states = {server["name"]: server["state"] for server in found["servers"]}
    assert states == {"tiny": "ready", "gone": "failed", "off": "off"}
    assert said.err.startswith("the MCP server gone could not be started: ") and said.err.count("\n") == 1
    [run_tests] = [tool for tool in found["tools"] if tool["name"] == "run_tests"]
    assert run_tests["kind"] == "execute" and run_tests["parameters"]["required"] == ["why"]
    assert any(tool["name"].startswith("mcp:tiny/") for tool in found["tools"])


def test_a_broken_configuration_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["tools", write(AGENT + "[mcp.tiny.nonsense]\n")]) == 2
    assert "nonsense" in capsys.readouterr().err
