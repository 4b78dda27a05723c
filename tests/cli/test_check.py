from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentoml.cli.check import main

GOOD = """schema = 1
[providers.offline]
adapter = "scripted"
[models.one]
provider = "offline"
[modes.code]
[modes.plan]
[options.model]
category = "model"
values_from = "models"
"""
BROKEN = """schema = 1
[agent]
titel = "Typo"
[models.one]
provider = 3
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "agent.toml"


def test_a_good_file_is_counted(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(GOOD, encoding="utf-8")
    assert main(["agent.toml"]) == 0
    assert capsys.readouterr().out == "OK: 1 model, 2 modes, 2 options\n"


def test_every_problem_is_shown_with_its_place_and_a_remedy(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(BROKEN, encoding="utf-8")
    assert main(["agent.toml"]) == 2
    shown = capsys.readouterr().out
    assert "agent.toml:3:1" in shown and "did you mean `title`?" in shown
    assert "agent.toml:5:12" in shown
    assert shown.endswith("\n\n2 errors\n")


def test_a_name_that_names_nothing_has_its_place_too(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(GOOD.replace('provider = "offline"', 'provider = "ofline"'), encoding="utf-8")
    assert main(["agent.toml"]) == 2
    shown = capsys.readouterr().out
    assert "agent.toml:5:" in shown and "offline" in shown


def test_json_is_an_array_of_objects(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(BROKEN, encoding="utf-8")
    assert main(["agent.toml", "--format", "json"]) == 2
    first, second = json.loads(capsys.readouterr().out)
    assert set(first) == {"code", "severity", "file", "line", "column", "key", "message", "hint"}
    assert (first["file"], first["line"], first["column"], first["key"]) == ("agent.toml", 3, 1, "agent.titel")
    assert second["key"] == "models.one.provider"
    config.write_text(GOOD, encoding="utf-8")
    assert main(["agent.toml", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_file_that_is_not_there_is_a_problem_like_any_other(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nope.toml"]) == 2
    assert "nope.toml" in capsys.readouterr().out


def test_the_offline_preset_is_checked_where_nothing_is_named(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parent))
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("OK: ")


def test_checking_imports_neither_a_provider_nor_the_wire(config: Path) -> None:
    config.write_text(GOOD, encoding="utf-8")
    program = (
        "import sys; from agentoml.cli.main import main; main(['check', 'agent.toml'])\n"
        "print(*sorted({'asyncio', 'rich', 'litellm', 'ssl', 'watchfiles', 'subprocess'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == ""


WARNED = (
    GOOD
    + """[options.fast]
type = "boolean"
on = { set = { params = { service_tier = "priority" } } }
[agent]
params = { service_tier = "flex" }
"""
)


def test_warnings_are_a_failure_where_they_are_denied(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(WARNED, encoding="utf-8")
    assert main(["agent.toml"]) == 0
    assert "warning[AGT251]" in capsys.readouterr().out
    assert main(["agent.toml", "--deny-warnings"]) == 2
    config.write_text(GOOD, encoding="utf-8")
    assert main(["agent.toml", "--deny-warnings"]) == 0


def test_other_programs_get_their_own_formats(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(BROKEN, encoding="utf-8")
    assert main(["agent.toml", "--format", "github"]) == 2
    assert capsys.readouterr().out.startswith("::error file=agent.toml,line=3,col=1,")
    assert main(["agent.toml", "--format", "sarif"]) == 2
    log = json.loads(capsys.readouterr().out)
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["AGT101", "AGT102"]
    config.write_text(GOOD, encoding="utf-8")
    assert main(["agent.toml", "--format", "github"]) == 0
    assert capsys.readouterr().out == ""


def test_a_code_is_explained(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain", "agt101"]) == 0
    assert capsys.readouterr().out.startswith("## AGT101\n\n**A key that does not exist here.**\n\n")
    assert main(["--explain", "AGT1011"]) == 2
    assert "did you mean `AGT101`?" in capsys.readouterr().err


def test_which_value_forces_which_option_is_said(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(f'{GOOD}[modes.audit]\nset = {{ model = "one" }}\n', encoding="utf-8")
    assert main(["agent.toml"]) == 0
    assert 'mode = "audit" forces model = "one"\n' in capsys.readouterr().out


@pytest.mark.parametrize("name", ["https://files.example/agent.toml", "package:acme/agent.toml"])
def test_what_lies_elsewhere_is_for_extends(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 2
    assert "name it in the `extends` of a file of yours; `agentoml fetch`" in capsys.readouterr().out
