from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentoml.cli.test import main

AGENT = """schema = 1
[modes.code]
[modes.plan]
set = { permissions = "no-changes" }
[tests.reads]
given = { tool = "read_file", args = { path = "a.md" } }
expect.verdict = "allow"
[tests.plans]
given = { mode = "plan", tool = "write_file", args = { path = "a.md" } }
expect.verdict = "allow"
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "agent.toml"


def test_each_test_is_told_and_what_fails_with_its_place(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(AGENT)
    assert main(["agent.toml"]) == 1
    assert capsys.readouterr().out == (
        "ok     reads\n"
        "failed plans\n"
        "\n"
        'error[AGT208]: the test "plans" expects "allow", but there is "deny" because of no-changes.kinds.edit: '
        "write_file\n"
        "  --> agent.toml:10:18 (tests.plans.expect.verdict)\n"
        "   |\n"
        '10 | expect.verdict = "allow"\n'
        "   |                  ^^^^^^^\n"
        "   = help: change what it tests, or what it expects\n"
        "\n"
        "2 tests: 1 failed\n"
    )


def test_where_all_hold_that_is_said(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(AGENT.partition("[tests.plans]")[0])
    assert main(["agent.toml"]) == 0
    assert capsys.readouterr().out.endswith("1 test: all hold\n")


def test_a_failing_gate_is_one_of_the_tests_here(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(AGENT + "gate = true\n")
    assert main(["agent.toml", "--format", "json"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)
    assert (problem["code"], problem["line"], problem["key"]) == ("AGT208", 10, "tests.plans.expect.verdict")


def test_a_configuration_that_can_t_be_used_is_explained(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('schema = 1\n[tests.x]\nexpect.modle = "opus"\n')
    assert main(["agent.toml"]) == 2
    assert "did you mean `model`?" in capsys.readouterr().err


def test_without_tests_there_is_a_word_about_them(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text("schema = 1\n")
    assert main(["agent.toml"]) == 0
    assert "[tests.NAME]" in capsys.readouterr().out
