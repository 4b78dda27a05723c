"""`agentoml reload [CONFIG]`: running agents look at their files now, or say what that would change."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from agentoml.cli.choosing import not_empty
from agentoml.cli.running import EXIT_NONE, no_agents, of_config, problem_line, title
from agentoml.control.client import NoAnswer, RunningAgent, ask

EXIT_REJECTED = 2
EXIT_HELD = 3

RELOAD_SECONDS = 60.0

ENDS = {
    "applied": ("taken over", "would be taken over"),
    "unchanged": ("nothing changed", "nothing would change"),
    "rejected": ("not taken over: not valid", "would not be taken over: not valid"),
    "held": ("waits for the user's answer in the editor", "would wait for the user's answer in the editor"),
    "begun": ("asked to reload", ""),
}

AREAS = {
    "permissions": "permissions",
    "options": "options",
    "modes": "modes",
    "models": "models",
    "providers": "providers",
    "mcp": "MCP servers",
    "commands": "commands",
    "tools": "tools",
    "agent": "agent",
    "connection": "not before the next session or connection",
}

Answer = dict[str, Any]

NOTHING: Answer = {"project": None, "state": "does not answer"}
"""Stands for what an agent serves that does not answer."""


def main(args: list[str]) -> int:
    """Reload; return 0, 1 where no agent runs, 2 if files are not valid, 3 if one waits for the user."""
    arguments = _arguments().parse_args(args)
    agents = of_config(arguments.config)
    if not agents:
        print("[]" if arguments.format == "json" else no_agents(arguments.config))
        return EXIT_NONE
    question = {"command": "reload", "dryRun": arguments.dry_run, "wait": arguments.wait}
    answers = [(agent, _answer(agent, question)) for agent in agents]
    served = [(agent, one) for agent, said in answers for one in said.get("served", (NOTHING,))]
    if arguments.format == "json":
        print(json.dumps([said for _, said in answers], indent=2, ensure_ascii=False))
    else:
        print("\n\n".join("\n".join(_lines(agent, one, dry=arguments.dry_run)) for agent, one in served))
    return _exit_code([one["state"] for _, one in served])


def _answer(agent: RunningAgent, question: dict[str, Any]) -> Answer:
    if agent.status is None:
        return {"pid": agent.pid, "error": "does not answer"}
    try:
        return ask(agent.place.path, question, RELOAD_SECONDS)
    except (NoAnswer, OSError) as error:
        print(f"pid {agent.pid}: {error}", file=sys.stderr)
        return {"pid": agent.pid, "error": str(error)}


def _exit_code(states: list[str]) -> int:
    if "rejected" in states or "does not answer" in states:
        return EXIT_REJECTED
    return EXIT_HELD if "held" in states else 0


# ------------------------------------------------------------------------------------------------------- text


def _lines(agent: RunningAgent, said: Answer, *, dry: bool) -> Iterator[str]:
    yield title(agent, said)
    ends = ENDS.get(said["state"])
    yield f"  {ends[dry] if ends else said['state']}"
    yield from (f"  {problem_line(problem)}" for problem in said.get("problems", ()))
    changes = said.get("changes", ())
    widening = [change for change in changes if change["widens"]]
    if widening:
        yield "  allows more than before:"
        yield from (f"    ! {change['sentence']}" for change in widening)
    for area, heading in AREAS.items():
        found = [change for change in changes if change["area"] == area and not change["widens"]]
        if found:
            yield f"  {heading}:"
            yield from (f"    {change['sentence']}" for change in found)
    if dry:
        yield from _effects(said)
    elif "sessionsTold" in said and said["state"] == "applied":
        yield f"  {_counted(said['sessionsTold'])} told"


def _effects(said: Answer) -> Iterator[str]:
    if said["restarts"]:
        yield f"  MCP servers that would start anew: {', '.join(said['restarts'])}"
    if said["changes"]:
        yield f"  {len(said['sessions'])} of {_counted(said['sessionsOpen'])} would see it"
        for session in said["sessions"]:
            yield f"    {session['id']}  {session['cwd']}: {', '.join(session['sees'])}"


def _counted(sessions: int) -> str:
    return f"{sessions} session{'' if sessions == 1 else 's'}"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml reload",
        description="Have running agents look at their files now. They also notice every save by themselves.",
    )
    parser.add_argument(
        "config", nargs="?", type=not_empty, help="a TOML file or preset:NAME; left out: every agent of yours"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would change, and who would see it")
    parser.add_argument("--wait", action="store_true", help="wait until it is done and say how it ended")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: an array of objects")
    return parser
