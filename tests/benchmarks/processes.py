"""Processes under measurement: started, spoken to line by line, their CPU read from the kernel."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def cpu_seconds(pid: int) -> float:
    """CPU that a process has used until now, all threads, user and system (Linux: its CPU clock)."""
    return time.clock_gettime((~pid << 3) | 2)


class Agent:
    """A process that speaks ACP on stdio. `sent` is the id of the last request."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._rest = b""
        self.sent = 0

    @property
    def cpu(self) -> float:
        return cpu_seconds(self.process.pid)

    def send(self, method: str, **params: Any) -> None:
        self.sent += 1
        frame = {"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}
        self.stdin.write(json.dumps(frame).encode() + b"\n")

    def lines(self) -> Iterator[bytes]:
        while True:
            line, newline, rest = self._rest.partition(b"\n")
            if newline:
                self._rest = rest
                yield line
                continue
            data = self.stdout.read(1 << 16)
            if not data:
                raise SystemExit(f"the process ended: {self.process.args}")
            self._rest += data

    def answer(self) -> tuple[dict[str, Any], int]:
        """Wait for the answer to the last request; return it and how many lines came before it."""
        ours = f'"id":{self.sent}'.encode()
        for before, line in enumerate(self.lines()):
            if ours in line.replace(b" ", b"")[:60]:
                return json.loads(line), before
        raise AssertionError

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self.send(method, **params)
        return self.answer()[0]["result"]

    def initialize(self) -> None:
        self.request("initialize", protocolVersion=1, clientCapabilities={})


@contextmanager
def agent(*arguments: str) -> Iterator[Agent]:
    """Start `python ARGUMENTS` and end it by closing its stdin."""
    started = Agent(sys.executable, *arguments)
    try:
        yield started
    finally:
        started.stdin.close()
        started.stdout.close()
        try:
            started.process.wait(10)
        except subprocess.TimeoutExpired:
            started.process.kill()
            started.process.wait()


def row(name: str, ours: list[float], theirs: list[float], unit: str = "ms", scale: float = 1000) -> str:
    """One line of a report: medians of both, and the median of the ratios pair by pair."""
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    a, b = statistics.median(ours) * scale, statistics.median(theirs) * scale
    return f"{name:<58} {a:9.1f} {b:9.1f} {unit:<4} ratio {ratio:5.2f}"
