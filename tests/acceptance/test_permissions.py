"""Permissions in real turns: what is denied never runs, what is always asked about never runs unasked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess, agent_process, choose

AGENT = """
schema = 1
[agent]
permissions.add = ["team"]
auto_answers = ["everything"]
[permissions.team]
rules.secrets = {{ path = ["**/.env*", "locked/**"], action = "deny" }}
rules.push = {{ tool = "shell", command = "touch *", action = "always_ask" }}
rules.pages = {{ host = "127.0.0.1", action = "deny" }}
[providers.demo]
adapter = "scripted"
{replies}
[models.m]
provider = "demo"
"""

REPLY = """
[providers.demo.replies.{name}]
match = "{name}"
steps = [{{ tool = "{tool}", args = {args} }}, {{ text = "{{result}}" }}]
"""

DENIED = {
    "glob": ("shell", "cat .e*"),
    "brace": ("shell", "cat .{env,x}"),
    "moved": ("shell", "cd locked && cat key"),
    "linked": ("shell", "cat notes/link"),
    "input": ("shell", "cat < .env"),
    "output": ("shell", "echo x > locked/key"),
    "wrapped": ("shell", "env X=1 timeout 5 bash -c 'cat .env'"),
    "removed": ("shell", "rm -r locked"),
    "home": ("shell", "cat ~/.env"),
    "list": ("list_files", "locked"),
    "read": ("read_file", "notes/../.env"),
    "through": ("read_file", "notes/link"),
    "written": ("write_file", "locked/new"),
    "page": ("fetch_url", "http://127.0.0.1:9/x"),
}
ASKED = {
    "program": "touch made",
    "by-path": "/usr/bin/touch made",
    "assigned": "X=1 touch made",
    "second": "true && touch made",
    "substituted": "echo $(touch made)",
    "chosen": "x=touch; $x made",
    "many": "echo made | xargs touch",
    "found": "find . -maxdepth 0 -exec touch made ';'",
    "evaluated": "read 'a[$(touch made)]' <<< 1",
    "quoted": "t''ouch made",
    "piped": "echo touch made | sh",
    "late": f"true {'x' * 120} && touch made",
}


def args(tool: str, what: str) -> str:
    names = {"shell": "command", "fetch_url": "url"}
    content = ', content = "x"' if tool == "write_file" else ""
    return f"{{ {names.get(tool, 'path')} = '''{what}'''{content} }}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    calls = {**DENIED, **{name: ("shell", line) for name, line in ASKED.items()}}
    replies = "".join(REPLY.format(name=name, tool=tool, args=args(tool, what)) for name, (tool, what) in calls.items())
    (tmp_path / "agent.toml").write_text(AGENT.format(replies=replies), encoding="utf-8")
    work = tmp_path / "work"
    for folder in ("locked", "notes"):
        (work / folder).mkdir(parents=True)
    for file in (work / ".env", work / "locked" / "key", tmp_path / ".env"):
        file.write_text("hidden-marker", encoding="utf-8")
    (work / "notes" / "link").symlink_to("../.env")
    return work


def questions(agent: AgentProcess) -> list[Any]:
    return [frame for frame in agent.frames if frame.get("method") == "session/request_permission"]


async def test_what_is_denied_never_runs_however_it_is_written(project: Path) -> None:
    home = {"HOME": str(project.parent)}
    async with agent_process(project.parent / "agent.toml", environment=home) as agent:
        session = await agent.new_session(project)
        for name in DENIED:
            await agent.prompt(session, name)
    finals = [update for update in agent.updates("tool_call_update") if update["status"] in ("completed", "failed")]
    assert [update["status"] for update in finals] == ["failed"] * len(DENIED)
    assert agent.said().count("Denied by the permission rules (team.rules.") == len(DENIED)
    assert questions(agent) == []
    assert "hidden-marker" not in str(agent.frames)
    assert (project / "locked" / "key").read_text(encoding="utf-8") == "hidden-marker"
    assert sorted(file.name for file in (project / "locked").iterdir()) == ["key"]


async def test_what_is_always_asked_about_never_runs_unasked_and_remembers_nothing(project: Path) -> None:
    answers = {"session/request_permission": choose("reject_once")}
    async with agent_process(project.parent / "agent.toml", answers=answers) as agent:
        session = await agent.new_session(project)
        for name in (*ASKED, "program"):
            await agent.prompt(session, name)
            assert not (project / "made").exists(), name
    asked = questions(agent)
    assert len(asked) == len(ASKED) + 1, "each time, although everything is answered for"
    always = [
        name for name, frame in zip((*ASKED, "program"), asked, strict=True) if len(frame["params"]["options"]) > 2
    ]
    shown = [frame["params"]["toolCall"]["content"] for frame in asked]
    assert [bool(content) for content in shown] == [name == "late" for name in (*ASKED, "program")]
    assert ASKED["late"] in str(shown), "what is asked about is shown whole, if not in the title then below it"
    assert set(always) <= {"chosen", "many", "evaluated", "piped"}, "what can't be seen is asked, not always asked"
