"""What `agentoml reload` prints and returns; real agents answer in tests/acceptance/test_control.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentoml.cli import reload, running
from agentoml.control.client import NoAnswer, RunningAgent
from agentoml.control.places import Place

STATUS: dict[str, Any] = {"pid": 7, "config": "/team/agent.toml", "settings": []}
WIDENS = {"area": "permissions", "name": "agent.auto_answers", "what": "changed", "widens": True, "restarts": False}
MODEL = {"area": "models", "name": "two", "what": "added", "widens": False, "restarts": False}
DOCS = {"area": "mcp", "name": "docs", "what": "changed", "widens": False, "restarts": True}
CHANGES = [
    {**WIDENS, "sentence": "auto_answers is [everything]"},
    {**MODEL, "sentence": 'model "two" added'},
    {**DOCS, "sentence": 'MCP server "docs" changed: env (it starts anew)'},
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setattr(running, "running_agents", lambda: iter([RunningAgent(Place(7, "", Path("/s")), STATUS)]))
    return []


def answers(monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]], **answer: Any) -> None:
    def ask(_path: Path, question: dict[str, Any], _seconds: float) -> dict[str, Any]:
        asked.append(question)
        return {**STATUS, "served": [{"project": None, **answer}]}

    monkeypatch.setattr(reload, "ask", ask)


def test_a_dry_run_tells_what_widens_first_then_area_by_area_and_who_would_see_it(
    monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = [{"id": "s1", "cwd": "/p", "sees": ["model", "commands"]}]
    answers(
        monkeypatch,
        asked,
        state="applied",
        problems=[],
        changes=CHANGES,
        restarts=["docs"],
        sessions=sessions,
        sessionsOpen=3,
    )
    assert reload.main(["--dry-run"]) == 0
    assert asked == [{"command": "reload", "dryRun": True, "wait": False}]
    assert capsys.readouterr().out == (
        "pid 7  /team/agent.toml\n"
        "  would be taken over\n"
        "  allows more than before:\n"
        "    ! auto_answers is [everything]\n"
        "  models:\n"
        '    model "two" added\n'
        "  MCP servers:\n"
        '    MCP server "docs" changed: env (it starts anew)\n'
        "  MCP servers that would start anew: docs\n"
        "  1 of 3 sessions would see it\n"
        "    s1  /p: model, commands\n"
    )


@pytest.mark.parametrize(
    ("state", "code", "said"),
    [
        ("applied", 0, "taken over"),
        ("unchanged", 0, "nothing changed"),
        ("rejected", 2, "not taken over: not valid"),
        ("held", 3, "waits for the user's answer in the editor"),
    ],
)
def test_how_it_ended_is_told_and_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    asked: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    state: str,
    code: int,
    said: str,
) -> None:
    answers(monkeypatch, asked, state=state, problems=[], changes=[], sessionsTold=1)
    assert reload.main(["--wait"]) == code
    assert capsys.readouterr().out.splitlines()[1] == f"  {said}"
    assert reload.main(["--wait", "--format=json"]) == code
    [entry] = json.loads(capsys.readouterr().out)
    assert (entry["pid"], entry["config"], entry["served"][0]["state"]) == (7, "/team/agent.toml", state)


def test_an_agent_that_does_not_answer_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(*_: object) -> dict[str, Any]:
        raise NoAnswer("it does not answer within 60 seconds")

    monkeypatch.setattr(reload, "ask", ask)
    assert reload.main(["--wait"]) == 2
    printed = capsys.readouterr()
    assert "pid 7: it does not answer" in printed.err
    assert "does not answer" in printed.out
