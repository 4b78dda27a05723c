"""The command line's end: finds the running agents of this user and asks them."""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from agentoml.control.peers import is_same_user
from agentoml.control.places import Place, file_of, mark_of, sockets

SECONDS = 5.0
"""How long an agent may take to answer what it knows at once."""

GONE = (errno.ECONNREFUSED, errno.ENOENT)


class NoAnswer(Exception):
    """An agent did not answer; `str()` says why."""


@frozen
class RunningAgent:
    """An agent that answered, or where `status` is None did not."""

    place: Place
    status: dict[str, Any] | None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.place.pid

    def runs(self, config: Path) -> bool:
        """Return whether it runs this configuration, by whatever path it was named."""
        if self.status is None:
            return self.place.mark == mark_of(config)
        return file_of(self.status["config"]) == file_of(config)


def running_agents() -> Iterator[RunningAgent]:
    """Yield every running agent of this user; the sockets of those that died are removed."""
    for place in sockets():
        try:
            yield RunningAgent(place, ask(place.path, {"command": "status"}))
        except NoAnswer:
            yield RunningAgent(place, None)
        except OSError as error:
            if error.errno not in GONE:
                yield RunningAgent(place, None)
            elif error.errno == errno.ECONNREFUSED:
                place.path.unlink(missing_ok=True)


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
