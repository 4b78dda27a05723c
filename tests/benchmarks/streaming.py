"""CPU for a reply of 2,000 chunks, against a bare HTTP reader of the same stream."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from processes import Agent, agent, row

HERE = Path(__file__).parent
CHUNKS, PAUSE = 2000, 0.0005
ROUNDS = 5

CONFIG = """
schema = 1
[providers.loopback]
adapter = "openai"
base_url = "http://127.0.0.1:{port}/v1"
[models.m]
provider = "loopback"
"""


def agent_reply(process: Agent, session_id: str) -> tuple[float, int]:
    before = process.cpu
    process.send("session/prompt", sessionId=session_id, prompt=[{"type": "text", "text": "go"}])
    _, updates = process.answer()
    return process.cpu - before, updates


def reader_reply(process: Agent) -> float:
    before = process.cpu
    process.request("read")
    return process.cpu - before


def main() -> None:
    server = subprocess.Popen(
        [sys.executable, str(HERE / "paced_server.py"), str(CHUNKS), str(PAUSE)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        port = int(server.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "agent.toml")
            config.write_text(CONFIG.format(port=port), encoding="utf-8")
            with (
                agent("-P", "-m", "agentoml", "run", str(config)) as ours,
                agent(str(HERE / "bare_reader.py"), str(port)) as bare,
            ):
                ours.initialize()
                session = ours.request("session/new", cwd=folder, mcpServers=[])["sessionId"]
                first = agent_reply(ours, session)[0], reader_reply(bare)
                rounds = [(agent_reply(ours, session), reader_reply(bare)) for _ in range(ROUNDS)]
                replies, bares = [a[0] for a, _ in rounds], [b for _, b in rounds]
                print(row(f"reply of {CHUNKS} chunks, CPU", replies, bares))
                print(row("the same, first reply of the process, CPU", [first[0]], [first[1]]))
                print(
                    row("whole process until the first reply, CPU", [ours.cpu - sum(replies)], [bare.cpu - sum(bares)])
                )
                print(f"updates sent for {CHUNKS} chunks: {[a[1] for a, _ in rounds]}")
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
