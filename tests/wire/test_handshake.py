"""The first exchange, without an event loop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agentoml
from agentoml.errors import InternalError
from agentoml.wire import stdio
from agentoml.wire.handshake import Handshake, handshake
from agentoml.wire.stdio import wait_until_ready, write_all

INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'


class Pipes:
    """What the client writes and reads."""

    def __init__(self) -> None:
        read_fd, self.write_fd = os.pipe()
        self.read_fd, write_fd = os.pipe()
        self.fds = read_fd, write_fd

    def send(self, data: bytes) -> None:
        write_all(self.write_fd, data)

    def hang_up(self) -> None:
        os.close(self.write_fd)
        self.write_fd = -1

    def replies(self) -> list[Any]:
        return [json.loads(line) for line in os.read(self.read_fd, 65536).splitlines()]


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    for fd in (*pipes.fds, pipes.read_fd, pipes.write_fd):
        if fd >= 0:
            os.close(fd)


def answer(params: dict[str, Any]) -> dict[str, Any]:
    return {"protocolVersion": 1}


def test_initialize_is_answered_and_what_follows_is_kept(pipes: Pipes) -> None:
    rest = b'{"jsonrpc":"2.0","id":1,"method":"session/new"}\n\n{"half":'
    capabilities, info = {"fs": {"readTextFile": True}}, {"name": "ed", "version": "1"}
    params = {"protocolVersion": 2, "clientCapabilities": capabilities, "clientInfo": info}
    first = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}
    pipes.send(json.dumps(first).encode() + b"\n" + rest)
    assert handshake(pipes.fds, answer) == Handshake(2, capabilities, info, rest)
    assert pipes.replies() == [{"jsonrpc": "2.0", "id": "a", "result": {"protocolVersion": 1}}]


def test_a_client_that_says_nothing_of_itself_can_do_nothing(pipes: Pipes) -> None:
    pipes.send(INITIALIZE)
    assert handshake(pipes.fds, answer) == Handshake(1, {}, None, b"")


def test_everything_else_is_refused_until_then(pipes: Pipes) -> None:
    pipes.send(
        b"\nnonsense\n[]\n"
        b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}\n'
        b'{"jsonrpc":"2.0","method":"session/cancel","params":{}}\n'
        b'{"jsonrpc":"2.0","id":9,"result":{}}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"one"}}\n' + INITIALIZE
    )
    assert handshake(pipes.fds, answer) is not None
    replies = pipes.replies()
    assert [(reply["id"], reply.get("error", {}).get("code")) for reply in replies] == [
        (None, -32700),
        (None, -32600),
        (1, -32600),
        (2, -32602),
        (0, None),
    ]
    assert replies[2]["error"]["data"] == {"reason": "not_initialized"}


def test_an_error_of_ours_is_told_and_initialize_may_come_again(pipes: Pipes) -> None:
    def refuse(params: dict[str, Any]) -> dict[str, Any]:
        raise InternalError("No valid configuration", reason="no_valid_configuration")

    pipes.send(INITIALIZE)
    pipes.hang_up()
    assert handshake(pipes.fds, refuse) is None
    assert pipes.replies()[0]["error"]["data"] == {"reason": "no_valid_configuration"}


def test_an_input_that_ends_is_no_handshake(pipes: Pipes) -> None:
    pipes.send(INITIALIZE[:-1])
    pipes.hang_up()
    assert handshake(pipes.fds, answer) is None


def test_pipes_that_never_block_are_waited_for(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[bool] = []

    def wait(fd: int, *, to_write: bool = False) -> None:
        waited.append(to_write)
        if to_write:
            os.read(pipes.read_fd, 65536)
        else:
            pipes.send(INITIALIZE)
        wait_until_ready(fd, to_write=to_write)

    monkeypatch.setattr(stdio, "wait_until_ready", wait)
    for fd in pipes.fds:
        os.set_blocking(fd, False)

    assert handshake(pipes.fds, lambda _: {"protocolVersion": 1, "_meta": {"long": "x" * 200_000}}) is not None
    assert waited[0] is False
    assert set(waited[1:]) == {True}


def test_a_client_that_reads_no_more_is_an_error_of_the_system(pipes: Pipes) -> None:
    os.close(pipes.read_fd)
    pipes.read_fd = -1
    pipes.send(INITIALIZE)
    with pytest.raises(BrokenPipeError):
        handshake(pipes.fds, answer)


def test_it_needs_neither_asyncio_nor_attrs_nor_logging() -> None:
    code = (
        "import sys\n"
        "from agentoml.wire import handshake, messages, methods, process, stdio, client\n"
        "print({'asyncio', 'attr', 'attrs', 'logging', 'inspect', 'socket'} & set(sys.modules))"
    )
    env = os.environ | {"PYTHONPATH": str(Path(agentoml.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
