"""An MCP server on stdio in plain JSON. Arguments: what is odd about it, and a directory for notes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

ODD = sys.argv[1] if len(sys.argv) > 1 else ""
NOTES = Path(sys.argv[2]) if len(sys.argv) > 2 else Path()
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

tools = ["echo", "refuse", "break", "picture", "wait", "crash", "grow", "spawn", "environment", "list_roots"]


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(name: str, text: str = "") -> None:
    """Leave a note, whole or not at all, for a test that waits for it on a named pipe or reads it later."""
    (NOTES / name).write_text(text)


def listed(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    description = f"It is {name}{os.environ.get('DESCRIBED', '')}"
    return {"name": name, "description": description, "inputSchema": schema, "annotations": {"readOnlyHint": True}}


def call(id_: Any, name: str, args: dict[str, Any]) -> None:
    if name == "crash":
        sys.stderr.write(f"crashed with {os.environ.get('TOKEN')}\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "wait":
        note("waiting", str(id_))
        return
    if name == "break":
        send({"id": id_, "error": {"code": -32602, "message": "not like this"}})
        return
    if name == "list_roots":
        asked.append(id_)
        send({"id": "roots", "method": "roots/list"})
        return
    if name == "grow":
        tools.append("grown")
        send({"method": "notifications/tools/list_changed"})
    if name == "spawn":
        child = subprocess.Popen(["sleep", "300"])
        args = {"text": str(child.pid)}
    if name == "environment":
        args = {"text": json.dumps(dict(os.environ))}
    content: list[dict[str, Any]] = [{"type": "text", "text": args.get("text", "")}]
    if name == "picture":
        content.append({"type": "image", "data": PIXEL, "mimeType": "image/png"})
    send({"id": id_, "result": {"content": content, "isError": name == "refuse"}})


asked: list[Any] = []


def answer(message: dict[str, Any]) -> None:
    method, id_ = message.get("method"), message.get("id")
    if method == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "tiny", "version": "1"},
        }
        send({"id": id_, "result": result})
    elif method == "tools/list" and ODD == "forgetful" and "grown" in tools:
        note("listing")
    elif method == "tools/list":
        send({"id": id_, "result": {"tools": [listed(name) for name in tools]}})
    elif method == "tools/call":
        call(id_, message["params"]["name"], message["params"].get("arguments") or {})
    elif method == "notifications/cancelled":
        note("cancelled", str(message["params"]["requestId"]))
    elif message.get("id") == "roots":
        text = message["result"]["roots"][0]["uri"]
        send({"id": asked.pop(), "result": {"content": [{"type": "text", "text": text}]}})


def main() -> None:
    if ODD == "dies":
        sys.stderr.write("Traceback: no token\nplease set TOKEN\n")
        sys.exit(1)
    if ODD == "chatty":
        sys.stdout.write("Welcome!\n\n{}\n")
    if ODD == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note(f"pid-{os.getpid()}")
    for line in sys.stdin:
        if ODD == "refusing" and "id" in json.loads(line):
            send({"id": json.loads(line)["id"], "error": {"code": -32601, "message": "never heard of it"}})
        elif ODD != "silent":
            answer(json.loads(line))
    if ODD == "stubborn":
        signal.pause()


main()
