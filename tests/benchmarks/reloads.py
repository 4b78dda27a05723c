"""A saved file -> config_option_update at the client, for all open sessions, beside a bare poll-read-write loop."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from processes import Agent, agent

HERE = Path(__file__).parent

PAUSE_SECONDS = 0.1
"""Between two saves: nobody saves faster."""

AGENT = """schema = 1
[providers.offline]
adapter = "scripted"
[options.model]
values_from = "models"
[catalogs.team]
file = "team.toml"
"""


class Case(NamedTuple):
    """So many sessions are told of so many models, so many times."""

    sessions: int
    models: int
    saves: int


CASES = (
    Case(1, 100, 40),
    Case(20, 400, 100),
    Case(100, 100, 20),
    Case(1000, 100, 5),
    Case(1, 10_000, 5),
    Case(10, 10_000, 3),
)


def write(file: Path, models: int, generation: int) -> None:
    """Save as most programs do: a new file, renamed over the old one. One model has another name each time."""
    names = (f"model {number}" if number else f"generation {generation}" for number in range(models))
    text = "schema = 1\n" + "".join(
        f'[models.m{number}]\nprovider = "offline"\nname = "{name}"\n' for number, name in enumerate(names)
    )
    new = file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def until_told(process: Agent, sessions: int, mark: bytes) -> tuple[float, float, int]:
    """Wait until so many lines with `mark` came; return when the first and the last did, and the size of the last."""
    first, told = 0.0, 0
    for line in process.lines():
        if mark in line:
            told += 1
            first = first or time.perf_counter()
            if told == sessions:
                return first, time.perf_counter(), len(line)
    raise AssertionError


class Measured(NamedTuple):
    """Seconds from each save until the first and the last session was told, CPU seconds a save, bytes of a list."""

    first: list[float]
    last: list[float]
    cpu: float
    size: int


def ours(case: Case, folder: Path) -> Measured:
    (folder / "agent.toml").write_text(AGENT, encoding="utf-8")
    write(folder / "team.toml", case.models, 0)
    with agent("-P", "-m", "agentoml", "run", str(folder / "agent.toml")) as process:
        process.initialize()
        for _ in range(case.sessions):
            process.request("session/new", cwd=str(folder), mcpServers=[])
        first: list[float] = []
        last: list[float] = []
        size, cpu = 0, 0.0
        for generation in range(1, case.saves + 2):
            time.sleep(PAUSE_SECONDS)
            write(folder / "team.toml", case.models, generation)
            saved = time.perf_counter()
            one, all_, size = until_told(process, case.sessions, f'"generation {generation}"'.encode())
            if generation == 1:  # it warms up
                cpu = process.cpu
            else:
                first.append(one - saved)
                last.append(all_ - saved)
        return Measured(first, last, (process.cpu - cpu) / case.saves, size)


def theirs(case: Case, folder: Path, size: int) -> list[float]:
    write(folder / "team.toml", case.models, 0)
    arguments = (str(HERE / "poll_read_write.py"), str(folder / "team.toml"), str(case.sessions), str(size))
    with agent(*arguments) as process:
        process.request("ready")
        last = []
        for generation in range(1, case.saves + 2):
            time.sleep(PAUSE_SECONDS)
            write(folder / "team.toml", case.models, generation)
            saved = time.perf_counter()
            last.append(until_told(process, case.sessions, b"config_option_update")[1] - saved)
        return last[1:]


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def row(case: Case) -> str:
    with tempfile.TemporaryDirectory() as name:
        measured = ours(case, Path(name))
        bare = theirs(case, Path(name), measured.size)
    told = f"saved -> told, {case.sessions} sessions, {case.models} models ({measured.size / 1000:.0f} kB each)"
    figures = (statistics.median(measured.last), percentile(measured.last, 0.99), measured.cpu, statistics.median(bare))
    p50, p99, cpu, bare_p50 = (1000 * figure for figure in figures)
    figures_beside = f"p99 {p99:.1f} ms, CPU a save {cpu:.1f} ms"
    return f"{told:<58} {p50:9.1f} {bare_p50:9.1f} ms   ratio {p50 / bare_p50:5.0f}  {figures_beside}"


def main() -> None:
    for case in CASES:
        print(row(case), flush=True)


if __name__ == "__main__":
    main()
