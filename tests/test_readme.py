"""What the README shows is what the program takes."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from agentoml.cli.main import COMMANDS
from agentoml.cli.main import main as command_line

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PACKAGE = REPOSITORY / "framework" / "agentoml"


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


@pytest.mark.parametrize("text", blocks("toml"))
def test_its_configuration_is_valid_as_it_stands(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATEWAY_KEY", raising=False)  # checking needs no secret
    (tmp_path / "agent.toml").write_text(text, encoding="utf-8")
    assert command_line(["check", str(tmp_path / "agent.toml")]) == 0
    shown = capsys.readouterr().out
    written = tomllib.loads(text)
    assert f"{len(written['models'])} models, {len(written['modes'])} modes" in shown
    assert "warning" not in shown


def test_its_editor_settings_start_the_agent() -> None:
    for text in blocks("json"):
        [server] = json.loads(text)["agent_servers"].values()
        assert server["args"][0] == "run" and Path(server["command"]).is_absolute()


def test_its_make_targets_exist() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^make (\w+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert targets == {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_its_table_names_every_command() -> None:
    assert set(re.findall(r"^\| `agentoml (\w+)", README, re.MULTILINE)) == set(COMMANDS)


def test_every_arrow_of_its_picture_is_a_module() -> None:
    [picture] = blocks("text")
    modules = {module.stem for module in PACKAGE.rglob("*.py")} | {folder.name for folder in PACKAGE.iterdir()}
    arrows = set(re.findall(r"--(\w+)-->", picture))
    assert arrows == {"layers", "parse", "merge", "structure", "link", "compile", "store", "turn", "wire"}
    assert arrows <= modules
