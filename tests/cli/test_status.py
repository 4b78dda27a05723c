"""What `agentoml status` prints; real agents answer in tests/acceptance/test_control.py."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agentoml.cli import running, status
from agentoml.control.client import RunningAgent
from agentoml.control.places import Place

STATUS: dict[str, Any] = {
    "project": None,
    "state": "in force",
    "generation": 3,
    "fingerprint": "0123456789abcdef",
    "loadedAt": "2026-11-21T10:00:00+00:00",
    "sessions": [],
    "problems": [],
    "held": [],
    "lastAttempt": None,
}


def serving(*served: dict[str, Any], config: str | None = "/team/agent.toml") -> dict[str, Any]:
    return {"pid": 7, "version": "0.1.0", "config": config, "settings": [], "served": list(served)}


def agents(monkeypatch: pytest.MonkeyPatch, *statuses: dict[str, Any] | None) -> None:
    found = [RunningAgent(Place(7 + number, "", Path("/s")), one) for number, one in enumerate(statuses)]
    monkeypatch.setattr(running, "running_agents", lambda: iter(found))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_an_agent_is_told_with_what_it_serves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = [{"id": "s1", "cwd": "/p", "turn": True}, {"id": "s2", "cwd": "/q", "turn": False}]
    agents(monkeypatch, serving({**STATUS, "sessions": sessions}))
    assert status.main([]) == 0
    assert capsys.readouterr().out == (
        "pid 7  /team/agent.toml\n"
        "  the files are in force\n"
        "  generation 3 (0123456789abcdef), since 2026-11-21 10:00:00\n"
        "  2 sessions\n"
        "    s1  /p  (a turn runs)\n"
        "    s2  /q\n"
    )


def test_problems_and_what_waits_are_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    problem = {"file": "agent.toml", "line": 3, "column": 1, "message": "unknown key", "hint": "did you mean `name`?"}
    agents(
        monkeypatch,
        serving({**STATUS, "state": "last good", "problems": [problem]}),
        serving({**STATUS, "state": "held", "held": [{"sentence": "more is allowed"}]}, config=None),
        None,
    )
    assert status.main([]) == 0
    first, second, third = capsys.readouterr().out.split("\n\n")
    assert "  agent.toml:3:1: unknown key (did you mean `name`?)" in first.splitlines()
    assert second.startswith("pid 8  your own configuration, or the offline preset\n")
    assert "  waits: more is allowed" in second.splitlines()
    assert third == "pid 9\n  does not answer\n"


def test_only_agents_of_the_configuration_that_was_named_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config, link = tmp_path / "agent.toml", tmp_path / "link.toml"
    config.write_text("")
    link.symlink_to(config)
    agents(monkeypatch, serving(STATUS, config=str(config)), serving(STATUS), serving(STATUS, config=None))
    assert status.main([str(link), "--format=json"]) == 0
    assert [one["config"] for one in json.loads(capsys.readouterr().out)] == [str(config)]


def test_a_configuration_is_the_same_by_its_directory_by_its_file_and_by_nothing_where_it_is_ones_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    team, own = tmp_path / "team", tmp_path / "agentoml"
    for folder in (team, own):
        folder.mkdir()
        (folder / "agent.toml").write_text("")
    for config, names in (
        (str(team), (team, team / "agent.toml")),
        (str(team / "agent.toml"), (team, team / "agent.toml")),
        (None, (own, own / "agent.toml")),
    ):
        for name in names:
            agents(monkeypatch, serving(STATUS, config=config), serving(STATUS))
            assert status.main([str(name), "--format=json"]) == 0
            assert [one["config"] for one in json.loads(capsys.readouterr().out)] == [config]


def test_without_an_agent_the_exit_code_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents(monkeypatch)
    assert status.main([]) == 1
    assert capsys.readouterr().out == "no agent runs\n"
    assert status.main(["--format=json"]) == 1
    assert json.loads(capsys.readouterr().out) == []


def test_what_is_served_in_a_project_of_its_own_stands_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents(monkeypatch, serving(STATUS, {**STATUS, "project": "/p"}) | {"settings": ["agent.model=two"]})
    assert status.main([]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.startswith("pid 7  /team/agent.toml --set agent.model=two\n")
    assert second.startswith("pid 7  /team/agent.toml --set agent.model=two  in /p\n")
