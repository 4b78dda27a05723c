"""Plays a case through a real `agentoml run`: options, refusals and verdicts as an ACP client meets them.

The models of the case are asked at an endpoint of ours, so what is in force is what really reaches a provider:
instructions, tools, parameters. A turn stays open as long as the endpoint holds its answer back. Nothing runs: files
and terminals are the client's, who refuses, and there is no program on the PATH.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from attrs import define, evolve, frozen

from agent_process import EVERYTHING, AgentProcess, Frame, RequestFailed, Start, agent_process, offered, shown
from cases_runner import HOME, Case, NotAccepted
from servers import openai
from servers.http_server import Answer, HttpServer, Request, Step

MISSING_KEY = "KEY_THAT_NOBODY_HAS"
OF_THE_ADAPTER = ("model", "messages", "stream", "stream_options", "tools", "max_completion_tokens")
DENIED = "Denied by the permission rules"
NO_SUCH_TOOL = "look"
"""Called in a running turn to have the model asked once more."""


@frozen
class Held:
    """A request whose answer is held back until it is `let_go`."""

    body: Mapping[str, Any]
    _steps: list[Step]
    _gate: asyncio.Event

    def let_go(self, answer: Answer) -> None:
        self._steps.extend(answer.steps)
        self._gate.set()


class Endpoint(HttpServer):
    """A model endpoint whose every answer is given by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.held: asyncio.Queue[Held] = asyncio.Queue()

    def answer_to(self, request: Request) -> Answer:
        steps: list[Step] = []
        gate = asyncio.Event()
        self.held.put_nowait(Held(request.json, steps, gate))
        return Answer(steps, before=(gate,))


@define
class ProcessDriver:
    """The client of one session. `model` is the last request, unanswered while a turn runs."""

    case: Case
    agent: AgentProcess
    endpoint: Endpoint
    session: Frame
    model: Held | None = None
    _turn: asyncio.Future[Frame] | None = None
    _looks_only: bool = False
    _stale: bool = False

    # ------------------------------------------------------------------------------------------- what is done

    async def set(self, option: str, value: str | bool) -> None:
        await self._stop_looking()
        self._stale = True
        try:
            await self.agent.set(self.session, option, value)
        except RequestFailed as refused:
            raise NotAccepted(str(refused)) from None

    async def command(self, name: str) -> None:
        await self._stop_looking()
        if name not in self._config().get("commands", {}):
            raise NotAccepted(f"/{name} is a message like any other")
        await self._start_turn(f"/{name}")

    async def end_turn(self) -> None:
        assert self._turn is not None and self.model is not None
        self.model.let_go(openai.says("Done."))
        answer = await self._turn
        assert answer["stopReason"] == "end_turn"
        self._turn = self.model = None

    async def wait(self, seconds: float) -> None:
        raise NotImplementedError("a real agent's time can't be turned on")

    # ---------------------------------------------------------------------------------------- what is seen

    async def shown(self) -> Mapping[str, str | bool]:
        return shown(await self._options())

    async def listed(self, option: str) -> Sequence[str]:
        return next((offered(one) for one in await self._options() if one["id"] == option), [])

    async def profile(self, key: str) -> Any:
        if key != "model":
            return None
        body = (await self._look()).body
        models = self._config()["models"]
        keys = [name for name, said in models.items() if said.get("id", name) == body["model"]]
        return keys[0] if len(keys) == 1 else None

    async def request(self) -> Mapping[str, Any]:
        body = (await self._look()).body
        return {name: value for name, value in body.items() if name not in OF_THE_ADAPTER}

    async def instructions(self) -> Sequence[str]:
        messages = (await self._look()).body["messages"]
        *paragraphs, directory = messages[0]["content"].split("\n\n")
        assert messages[0]["role"] == "system" and directory.startswith("Working directory")
        return [text for text in paragraphs if text not in _every("instructions", self._config())]

    async def shows_tool(self, name: str) -> bool | None:
        return None if ":" in name else name in _tools((await self._look()).body)

    async def verdict(self, call: Mapping[str, Any]) -> tuple[str, ...] | None:
        held = await self._look()
        tool = _tools(held.body).get(call["tool"])
        if tool is None:
            return None
        before = len(self.agent.frames)
        await self._let_call(call["tool"], {**_required(tool), **call.get("args", {})})
        return _verdict(self.agent.frames[before:])

    # ------------------------------------------------------------------------------------------------ inside

    async def _options(self) -> list[Frame]:
        """Return what a client shows that does nothing but replace its list by each new one."""
        await self._everything_read()
        for frame in reversed(self.agent.frames):
            body = frame.get("result") or frame.get("params", {}).get("update", {})
            if "configOptions" in body:
                found: list[Frame] = body["configOptions"]
                return found
        return []

    async def _everything_read(self) -> None:
        """Wait until all that the agent has said so far is read."""
        try:
            await self.agent.request("_nothing")
        except RequestFailed as refused:
            assert refused.code == -32601

    async def _look(self) -> Held:
        """Return a request as the model would get it now."""
        if self._turn is None:
            await self._start_turn("look")
            self._looks_only = True
        elif self._stale:
            await self._let_call(NO_SUCH_TOOL, {})
        assert self.model is not None
        return self.model

    async def _stop_looking(self) -> None:
        if self._looks_only:
            self._looks_only = False
            await self.end_turn()

    async def _start_turn(self, words: str) -> None:
        prompt = [{"type": "text", "text": words}]
        turn = self.agent.start_request("session/prompt", sessionId=self.session["sessionId"], prompt=prompt)
        asked = asyncio.ensure_future(self.endpoint.held.get())
        await asyncio.wait((turn, asked), timeout=20, return_when=asyncio.FIRST_COMPLETED)
        self._stale = False
        if asked.done():
            self._turn, self.model = turn, asked.result()
            return
        asked.cancel()
        try:
            await asyncio.wait_for(turn, 1)  # a command without a prompt starts no turn
        except RequestFailed as refused:
            raise NotAccepted(str(refused)) from None

    async def _let_call(self, tool: str, args: Mapping[str, Any]) -> None:
        """Have the model call a tool, and wait until it is told the result."""
        assert self.model is not None
        self.model.let_go(openai.calls(("call", tool, dict(args))))
        self.model = await asyncio.wait_for(self.endpoint.held.get(), 20)
        self._stale = False
        await self._everything_read()

    def _config(self) -> dict[str, Any]:
        return tomllib.loads(self.case.agent.read_text(encoding="utf-8"))


def _every(key: str, table: Any) -> Sequence[str]:
    if not isinstance(table, Mapping):
        return []
    inner = [text for name, value in table.items() if name != key for text in _every(key, value)]
    return [*inner, table[key]] if isinstance(table.get(key), str) else inner


def _tools(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {tool["function"]["name"]: tool["function"] for tool in body.get("tools", ())}


def _required(tool: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments that a call can't go without, each its own name."""
    parameters = tool["parameters"]
    return {name: name for name in parameters.get("required", ()) if parameters["properties"][name]["type"] == "string"}


def _verdict(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Return what the verdict on the one call may be that these frames are about.

    Where the client is asked and no "always" is offered, there may be nothing that can be remembered.
    """
    for frame in frames:
        if frame.get("method") == "session/request_permission":
            offers_always = any(option["kind"] == "allow_always" for option in frame["params"]["options"])
            return ("ask",) if offers_always else ("ask", "always_ask")
        update = frame.get("params", {}).get("update", {})
        if update.get("status") == "in_progress":
            return ("allow",)
        if update.get("status") == "failed":
            told = update["content"][0]["content"]["text"]
            assert DENIED in told, told
            return ("deny",)
    raise AssertionError(f"nothing became of the call: {frames}")


# ------------------------------------------------------------------------------------------------- the world


NOT_TRUSTED = """schema = 1
[agent]
auto_answers = ["everything"]
"""
"""A configuration that a project brings along, which nobody agrees to."""


@asynccontextmanager
async def running(case: Case, folder: Path, start: Start) -> AsyncIterator[ProcessDriver]:
    """Start an agent in the world of a case, which is moved into `folder`, and open a session."""
    case = moved(case, folder)
    home = folder / HOME.lstrip("/")
    async with Endpoint() as endpoint:
        config = _beside(case, f"{endpoint.url}/v1")
        capabilities = {**EVERYTHING, "terminal": True}
        if not case.client["boolean"]:
            del capabilities["session"]
        answers = {
            "session/request_permission": lambda _: {"outcome": {"outcome": "selected", "optionId": "reject_once"}},
            "fs/read_text_file": lambda _: {"content": "old_text\n"},
            "fs/write_text_file": lambda _: {},
        }
        nowhere = "http://127.0.0.1:9"
        environment = {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_STATE_HOME": str(home / "state"),
            "PATH": str(home / "bin"),
            "http_proxy": nowhere,
            "https_proxy": nowhere,
            "no_proxy": "127.0.0.1",
        }
        world = {"answers": answers, "environment": environment, "start": start}
        async with agent_process(config, initialize=False, **world) as agent:
            await agent.initialize(capabilities, case.client.get("name"))
            driver = ProcessDriver(case, agent, endpoint, await agent.new_session(folder / "home/u/proj"))
            yield driver
            agent.process.stdin.close()  # a turn that still runs ends with it


def moved(case: Case, folder: Path) -> Case:
    """Return a case in a home of its own, where its files are."""

    def here(text: str) -> str:
        return re.sub(rf"{HOME}|/tmp\b", lambda path: f"{folder}{path[0]}", text)

    project = folder / HOME.lstrip("/") / "proj"
    for name in ("", *case.files):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8") if name else path.mkdir(exist_ok=True)
    if not case.trusted:
        (project / ".agentoml").mkdir()
        (project / ".agentoml/agent.toml").write_text(NOT_TRUSTED, encoding="utf-8")
    agent = folder / "agent.toml"
    agent.write_text(here(case.agent.read_text(encoding="utf-8")), encoding="utf-8")
    calls = json.loads(here(json.dumps(case.calls)))
    return evolve(case, agent=agent, calls=calls)


def _beside(case: Case, url: str) -> Path:
    """Return a configuration that extends the case's and asks its models at an endpoint of ours."""
    lines = ["schema = 1", f'extends = ["./{case.agent.name}"]']
    for name in tomllib.loads(case.agent.read_text(encoding="utf-8"))["providers"]:
        lines += [f"[providers.{json.dumps(name)}]", 'adapter = "openai"', f'base_url = "{url}"']
        if not (case.credentials is True or (case.credentials and name in case.credentials)):
            lines.append(f'api_key = {{ env = "{MISSING_KEY}" }}')
    config = case.agent.with_name("process.toml")
    config.write_text("\n".join(lines), encoding="utf-8")
    return config
