"""A small agent for tests of the client: what it does is the first word of the prompt."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agentoml.errors import InternalError, InvalidParams
from agentoml.wire import messages
from agentoml.wire.jsonrpc import Connection, Handlers
from agentoml.wire.stdio import guard_stdout, open_stdio

SESSION = "s1"
Params = dict[str, Any]


class FakeAgent:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.mode, self.model, self.fast = "code", "sonnet", False
        self.models = ["sonnet", "opus"]
        self.cancelled = asyncio.Event()

    def options(self) -> list[dict[str, Any]]:
        modes = [messages.select_value("plan", "Plan", "Changes nothing"), messages.select_value("code", "Code")]
        models = messages.select_group("acme", "Acme", [messages.select_value(key, key.title()) for key in self.models])
        return [
            messages.select_option("mode", "Mode", self.mode, modes, category="mode"),
            messages.select_option("model", "Model", self.model, [models], category="model"),
            messages.boolean_option("fast", "Fast", self.fast),
        ]

    def say(self, update: dict[str, Any]) -> None:
        self.connection.notify("session/update", {"sessionId": SESSION, "update": update})

    async def initialize(self, params: Params) -> Params:
        if os.environ.get("FAKE_DIES"):
            print("agent.toml:3:1: error: broken", file=sys.stderr, flush=True)
            os._exit(2)
        return messages.initialize_result(messages.implementation("fake", "1.0", "Fake"), {})

    async def new(self, params: Params) -> Params:
        if os.environ.get("FAKE_INVALID"):
            raise InternalError("the configuration is not valid", reason="no_valid_configuration", problems=["x"])
        assert Path(params["cwd"]).is_absolute()
        review = {"name": "review", "description": "Reviews", "input": {"hint": "what"}}
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: self.say({"sessionUpdate": "available_commands_update", "availableCommands": [review]}))
        return {"sessionId": SESSION, "configOptions": self.options()}

    async def set_option(self, params: Params) -> Params:
        name, value = params["configId"], params["value"]
        if name == "model" and value not in self.models:
            raise InvalidParams("no such value", configId="model", value=value, available=self.models)
        if isinstance(value, bool):
            assert params["type"] == "boolean"
        setattr(self, name, value)
        return {"configOptions": self.options()}

    async def prompt(self, params: Params) -> Params:
        text = params["prompt"][0]["text"]
        play: Callable[[str], Awaitable[Params | None]] = getattr(self, f"play_{text.split()[0].strip('/')}")
        return await play(text) or {"stopReason": "end_turn"}

    async def cancel(self, params: Params) -> None:
        self.cancelled.set()

    async def play_hello(self, text: str) -> None:
        self.say(messages.agent_thought_chunk("Let me think", "t1"))
        self.say(messages.agent_message_chunk("# Hello\n\nI am *fake*.\n\n- one\n", "m1"))
        self.say(messages.agent_message_chunk("- two", "m1"))
        self.say(messages.usage_update(1200, 200_000, 0.5))

    async def play_review(self, text: str) -> None:
        self.say(messages.agent_message_chunk(f"reviewing as asked: {text}", "m1"))

    async def play_edit(self, text: str) -> None:
        path = str(Path.cwd() / "notes.md")
        diff = messages.diff_item(path, "one\ntwo\n", "one\n2\n")
        self.say(messages.tool_call("c1", "Edit notes.md", kind="edit", status="pending", locations=[{"path": path}]))
        options = [
            messages.permission_option("once", "Allow once", "allow_once"),
            messages.permission_option("always", "Always allow", "allow_always"),
            messages.permission_option("no", "Reject", "reject_once"),
        ]
        call = {"toolCallId": "c1", "title": "Edit notes.md", "kind": "edit", "content": [diff]}
        asked = {"sessionId": SESSION, "toolCall": call, "options": options}
        answer = await self.connection.request("session/request_permission", asked)
        outcome = answer["outcome"].get("optionId", answer["outcome"]["outcome"])
        status = "completed" if outcome in ("once", "always") else "failed"
        self.say(messages.tool_call_update("c1", status=status, content=[diff]))
        self.say(messages.agent_message_chunk(f"answered: {outcome}", "m2"))

    async def play_plan(self, text: str) -> None:
        entry = {"content": "Look around", "priority": "high", "status": "in_progress"}
        self.say({"sessionUpdate": "plan", "entries": [entry]})
        self.say({"sessionUpdate": "notice", "severity": "warning", "title": "The model is gone"})
        self.say({"sessionUpdate": "of_the_future"})

    async def play_slow(self, text: str) -> Params:
        self.say(messages.agent_message_chunk("working", "m1"))
        await self.cancelled.wait()
        return {"stopReason": "cancelled"}

    async def play_die(self, text: str) -> None:
        os._exit(3)

    async def play_fail(self, text: str) -> Params:
        self.say(messages.agent_message_chunk("The provider is down.", "m1"))
        return {"stopReason": "end_turn", "_meta": {"agentoml": {"error": "overloaded"}}}

    async def play_refuse(self, text: str) -> None:
        raise InvalidParams("no images", path="$.prompt[0]", reason="not_supported", available=["text"])

    async def play_change(self, text: str) -> None:
        self.models, self.model = [*self.models, "haiku"], "opus"
        self.say(messages.config_option_update(self.options()))

    async def play_forge(self, text: str) -> None:
        self.say(messages.agent_message_chunk("\x1b[2Jcleared?", "m1"))
        self.say(messages.tool_call("c1", "Look\r\x1b[A\n? forged", status="completed"))

    async def play_log(self, text: str) -> None:
        print("a line for the log", file=sys.stderr, flush=True)


async def main() -> None:
    connection = Connection(*open_stdio(guard_stdout()))
    agent = FakeAgent(connection)
    requests = {
        "initialize": agent.initialize,
        "session/new": agent.new,
        "session/set_config_option": agent.set_option,
        "session/prompt": agent.prompt,
    }
    await connection.serve(Handlers(requests, {"session/cancel": agent.cancel}))


if __name__ == "__main__":
    asyncio.run(main())
