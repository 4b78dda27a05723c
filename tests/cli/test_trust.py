from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.cli.main import main

PROJECT = 'schema = 1\n[mcp.x]\ncommand = ["x"]\n'


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("config", "state"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / kind))
    (tmp_path / "agent.toml").write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "agent.toml"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["trust", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_it_is_shown_granted_compared_and_revoked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys)
    assert code == 0
    assert out.splitlines()[1:] == ["not trusted: it is left out", "", "It would run:", '    mcp.x.command = ["x"]']

    code, out, _ = said(capsys, "grant", "--yes")
    assert (code, out.splitlines()[-1]) == (0, f"{project} is trusted, also by agents that run already")
    assert said(capsys, "show")[1].splitlines()[1].startswith("trusted:")
    assert said(capsys, "diff") == (0, "", "")

    project.write_text(PROJECT.replace('["x"]', '["y"]'), encoding="utf-8")
    assert said(capsys, "diff")[1].splitlines() == [
        "It would run:", '  - mcp.x.command = ["x"]', '  + mcp.x.command = ["y"]',
    ]  # fmt: skip
    assert said(capsys, "revoke")[1] == f"{project} is not trusted any more\n"
    assert said(capsys, "diff")[0] == 1


def test_nothing_is_agreed_to_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "grant")
    assert (code, "--yes" in err) == (1, True)
    assert "not trusted" in said(capsys)[1]


def test_what_is_broken_can_not_be_agreed_to(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project.write_text(PROJECT + "x = y\n", encoding="utf-8")
    code, _, err = said(capsys, "grant", "--yes")
    assert code == 2
    assert f"{project}:4:5" in err
    code, out, _ = said(capsys, "show")
    assert (code, "names and words" in out) == (2, False), "of what is broken nobody knows what it says"


def test_where_there_is_no_project_there_is_nothing_to_trust(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert said(capsys, "show", "empty")[0] == 1


def test_check_and_show_tell_what_is_left_out(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "show"):
        assert main([command, "preset:offline"]) == 0
        assert f"{project} is left out, you have not been asked yet" in capsys.readouterr().err
    said(capsys, "grant", "--yes")
    assert main(["show", "preset:offline", "mcp"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (f'[mcp.x]\ncommand = ["x"]  # {project}:3\n', "")
