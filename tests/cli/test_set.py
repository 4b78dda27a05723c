from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.cli import set as command

AGENT = """# Ours.
schema = 1

[providers.offline]
adapter = "scripted"   # for now

[models.one]
provider = "offline"

[options.model]
values_from = "models"
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "agent.toml"
    config.write_text(AGENT)
    config.chmod(0o640)
    return config


def test_it_changes_the_line_that_must_and_shows_it(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["agent.toml", "options.model.default=one", "agent.limits.turn.tokens=9"]) == 0
    default = 'values_from = "models"\ndefault = "one"\n'
    assert (
        config.read_text() == AGENT.replace('values_from = "models"\n', default) + "\n[agent.limits.turn]\ntokens = 9\n"
    )
    assert capsys.readouterr().out == '+ default = "one"\n+ \n+ [agent.limits.turn]\n+ tokens = 9\n'
    assert config.stat().st_mode & 0o777 == 0o640
    assert list(config.parent.iterdir()) == [config]


def test_a_directory_stands_for_its_agent_toml_as_everywhere(config: Path) -> None:
    assert command.main([str(config.parent), "models.one.name=One"]) == 0
    assert 'name = "One"' in config.read_text()


def test_what_would_break_the_configuration_is_not_written(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["agent.toml", "options.model.default=two"]) == 2
    assert "agent.toml:12:11 (options.model.default)" in capsys.readouterr().err
    assert config.read_text() == AGENT
    assert list(config.parent.iterdir()) == [config]


def test_a_broken_configuration_can_be_mended_step_by_step(config: Path) -> None:
    config.write_text(AGENT.replace('"offline"', '"onlin"').replace('"models"', '"modles"'))
    assert command.main(["agent.toml", "models.one.provider=offline"]) == 0
    assert 'provider = "offline"' in config.read_text()


def test_what_it_says_already_is_left_alone(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = config.stat()
    assert command.main(["agent.toml", 'models.one.provider = "offline"']) == 0
    assert "nothing to change" in capsys.readouterr().out
    assert (config.stat().st_ino, config.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_link_stays_a_link(config: Path, tmp_path: Path) -> None:
    real = config.rename(tmp_path / "real.toml")
    config.symlink_to(real)
    assert command.main(["agent.toml", "agent.name=acme"]) == 0
    assert config.is_symlink() and 'name = "acme"' in real.read_text()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["agent.toml", "agent"], '"agent" is not KEY=VALUE'),
        (["agent.toml", "models=1"], "`models` is a table: set a key of it"),
        (["nowhere.toml", "agent.name=x"], "no such file or directory"),
    ],
)
def test_what_can_t_be_done_is_said(
    config: Path, arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    assert why in capsys.readouterr().err
    assert config.read_text() == AGENT
