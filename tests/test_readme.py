"""What the README shows is what the program takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agentoml.cli.init import templates
from agentoml.cli.main import COMMANDS
from agentoml.cli.main import main as command_line
from agentoml.config import layers
from cli.terminal import Terminal

pytestmark = pytest.mark.usefixtures("own_home")

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
AGENTOML = [sys.executable, "-P", "-m", "agentoml"]
PROGRAM = "import sys; from agentoml.cli.main import main; sys.exit(main())"
PACKAGE = REPOSITORY / "framework" / "agentoml"


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def chapter(title: str) -> str:
    [found] = re.findall(rf"^## {title}$(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    return str(found)


def rows(table: str) -> list[tuple[str, list[str]]]:
    """What is typed, by the first column, and what is shown then, by the second."""
    cells = re.findall(r"^\| `(.*?)` \| (.*) \|$", table, re.MULTILINE)
    return [(typed, re.findall(r"`(.*?)`", shown)) for typed, shown in cells]


def test_its_configuration_is_valid_as_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    [text] = re.findall(r"^```toml\n(.*?)^```$", chapter("One page of TOML"), re.MULTILINE | re.DOTALL)
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


def test_its_first_agent_is_made_switched_changed_broken_and_repaired(tmp_path: Path) -> None:
    steps = chapter("Your first agent")
    [added] = re.findall(r"^```toml\n(.*?)^```$", steps, re.MULTILINE | re.DOTALL)
    typing, _ = re.findall(r"(?:^\|.*\n)+", steps, re.MULTILINE)
    [init] = re.findall(r"^agentoml (init \w+) ~/my-agent$", steps, re.MULTILINE)
    home = {"HOME": str(tmp_path)}
    agent = tmp_path / "my-agent" / "agent.toml"
    subprocess.run([*AGENTOML, *init.split(), str(agent.parent)], check=True, capture_output=True, timeout=30)

    with Terminal(PROGRAM, ["chat", "agent.toml"], agent.parent, home) as terminal:
        terminal.wait_for("code · sonnet > ")
        for typed, shown in rows(typing):
            terminal.type(f"{typed}\r")
            for words in shown:
                terminal.wait_for(words)
            terminal.wait_for(" > ")
        whole = agent.read_text(encoding="utf-8") + "\n" + added
        agent.write_text(whole, encoding="utf-8")
        terminal.wait_for("+ mode teach")
        terminal.type("/mode teach\r")
        terminal.wait_for("mode: plan -> teach")
        agent.write_text(whole.replace('"Teach"', '"Teach'), encoding="utf-8")
        terminal.wait_for("this string is not closed")
        terminal.type("hello again\r")
        terminal.wait_for("it plays prepared replies")
        agent.write_text(whole, encoding="utf-8")
        terminal.wait_for("The configuration is valid again")
        terminal.type("/quit\r")
        assert terminal.leave() == 0
    assert (agent.parent / "note.md").read_text(encoding="utf-8") == "write a note\n"


def test_its_presets_and_templates_are_there() -> None:
    assert set(re.findall(r"agentoml init (\w+)`", README)) | {"minimal"} == set(templates())
    [line] = re.findall(r"preset:coder` \| .*", README)
    assert {"coder", "offline", *re.findall(r"`([a-z-]+)`", line)} == set(layers.presets())
