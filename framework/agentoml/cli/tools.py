"""`agentoml tools [CONFIG]`: the tools that a new session has, as a table or as JSON; MCP servers are asked."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agentoml.cli.building import built_or_told
from agentoml.cli.choosing import add_configuration
from agentoml.cli.columns import columns
from agentoml.session.providers import with_credentials
from agentoml.session.sessions import Sessions
from agentoml.session.toolbox import toolbox
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from agentoml.threads import run
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.mcp import ServerStatus
from agentoml.tools.tool import Tool
from agentoml.wire.client import Client
from agentoml.wire.jsonrpc import Connection
from agentoml.wire.stdio import open_stdio

EXIT_INCOMPLETE = 1
EXIT_PROBLEMS = 2
HEAD = ("TOOL", "KIND", "ARGUMENTS", "DESCRIPTION")
LONGEST = 72


class Found(NamedTuple):
    """The tools of a session, the servers that are on, and the names of those that are off."""

    tools: tuple[Tool, ...]
    servers: tuple[ServerStatus, ...]
    off: tuple[str, ...]


def main(args: list[str]) -> int:
    """Print the tools; return 0, 1 if a server could not be started, 2 if the configuration can't be used."""
    arguments = _arguments().parse_args(args)
    built = built_or_told(arguments)
    if built.snapshot is None:
        return EXIT_PROBLEMS
    logging.getLogger("agentoml.mcp").addHandler(logging.NullHandler())  # what it says is said below
    found = run(_find(built.snapshot))
    missing = [server for server in found.servers if server.state != "ready"]
    if arguments.format == "json":
        print(json.dumps(_json(found), indent=2, ensure_ascii=False))
    else:
        print(columns(HEAD, [_row(tool) for tool in found.tools]) if found.tools else "no tools")
        if found.off:
            print(f"\noff, so not asked: {', '.join(found.off)}")
    for server in missing:
        print(f"the MCP server {server.name} could not be started: {server.problem}", file=sys.stderr)
    return EXIT_INCOMPLETE if missing else 0


async def _find(snapshot: Snapshot) -> Found:
    """Open a session that nobody listens to, wait for its servers, and take what a turn would offer to the model."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    client = Client(Connection(*open_stdio((nowhere, nowhere))), {}, None)
    facts = ClientFacts(credentials=with_credentials(snapshot.providers))
    sessions = Sessions()
    try:
        session = sessions.new(client, snapshot, facts, {"cwd": str(Path.cwd())})
        session.opening()
        await session.servers.settled()
        tools = tuple(toolbox(session, snapshot, built_in_tools()).values())
        servers = session.servers.statuses()
    finally:
        await sessions.close()
        os.close(nowhere)
    on = {server.name for server in servers}
    return Found(tools, servers, tuple(name for name in snapshot.servers if name not in on))


def _json(found: Found) -> dict[str, Any]:
    return {
        "tools": [
            {
                "name": tool.name,
                "kind": tool.kind,
                "description": tool.description,
                "parameters": tool.parameters,
            }
            for tool in found.tools
        ],
        "servers": [
            *({"name": one.name, "state": one.state, "problem": one.problem or None} for one in found.servers),
            *({"name": name, "state": "off", "problem": None} for name in found.off),
        ],
    }


def _row(tool: Tool) -> tuple[str, ...]:
    first = tool.description.strip().partition("\n")[0]
    short = first if len(first) <= LONGEST else f"{first[: LONGEST - 3].rstrip()}..."
    return tool.name, tool.kind, " ".join(_arguments_of(tool)), short


def _arguments_of(tool: Tool) -> Iterator[str]:
    """Yield the names of the arguments, in brackets where they may be left out."""
    required = tool.parameters.get("required", ())
    for name in tool.parameters.get("properties", ()):
        yield name if name in required else f"[{name}]"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml tools",
        description="List the tools of a new session: built-in, of the configuration, and of the MCP servers that are "
        "on, which are started for it. KIND is what permissions go by. For another mode: --set options.mode.default=ID",
    )
    add_configuration(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: `tools` and `servers`")
    return parser
