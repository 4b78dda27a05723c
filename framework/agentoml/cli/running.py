"""Which running agents a command is about, and what they are called."""

from __future__ import annotations

from agentoml.config.layers import named
from agentoml.control.client import RunningAgent, running_agents

EXIT_NONE = 1
"""No agent of this configuration runs."""


def of_config(config: str | None) -> tuple[RunningAgent, ...]:
    """Return the running agents of this user that run a configuration, or with None all of them.

    One that does not answer may run any configuration.
    """
    agents = tuple(running_agents())
    if config is None:
        return agents
    wanted = named(config)
    return tuple(agent for agent in agents if agent.status is None or agent.runs(wanted))


def title(agent: RunningAgent) -> str:
    """Return the line that stands above what is said of an agent."""
    status = agent.status or {}
    config = status.get("config") or "your own configuration, or the offline preset"
    return f"pid {agent.pid}  {config if agent.status is not None else ''}".rstrip()


def no_agents(config: str | None) -> str:
    """Return the sentence where none runs."""
    return f"no agent of {config} runs" if config is not None else "no agent runs"
