"""The wheel, installed where nothing else of this project is, runs."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

from agentoml import __version__

REPOSITORY = Path(__file__).parents[1]
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
WHERE = """
import json, agentoml
from agentoml import assets
folders = {name: str(assets.folder(name)) for name in ("configs", "templates")}
print(json.dumps({"package": agentoml.__file__, **folders}))
"""


def bare(home: Path) -> dict[str, str]:
    """An environment without anything of ours."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(home)}


def output(command: list[str | Path], *, cwd: Path) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(command, cwd=cwd, env=bare(cwd), capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it; the dependencies are seen through a path that comes after."""
    folder = tmp_path_factory.mktemp("wheel")
    name = output([sys.executable, "-c", BUILD, folder], cwd=REPOSITORY).split()[-1]
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", environment]
    output([*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", folder / name], cwd=folder)
    scheme = {"base": str(environment), "platbase": str(environment)}
    own = Path(sysconfig.get_path("purelib", "venv", scheme))
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return environment


def test_what_is_shipped_is_inside_the_installed_package(installed: Path, tmp_path: Path) -> None:
    found = json.loads(output([installed / "bin" / "python", "-c", WHERE], cwd=tmp_path))
    package = Path(found["package"]).parent
    assert package.is_relative_to(installed.resolve()) or package.is_relative_to(installed)
    for name in ("configs", "templates"):
        shipped = {file.relative_to(REPOSITORY) for file in (REPOSITORY / name).rglob("*") if file.is_file()}
        assert found[name] == str(package / name)
        assert {file.relative_to(package) for file in (package / name).rglob("*") if file.is_file()} == shipped
    assert (package / "py.typed").is_file()


def test_the_installed_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    assert output([installed / "bin" / "agentoml", "--version"], cwd=tmp_path) == f"agentoml {__version__}\n"


def test_the_installed_command_serves_the_offline_agent(installed: Path, tmp_path: Path) -> None:
    command = [installed / "bin" / "agentoml", "run"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=bare(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as agent:
        capabilities = {"protocolVersion": 1, "clientCapabilities": {}}
        assert asked(agent, "initialize", capabilities)["agentInfo"]["name"] == "agentoml-offline"
        session = asked(agent, "session/new", {"cwd": str(tmp_path), "mcpServers": []})
        assert {option["id"] for option in session["configOptions"]} >= {"mode", "model"}
        agent.communicate(timeout=20)
    assert agent.returncode == 0


def test_the_installed_command_has_templates_and_presets(installed: Path, tmp_path: Path) -> None:
    agentoml = installed / "bin" / "agentoml"
    assert "wrote ours/prompts/house-rules.md" in output([agentoml, "init", "team", "ours"], cwd=tmp_path)
    assert output([agentoml, "check", "ours/agent.toml"], cwd=tmp_path).startswith("OK: 2 models, 4 modes")


def asked(agent: subprocess.Popen[str], method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert agent.stdin is not None and agent.stdout is not None
    agent.stdin.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
    return next(frame["result"] for line in agent.stdout if (frame := json.loads(line)).get("id") == method)
