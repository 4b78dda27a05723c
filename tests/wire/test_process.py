"""A real agent process: signals, stray output, files as stdio, clients that go away."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

import agentoml

AGENT = [sys.executable, str(Path(__file__).with_name("tiny_agent.py"))]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(agentoml.__file__).parents[1])}
SECONDS = 20

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
NEW = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
CANCELLED = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32800, "message": "Request cancelled"}}

Agent = subprocess.Popen[bytes]


def prompt(text: str, id_: int = 2) -> dict[str, Any]:
    params = {"sessionId": "s", "prompt": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": id_, "method": "session/prompt", "params": params}


def lines(*frames: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)


@contextlib.contextmanager
def agent(stdin: int | IO[bytes] = subprocess.PIPE, stdout: int | IO[bytes] = subprocess.PIPE) -> Iterator[Agent]:
    with subprocess.Popen(AGENT, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        try:
            yield process
        finally:
            process.kill()


def send(process: Agent, *frames: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(lines(*frames))
    process.stdin.flush()


def receive(process: Agent) -> dict[str, Any]:
    assert process.stdout is not None
    frame: dict[str, Any] = json.loads(process.stdout.readline())
    return frame


def rest(process: Agent) -> tuple[list[dict[str, Any]], str, int]:
    """Close stdin and return the frames, stderr and exit code that are left."""
    out, err = process.communicate(timeout=SECONDS)
    return [json.loads(line) for line in out.splitlines()], err.decode(), process.returncode


def waiting(process: Agent) -> None:
    """Come to where a prompt waits."""
    send(process, INITIALIZE, NEW, prompt("wait"))
    assert [receive(process).get("id") for _ in range(3)] == [0, 1, None]


def test_initialize_and_what_follows_may_come_in_one_write_and_the_end_cancels_what_runs() -> None:
    with agent() as process:
        waiting(process)
        frames, err, code = rest(process)
    assert frames == [CANCELLED]
    assert err == "cleaned up\n"
    assert code == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_agent_in_order(number: int, code: int) -> None:
    with agent() as process:
        waiting(process)
        while True:  # a signal a millisecond, to the very end
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert process.wait(0.001) == code
                break
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.read()) == CANCELLED
        assert process.stderr.read() == b"cleaned up\n"


def test_a_hangup_is_handed_on_and_ends_nothing() -> None:
    with agent() as process:
        send(process, NEW)
        assert receive(process)["error"]["data"] == {"reason": "not_initialized"}
        process.send_signal(signal.SIGHUP)
        waiting(process)
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        assert process.stderr.readline() == b"hung up\n"
        frames, err, code = rest(process)
    assert (frames, err, code) == ([CANCELLED], "cleaned up\n", 0)


def test_a_signal_before_initialize_ends_it_too() -> None:
    with agent() as process:
        send(process, NEW)
        assert receive(process)["error"]["data"] == {"reason": "not_initialized"}
        process.terminate()
        assert process.wait(SECONDS) == 143
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_nothing_but_messages_ever_reaches_stdout() -> None:
    with agent() as process:
        send(process, INITIALIZE, NEW, prompt("stray"))
        assert [receive(process)["id"] for _ in range(3)] == [0, 1, 2]
        frames, err, code = rest(process)
    assert (frames, code) == ([], 0)
    assert sorted(line.strip() for line in err.splitlines()) == ["stray child", "stray print", "stray write"]


def test_files_serve_as_stdin_and_stdout(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(lines(INITIALIZE, NEW))
    with (
        (tmp_path / "in").open("rb") as stdin,
        (tmp_path / "out").open("wb") as stdout,
        agent(stdin, stdout) as process,
    ):
        assert process.wait(SECONDS) == 0
    frames = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert [frame["id"] for frame in frames] == [0, 1]
    assert all("result" in frame for frame in frames)


def test_dev_null_is_the_end_at_once() -> None:
    with agent(subprocess.DEVNULL, subprocess.DEVNULL) as process:
        assert process.wait(SECONDS) == 0


def test_a_client_that_closes_stdout_ends_it() -> None:
    with agent() as process:
        waiting(process)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b"cleaned up\n"


def test_a_client_that_stops_reading_and_closes_stdin_does_not_keep_it() -> None:
    with agent() as process:
        send(process, INITIALIZE, NEW, prompt("flood"))
        assert process.stderr is not None
        assert process.stdin is not None
        assert process.stderr.readline() == b"flooding\n"
        process.stdin.close()
        assert process.wait(SECONDS) == 0


def test_a_line_of_more_than_64_mebibytes_is_skipped() -> None:
    with agent() as process:
        send(process, INITIALIZE)
        assert receive(process)["id"] == 0
        assert process.stdin is not None
        for _ in range(65):
            process.stdin.write(b" " * (1 << 20))
        send(process, NEW)
        send(process, NEW | {"id": "next"})
        error = receive(process)["error"]
        assert (error["code"], error["data"]["reason"]) == (-32600, "too_long")
        assert receive(process)["id"] == "next"
