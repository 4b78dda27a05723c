"""An agent that is nothing but the wire. What it does is the text of the prompt."""

from __future__ import annotations

import asyncio
import os
import sys

from agentoml.wire import messages, methods, stdio
from agentoml.wire.client import Client
from agentoml.wire.handshake import Handshake, handshake
from agentoml.wire.jsonrpc import Connection, Params
from agentoml.wire.process import exit_on_signals, serve

OFFERED = ("session/new", "session/prompt", "session/cancel")


class TinyAgent:
    """One handler a method."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def new_session(self, params: Params) -> Params:
        return {"sessionId": "s"}

    async def prompt(self, params: Params) -> Params:
        await getattr(self, params["prompt"][0]["text"])()
        return {"stopReason": "end_turn"}

    async def cancel(self, params: Params) -> None:
        pass

    def say(self, text: str) -> None:
        self.client.update("s", messages.agent_message_chunk(text, "m"))

    async def wait(self) -> None:
        self.say("waiting")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            os.write(2, b"cleaned up\n")

    async def stray(self) -> None:
        print("stray print", flush=True)
        os.write(1, b"stray write\n")
        child = await asyncio.create_subprocess_exec("echo", "stray child")
        await child.wait()

    async def flood(self) -> None:
        os.write(2, b"flooding\n")
        while True:
            self.say("x" * 1000)
            await self.client.drain()


async def run(fds: tuple[int, int], hello: Handshake) -> int:
    connection = Connection(*stdio.open_stdio(fds, hello.already_read))
    agent = TinyAgent(Client(connection, hello.capabilities, hello.info))
    handlers = {"session/new": agent.new_session, "session/prompt": agent.prompt, "session/cancel": agent.cancel}
    return await serve(connection, methods.checked(handlers), on_hangup=lambda: print("hung up", file=sys.stderr))


def main() -> int:
    fds = stdio.guard_stdout()
    exit_on_signals()
    info = messages.implementation("tiny", "1")
    result = messages.initialize_result(info, methods.capabilities(OFFERED, prompt={}, mcp={}))
    hello = handshake(fds, lambda _: result)
    return 0 if hello is None else asyncio.run(run(fds, hello))


if __name__ == "__main__":
    sys.exit(main())
