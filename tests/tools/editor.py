"""An editor at the other end of a socket pair that offers terminals: real processes, and a record of what was asked."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, field

from agentoml.errors import NotFound
from agentoml.wire.client import Client
from agentoml.wire.jsonrpc import Connection, Handlers
from agentoml.wire.stdio import Reader, Writer

Params = dict[str, Any]


@define
class Editor:
    """What the editor has seen; `hold` keeps back the answer to terminal/create until it is set."""

    asked: list[str] = field(factory=list)
    created: list[Params] = field(factory=list)
    terminals: dict[str, asyncio.subprocess.Process] = field(factory=dict)
    outputs: dict[str, bytes] = field(factory=dict)
    creating: asyncio.Event = field(factory=asyncio.Event)
    waiting: asyncio.Event = field(factory=asyncio.Event)
    hold: asyncio.Event | None = None
    released: asyncio.Event = field(factory=asyncio.Event)

    def handlers(self) -> Handlers:
        names = ("create", "output", "wait_for_exit", "kill", "release")
        return Handlers({f"terminal/{name}": getattr(self, name) for name in names})

    async def create(self, params: Params) -> Params:
        self.asked.append("create")
        self.created.append(params)
        self.creating.set()
        if self.hold is not None:
            await self.hold.wait()
        terminal = f"t{len(self.created)}"
        self.terminals[terminal] = await asyncio.create_subprocess_exec(
            params["command"],
            *params["args"],
            cwd=params["cwd"],
            env={**os.environ, **{entry["name"]: entry["value"] for entry in params.get("env", ())}},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        return {"terminalId": terminal}

    def process(self, params: Params) -> asyncio.subprocess.Process:
        if params["terminalId"] not in self.terminals:
            raise NotFound("no such terminal")
        return self.terminals[params["terminalId"]]

    async def wait_for_exit(self, params: Params) -> Params:
        self.asked.append("wait_for_exit")
        self.waiting.set()
        process = self.process(params)
        assert process.stdout is not None
        self.outputs[params["terminalId"]] = await process.stdout.read()
        return status(await process.wait())

    async def output(self, params: Params) -> Params:
        self.asked.append("output")
        self.process(params)
        return {"output": self.outputs.get(params["terminalId"], b"").decode(), "truncated": False}

    async def kill(self, params: Params) -> Params:
        self.asked.append("kill")
        self.process(params).kill()
        return {}

    async def release(self, params: Params) -> Params:
        self.asked.append("release")
        process = self.process(params)
        if process.returncode is None:
            process.kill()
            await process.communicate()
        del self.terminals[params["terminalId"]]
        self.released.set()
        return {}


def status(code: int) -> Params:
    return {"exitCode": code, "signal": None} if code >= 0 else {"exitCode": None, "signal": f"SIG{-code}"}


@asynccontextmanager
async def editor_client(editor: Editor) -> AsyncIterator[Client]:
    """Connect to the editor."""
    ours, theirs = socket.socketpair()
    sides = [Connection(Reader(os.dup(end.fileno())), Writer(os.dup(end.fileno()))) for end in (ours, theirs)]
    ours.close()
    theirs.close()
    serving = [
        asyncio.create_task(side.serve(handlers))
        for side, handlers in zip(sides, (Handlers({}), editor.handlers()), strict=True)
    ]
    try:
        yield Client(sides[0], {"terminal": True}, {"name": "editor"})
    finally:
        for side in sides:
            side.close()
        await asyncio.gather(*serving)
