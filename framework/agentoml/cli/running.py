"""Which running agents a command is about, and what they are called."""

from __future__ import annotations

from typing import Any

from agentoml.config.layers import named
from agentoml.control.client import RunningAgent, running_agents

EXIT_NONE = 1
"""No agent of this configuration runs."""


def of_config(config: str | None) -> tuple[RunningAgent, ...]:
    """Return the running agents of this user that run a configuration, or with None all of them."""
    agents = tuple(running_agents())
    if config is None:
        return agents
    wanted = named(config)
    return tuple(agent for agent in agents if agent.runs(wanted))


def title(agent: RunningAgent, served: dict[str, Any] | None = None) -> str:
    """Return the line that stands above what is said of an agent, or of what it serves in a project."""
    if agent.status is None:
        return f"pid {agent.pid}"
    config = agent.status["config"] or "your own configuration, or the offline preset"
    settings = "".join(f" --set {setting}" for setting in agent.status["settings"])
    project = f"  in {served['project']}" if served is not None and served["project"] else ""
    return f"pid {agent.pid}  {config}{settings}{project}"


def problem_line(problem: dict[str, Any]) -> str:
    """Return a problem on one line, with its remedy."""
    place = f"{problem['file']}:{problem['line']}:{problem['column']}: " if problem["line"] else ""
    return f"{place}{problem['message']}" + (f" ({problem['hint']})" if problem["hint"] else "")


def no_agents(config: str | None) -> str:
    """Return the sentence where none runs."""
    return f"no agent of {config} runs" if config is not None else "no agent runs"
