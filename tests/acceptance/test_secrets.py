"""A marker in each place that a secret may come from shows nowhere: frames, stderr, files, what commands print."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from agent_process import agent_process, choose, start_agentoml
from servers import http_server, openai

SERVER = Path(__file__).parents[1] / "tools" / "tiny_mcp_server.py"
MARKERS = {place: f"marker-of-{place}-7d0c" for place in ("env", "file", "command", "keyring", "server", "helper")}
LINES = 'marker-of-lines-1\nwith "quotes" 7d0c/+'
KINDS = ("env", "file", "command", "keyring")

AGENT = """
schema = 1
[agent]
context_files = ["secret/AGENTS.md"]
[providers.p-env]
adapter = "openai"
base_url = "{url}/env"
api_key = {{ env = "MARKER_ENV" }}
[providers.p-file]
adapter = "openai"
base_url = "{url}/file"
api_key = {{ file = "{folder}/secret/key" }}
[providers.p-command]
adapter = "openai"
base_url = "{url}/command"
api_key = {{ command = ["/bin/sh", "-c", "test -z \\"$MARKER_ENV\\" && cat {folder}/secret/printed"] }}
[providers.p-keyring]
adapter = "openai"
base_url = "{url}/keyring"
api_key = {{ keyring = "acme/jo" }}
{models}
[options.model]
values_from = "models"
[mcp.tiny]
command = ["{python}", "{server}"]
env.TOKEN = {{ env = "MARKER_SERVER" }}
env.DESCRIBED = {{ env = "MARKER_HELPER" }}
env.MANY = {{ file = "{folder}/secret/lines" }}
[tool_kinds]
"mcp:tiny/*" = "read"
"""

KEYRING = """
from keyring.backend import KeyringBackend
class Ours(KeyringBackend):
    priority = 1
    def get_password(self, service, username):
        return {password!r} if (service, username) == ("acme", "jo") else None
    def set_password(self, service, username, password): ...
    def delete_password(self, service, username): ...
"""


def write(folder: Path, url: str) -> Path:
    secret = folder / "secret"
    secret.mkdir()
    (secret / "key").write_text(MARKERS["file"] + "\n", encoding="utf-8")
    (secret / "printed").write_text(MARKERS["command"], encoding="utf-8")
    (secret / "lines").write_text(LINES, encoding="utf-8")
    (secret / "our_keyring.py").write_text(KEYRING.format(password=MARKERS["keyring"]), encoding="utf-8")
    models = "".join(f'[models.m-{kind}]\nprovider = "p-{kind}"\n' for kind in KINDS)
    (secret / "AGENTS.md").write_text(f"The key is {MARKERS['env']}.", encoding="utf-8")
    config = folder / "agent.toml"
    filled = AGENT.format(url=url, folder=folder, models=models, python=sys.executable, server=SERVER)
    config.write_text(filled, encoding="utf-8")
    return config


def environment(folder: Path) -> dict[str, str]:
    homes = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "RUNTIME")}
    return {
        **homes,
        "HOME": str(folder),
        "MARKER_ENV": MARKERS["env"],
        "MARKER_SERVER": MARKERS["server"],
        "MARKER_HELPER": MARKERS["helper"],
        "PYTHON_KEYRING_BACKEND": "our_keyring.Ours",
        "PYTHONPATH": os.pathsep.join((str(folder / "secret"), os.environ.get("PYTHONPATH", ""))),
    }


def refused(request: http_server.Request) -> http_server.Answer:
    """The answer of a provider that repeats the credential it does not like."""
    told = f"no such key: {request.headers['authorization']}"
    return http_server.json_answer({"error": {"message": told}}, 401)


LOOK = "; ".join((
    'echo "inherited: $(env | grep -c marker-of)"',
    "test \"$(id -u)\" = 0 || ! cat /proc/$PPID/environ > /dev/null || echo 'our environment can be read'",
    "tr '\\0' '\\n' < /proc/$PPID/environ | grep marker-of",
    "cat secret/key secret/printed secret/lines secret/our_keyring.py",
))  # fmt: skip


async def test_no_marker_shows_anywhere(tmp_path: Path) -> None:
    pytest.importorskip("keyring")
    looks = openai.calls(
        ("1", "shell", {"command": LOOK}),
        ("2", "read_file", {"path": "secret/lines"}),
        ("3", "mcp__tiny__environment", {}),
        ("4", "search_files", {"pattern": "marker-of"}),
    )
    refusals = [refused] * len(KINDS)
    answers = (*refusals, looks, openai.says("Seen."), openai.calls(("5", "mcp__tiny__crash", {})), openai.says("Oh."))
    asked = {"session/request_permission": choose("allow_once")}
    async with http_server.HttpServer(*answers) as server:
        config, ours = write(tmp_path, server.url), environment(tmp_path)
        async with agent_process(config, answers=asked, environment=ours) as agent:
            session = await agent.new_session(tmp_path)
            for kind in reversed(KINDS):
                await agent.set(session, "model", f"m-{kind}")
                await agent.prompt(session, "hello")
            await agent.prompt(session, "look around")
            await agent.prompt(session, "crash")
            config.write_text(config.read_text(encoding="utf-8") + "[modes.new]\n[broken", encoding="utf-8")
            await agent.until(lambda: any("repaired" in line for line in agent.errors))
    printed = [("check",), ("check", "--format", "json"), ("show",), ("models",), ("test",)]
    printed += [("explain", "session", "--config"), ("explain", "permission", "shell", "env", "--config")]
    commands = [await output(ours, *words, str(config)) for words in printed]

    for request, kind in zip(server.requests, (*reversed(KINDS), *("env",) * 4), strict=True):
        assert request.target.startswith(f"/{kind}/")
        assert request.headers["authorization"] == f"Bearer {MARKERS[kind]}", "each secret goes to its own provider"
    told = server.requests[5].json["messages"]
    results = [message["content"] for message in told if message["role"] == "tool"]
    sent = "\n".join(request.body.decode() for request in server.requests)
    assert "The key is ***." in sent, "a context file is for the model, and the key in it is not"
    assert "It is echo***" in sent, "nor is what a server says of its tools"
    assert "our environment can be read" not in results[0]
    assert "inherited: 0" in results[0], "children see no variable that a secret names"
    assert "***" in results[0] and "***" in results[1] and '"TOKEN": "***"' in results[2]
    assert "MARKER_ENV" not in results[2], "a server sees what its own table declares"

    declared = tmp_path / "secret"
    files = [
        file.read_text(errors="replace")
        for file in tmp_path.rglob("*")
        if file.is_file() and declared not in file.parents
    ]
    seen = "\n".join((*map(str, agent.frames), *agent.errors, sent, *commands, *files))
    assert [marker for marker in (*MARKERS.values(), *LINES.splitlines()) if marker in seen] == []


async def output(environment: dict[str, str], *words: str) -> str:
    process = await start_agentoml(words, environment)
    out, errors = await asyncio.wait_for(process.communicate(), 20)
    return (out + errors).decode()


async def test_a_server_that_leads_elsewhere_is_not_followed_there_with_the_secret(tmp_path: Path) -> None:
    async with http_server.HttpServer() as elsewhere:
        away = http_server.Answer([""], 307, {"Location": f"{elsewhere.url}/mcp"}, framing="length")
        async with http_server.HttpServer(*[away] * 9) as server:
            async with http_server.HttpServer(openai.says("No tools."), away) as provider:
                config = tmp_path / "agent.toml"
                config.write_text(
                    f'schema = 1\n[providers.p]\nadapter = "openai"\nbase_url = "{provider.url}"\n'
                    'api_key = { env = "MARKER_ENV" }\n[models.m]\nprovider = "p"\n[mcp.away]\n'
                    f'url = "{server.url}/mcp"\ntransport = "http"\n'
                    'headers = { x-token = { env = "MARKER_SERVER" } }\n',
                    encoding="utf-8",
                )
                async with agent_process(config, environment=environment(tmp_path)) as agent:
                    session = await agent.new_session(tmp_path)
                    await agent.prompt(session, "hello")
                    await agent.prompt(session, "and again")
    assert server.requests[0].headers["x-token"] == MARKERS["server"]
    assert "a redirect" in agent.said(), "neither is a provider that leads elsewhere"
    assert elsewhere.requests == []


async def test_a_file_that_never_answers_holds_up_nobody_else_and_not_the_end(tmp_path: Path) -> None:
    """A named pipe stands for it: that of a password manager that asks its user, or a disk that is not there."""
    async with http_server.HttpServer(openai.says("Hello.")) as server:
        config = write(tmp_path, server.url)
        pipe = tmp_path / "secret" / "key"
        pipe.unlink()
        os.mkfifo(pipe)
        async with agent_process(config, start=start_agentoml, environment=environment(tmp_path)) as agent:
            session = await agent.new_session(tmp_path)
            await agent.set(session, "model", "m-file")
            params = {"sessionId": session["sessionId"], "prompt": [{"type": "text", "text": "hi"}]}
            waiting = agent.start_request("session/prompt", **params)
            held_open = await asyncio.to_thread(os.open, pipe, os.O_WRONLY)
            other = await agent.new_session(tmp_path)
            await agent.set(other, "model", "m-env")
            assert (await agent.prompt(other, "hi"))["stopReason"] == "end_turn"
        os.close(held_open)
        assert not waiting.done() or (await waiting)["stopReason"] == "cancelled"
