"""`agentoml status [CONFIG]`: the running agents of this user, what they serve, and what is wrong."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from agentoml.cli.choosing import not_empty
from agentoml.cli.running import EXIT_NONE, no_agents, of_config, problem_line, title
from agentoml.control.client import RunningAgent

STATES = {
    "in force": "the files are in force",
    "last good": "the files are not valid: the last good configuration stays in force",
    "held": "an edit that allows more waits for the user's answer in the editor",
    "broken": "the files are not valid, and there is no last good configuration: no session opens",
    "starting": "starting",
}


def main(args: list[str]) -> int:
    """Print how the agents are; return 0, or 1 where none runs."""
    arguments = _arguments().parse_args(args)
    agents = of_config(arguments.config)
    if arguments.format == "json":
        print(json.dumps([_json(agent) for agent in agents], indent=2, ensure_ascii=False))
    else:
        texts = [text for agent in agents for text in _texts(agent)]
        print("\n\n".join(texts) or no_agents(arguments.config))
    return 0 if agents else EXIT_NONE


def _json(agent: RunningAgent) -> dict[str, Any]:
    return agent.status if agent.status is not None else {"pid": agent.pid, "error": "does not answer"}


def _texts(agent: RunningAgent) -> Iterator[str]:
    if agent.status is None:
        yield f"{title(agent)}\n  does not answer"
        return
    for status in agent.status["served"]:
        yield f"{title(agent, status)}\n{_text(status)}"


def _text(status: dict[str, Any]) -> str:
    lines = [f"  {STATES.get(status['state'], status['state'])}"]
    if status["loadedAt"]:
        lines.append(
            f"  generation {status['generation']} ({status['fingerprint']}), since {_local(status['loadedAt'])}"
        )
    lines.append(f"  {_sessions(status['sessions'])}")
    lines += [f"    {session['id']}  {session['cwd']}{_busy(session)}" for session in status["sessions"]]
    lines += [f"  {problem_line(problem)}" for problem in status["problems"]]
    lines += [f"  waits: {change['sentence']}" for change in status["held"]]
    return "\n".join(lines)


def _local(time: str) -> str:
    return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _sessions(sessions: list[Any]) -> str:
    return "1 session" if len(sessions) == 1 else f"{len(sessions) or 'no'} sessions"


def _busy(session: dict[str, Any]) -> str:
    return "  (a turn runs)" if session["turn"] else ""


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml status", description="Show the running agents of this user: what they serve, and what is wrong."
    )
    parser.add_argument(
        "config", nargs="?", type=not_empty, help="a TOML file or preset:NAME; left out: every agent of yours"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: an array of objects")
    return parser
