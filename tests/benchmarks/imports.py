"""How long set_config_option takes while mcp and litellm are imported, against the same process before that."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import Agent, agent

HERE = Path(__file__).parent
IDLE = 1000

CONFIG = """
schema = 1
[providers.offline]
adapter = "scripted"
[providers.loopback]
adapter = "litellm/openai"
base_url = "http://127.0.0.1:{port}/v1"
api_key = {{ env = "LOOPBACK_KEY" }}
[models.here]
provider = "offline"
[models.there]
provider = "loopback"
[options.model]
values_from = "models"
[options.persona.values.short]
[options.persona.values.long]
[options.server]
type = "boolean"
on = {{ set = {{ mcp.tiny = true }} }}
[mcp.tiny]
enabled = false
command = ["{python}", "{server}"]
"""


class Session:
    """One session of an agent under measurement."""

    def __init__(self, process: Agent, folder: str) -> None:
        self.process = process
        self.id = process.request("session/new", cwd=folder, mcpServers=[])["sessionId"]

    def set(self, option: str, value: str) -> None:
        self.process.send("session/set_config_option", sessionId=self.id, configId=option, value=value)

    def latency(self, number: int, awaited: int | None = None) -> tuple[float, bool]:
        """Set an option once. Return the seconds, and whether the answer with the id `awaited` came meanwhile."""
        before, came = time.perf_counter(), False
        self.set("persona", ("short", "long")[number % 2])
        for line in self.process.lines():
            answered = json.loads(line).get("id")
            came = came or (awaited is not None and answered == awaited)
            if answered == self.process.sent:
                return time.perf_counter() - before, came
        raise AssertionError

    def while_prompted(self) -> list[float]:
        """Set an option over and over until a prompt is answered."""
        self.process.send("session/prompt", sessionId=self.id, prompt=[{"type": "text", "text": "go"}])
        awaited, taken, came = self.process.sent, [], False
        while not came:
            seconds, came = self.latency(len(taken), awaited)
            taken.append(seconds)
        return taken


def line(what: str, taken: list[float]) -> str:
    ordered = sorted(seconds * 1000 for seconds in taken)
    p99 = ordered[int(len(ordered) * 0.99)]
    figures = f"p50 {statistics.median(ordered):.2f}, p99 {p99:.1f}, max {ordered[-1]:.1f} ms"
    return f"set_config_option {what:<40} {figures} ({len(taken)} times in {sum(taken):.1f} s)"


def main() -> None:
    command = [sys.executable, str(HERE / "paced_server.py"), "1", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        port = int(server.stdout.readline())
        os.environ["LOOPBACK_KEY"] = "unused"
        tiny = HERE.parent / "tools" / "tiny_mcp_server.py"
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "agent.toml")
            config.write_text(CONFIG.format(port=port, python=sys.executable, server=tiny), encoding="utf-8")
            with agent("-P", "-m", "agentoml", "run", str(config)) as ours:
                ours.initialize()
                session = Session(ours, folder)
                print(line("at rest", [session.latency(number)[0] for number in range(IDLE)]))
                session.set("server", "on")
                print(line("while mcp is imported and a server starts", session.while_prompted()))
                session.set("model", "there")
                print(line("while litellm is imported", session.while_prompted()))
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
