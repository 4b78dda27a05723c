"""The `mcp` library's own server on loopback, as http and as sse; its first line on stdout says where."""

from __future__ import annotations

import socket
import sys
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer


async def header(name: str, context: Context[Any]) -> str:
    """Return a header of the request."""
    assert context.headers is not None
    return context.headers[name]


def served() -> Any:
    server = MCPServer("loopback")
    server.tool()(header)
    return server.streamable_http_app() if sys.argv[1] == "http" else server.sse_app()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as listener:
        path = "mcp" if sys.argv[1] == "http" else "sse"
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}/{path}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(served(), log_level="critical")).run([listener])
