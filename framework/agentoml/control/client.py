"""The command line's end: finds the running agents of this user and asks them."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from agentoml.control.peers import is_same_user
from agentoml.control.places import sockets

SECONDS = 5.0
"""How long an agent may take to answer what it knows at once."""

GONE = (errno.ECONNREFUSED, errno.ENOENT)


class NoAnswer(Exception):
    """An agent did not answer; `str()` says why."""


@frozen
class RunningAgent:
    """An agent that answered, or where `status` is None did not."""

    pid: int
    path: Path
    status: dict[str, Any] | None

    def runs(self, config: Path | None) -> bool:
        """Return whether it runs this configuration, by whatever path it was named."""
        running = (self.status or {}).get("config")
        if config is None or running is None:
            return False
        return bool(running == str(config) or os.path.realpath(running) == os.path.realpath(config))


def running_agents() -> Iterator[RunningAgent]:
    """Yield every running agent of this user; the sockets of those that died are removed."""
    for pid, path in sockets():
        try:
            yield RunningAgent(pid, path, ask(path, {"command": "status"}))
        except NoAnswer:
            yield RunningAgent(pid, path, None)
        except OSError as error:
            if error.errno not in GONE:
                yield RunningAgent(pid, path, None)
            elif error.errno == errno.ECONNREFUSED:
                path.unlink(missing_ok=True)


def ask(path: Path, question: dict[str, Any], seconds: float = SECONDS) -> dict[str, Any]:
    """Ask one agent.

    Raises:
        NoAnswer: it does not answer in time, or nonsense.
        OSError: there is nobody at this socket.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(str(path))
            if not is_same_user(connection):
                raise NoAnswer("it is of another user")
            connection.sendall(json.dumps(question).encode() + b"\n")
            with connection.makefile("rb") as stream:
                answer = json.loads(stream.readline())
        except TimeoutError:
            raise NoAnswer(f"it does not answer within {seconds:g} seconds") from None
        except ValueError:
            raise NoAnswer("it ended instead of answering") from None
    if not isinstance(answer, dict) or "error" in answer:
        raise NoAnswer(str(answer.get("error") if isinstance(answer, dict) else answer))
    return answer
