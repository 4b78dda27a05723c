"""session/set_config_option beside a ready-made answer of the same size; resolve; what an idle session weighs."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from processes import Agent, agent

HERE = Path(__file__).parent
PICKS = 1000
IDLE = 1000

OPTIONS = """
[modes.plan]
name = "Plan"
set = { permissions = "no-changes" }
[modes.code]
name = "Code"
[modes.yolo]
name = "Yolo"
set = { auto_answers.add = ["everything"] }
[options.model]
category = "model"
values_from = "models"
[options.level]
category = "thought_level"
values_from = "model.reasoning"
[options.fast]
type = "boolean"
on = { set = { params = { service_tier = "priority" } } }
[options.persona]
values.none = {}
values.concise = { set = { instructions_append = "Be brief." } }
values.teacher = { set = { instructions_append = "Explain." } }
values.reviewer = { set = { instructions_append = "Look for what is wrong." } }
values.architect = { set = { instructions_append = "Look at the whole.", limits.turn = { tool_calls = 50 } } }
values.tester = { set = { permissions = "no-changes" } }
values.writer = { set = { params = { temperature = 0.9 } } }
values.auditor = { set = { instructions_append = "Name a rule for each finding." } }
"""


def config(models: int) -> str:
    head = 'schema = 1\n[providers.offline]\nadapter = "scripted"\n'
    return (
        head
        + OPTIONS
        + "".join(
            f'[models."vendor/model-{number}"]\nprovider = "offline"\nname = "Model {number}"\n'
            'reasoning = { values = ["low", "medium", "high"], default = "low" }\n'
            for number in range(models)
        )
    )


Pick = tuple[str, str]


def two_in_turn(models: int) -> Iterator[Pick]:
    """Picks whose outcome was worked out before."""
    while True:
        yield "model", "vendor/model-1"
        yield "model", "vendor/model-0"


def never_the_same(models: int) -> Iterator[Pick]:
    """Picks that each make a combination which no session had before: every option's values are gone through to and
    fro, those of the later ones each time that the earlier ones are through.
    """
    values = {
        "model": [f"vendor/model-{number}" for number in range(models)],
        "level": ["low", "medium", "high"],
        "fast": ["off", "on"],
        "persona": ["none", "concise", "teacher", "reviewer", "architect", "tester", "writer", "auditor"],
        "mode": ["plan", "code", "yolo"],
    }
    at, step = dict.fromkeys(values, 0), dict.fromkeys(values, 1)
    while True:
        for option, ids in values.items():
            if 0 <= at[option] + step[option] < len(ids):
                at[option] += step[option]
                yield option, ids[at[option]]
                break
            step[option] = -step[option]
        else:
            return


class Case(NamedTuple):
    name: str
    models: int
    sessions: int
    picks: Callable[[int], Iterator[Pick]]


CASES = (
    Case("8 models, known before", 8, 1, two_in_turn),
    Case("8 models, a new combination each time", 8, 1, never_the_same),
    Case("500 models, known before", 500, 1, two_in_turn),
    Case("500 models, a new combination each time", 500, 1, never_the_same),
    Case("500 models, 100 sessions in turn, known before", 500, 100, two_in_turn),
)


@contextmanager
def opened(models: int, folder: Path) -> Iterator[Agent]:
    file = folder / "agent.toml"
    file.write_text(config(models), encoding="utf-8")
    with agent("-P", "-m", "agentoml", "run", str(file)) as process:
        process.initialize()
        yield process


def new_session(process: Agent, folder: Path) -> dict[str, Any]:
    return process.request("session/new", cwd=str(folder), mcpServers=[])


def seconds(process: Agent, method: str, **params: Any) -> float:
    """How long a request takes; its answer is not read, for that costs both the same."""
    started = time.perf_counter()
    process.send(method, **params)
    ours = b'"id":%d,' % process.sent
    for line in process.lines():
        if ours in line[:60]:
            return time.perf_counter() - started
    raise AssertionError


def measure(case: Case, folder: Path) -> tuple[list[float], list[float], int]:
    """Seconds of each pick, of each ready-made answer between them, and the bytes of an answer."""
    payload = folder / "payload.json"
    with opened(case.models, folder) as process:
        sessions = [new_session(process, folder)["sessionId"] for _ in range(case.sessions)]
        answer = process.request(
            "session/set_config_option", sessionId=sessions[0], configId="model", value="vendor/model-1"
        )
        payload.write_text(json.dumps(answer, separators=(",", ":")), encoding="utf-8")
        with agent(str(HERE / "ready_made.py"), str(payload)) as ready:
            picks = case.picks(case.models)
            ours, theirs = [], []
            for number in range(PICKS + 50):
                option, value = next(picks)
                for session in sessions if number == 0 else (sessions[number % len(sessions)],):
                    asked = {"sessionId": session, "configId": option, "value": value}
                    took = seconds(process, "session/set_config_option", **asked)
                beside = seconds(ready, "session/set_config_option", **asked)
                if number >= 50:  # both are warm
                    ours.append(took)
                    theirs.append(beside)
    return ours, theirs, payload.stat().st_size


def resident(process: Agent) -> int:
    pages = Path(f"/proc/{process.process.pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


def weigh(models: int, folder: Path) -> float:
    """Bytes of one idle session among many."""
    with opened(models, folder) as process:
        for _ in range(100):
            new_session(process, folder)
        before = resident(process)
        for _ in range(IDLE):
            new_session(process, folder)
        return (resident(process) - before) / IDLE


def resolving(models: int, folder: Path) -> tuple[float, float, float]:
    """Seconds of resolve for a combination never seen, for a known one, and of serialising the list it renders."""
    from agentoml.session.updates import ConfigOptions
    from agentoml.snapshot.build import build
    from agentoml.snapshot.resolve import ClientFacts, resolve
    from agentoml.snapshot.selections import Selections, pick

    file = folder / "agent.toml"
    file.write_text(config(models), encoding="utf-8")
    snapshot = build(file).snapshot
    assert snapshot is not None
    client, selections, picks = ClientFacts(booleans=False), Selections(), never_the_same(models)
    cold, warm, serialised = [], [], []
    for _ in range(200):
        selections = pick(snapshot, client, selections, *next(picks))
        times = [time.perf_counter()]
        resolved = resolve(snapshot, client, selections)
        times.append(time.perf_counter())
        resolve(snapshot, client, selections)
        times.append(time.perf_counter())
        options = json.loads(ConfigOptions().of(resolved).json)
        times.append(time.perf_counter())
        json.dumps(options)
        times.append(time.perf_counter())
        cold.append(times[1] - times[0])
        warm.append(times[2] - times[1])
        serialised.append(times[4] - times[3])
    return statistics.median(cold), statistics.median(warm), statistics.median(serialised)


def percentiles(took: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(took, n=100)
    return cuts[49] * 1000, cuts[98] * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"set_config_option, {PICKS} times, beside a ready-made answer of the same size: p50, p99 of each, in ms")
        for case in CASES:
            ours, theirs, size = measure(case, folder)
            (a, b), (c, d) = percentiles(ours), percentiles(theirs)
            print(
                f"{case.name:<48} {size / 1000:6.1f} kB  {a:6.2f} {b:6.2f}  beside {c:6.2f} {d:6.2f}"
                f"  ratio {a / c:5.2f} {b / d:5.2f}"
            )
        for models in (8, 500):
            new, known, dumped = (each * 1e6 for each in resolving(models, folder))
            print(
                f"resolve, {models} models: {new:.0f} us for a new combination, {known:.1f} us for a known one, beside"
                f" {dumped:.0f} us of json.dumps of its list: ratio {new / dumped:.2f}"
            )
        for models in (8, 500):
            print(f"memory of an idle session, {models} models: {weigh(models, folder) / 1000:.1f} kB")


if __name__ == "__main__":
    main()
