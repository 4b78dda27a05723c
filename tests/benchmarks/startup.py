"""CPU and time from spawn to the answer to initialize, against a stdlib-only asyncio agent doing the same."""

from __future__ import annotations

import time
from pathlib import Path

from processes import agent, row

HERE = Path(__file__).parent
ROUNDS = 15


def measure(*arguments: str) -> tuple[float, float]:
    started = time.perf_counter()
    with agent(*arguments) as process:
        process.initialize()
        return process.cpu, time.perf_counter() - started


def measure_session(*arguments: str) -> float:
    with agent(*arguments) as process:
        process.initialize()
        process.request("session/new", cwd=str(HERE), mcpServers=[])
        return process.cpu


def main() -> None:
    ours = ("-P", "-m", "agentoml", "run")
    theirs = (str(HERE / "stdlib_agent.py"),)
    pairs = [(measure(*ours), measure(*theirs)) for _ in range(ROUNDS)]
    print(row("spawn -> initialize, CPU", [a[0] for a, _ in pairs], [b[0] for _, b in pairs]))
    print(row("spawn -> initialize, wall", [a[1] for a, _ in pairs], [b[1] for _, b in pairs]))
    sessions = [measure_session(*ours) for _ in range(5)]
    print(row("spawn -> session/new (beside the same initialize), CPU", sessions, [b[0] for _, b in pairs][:5]))


if __name__ == "__main__":
    main()
