"""Work in threads that nobody has to wait for."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest

from agentoml.threads import in_thread, run

HANGS = """
import asyncio, threading
from agentoml.threads import in_thread

async def main():
    began = threading.Event()
    hung = asyncio.create_task(in_thread(lambda: (began.set(), threading.Event().wait()), "hung", linger=0.01))
    await in_thread(began.wait, "began")

asyncio.run(main())
"""


LOOKS_UP = """
import asyncio, socket, threading
from agentoml.threads import in_thread, run

began = threading.Event()
socket.getaddrinfo = lambda *args, **settings: (began.set(), threading.Event().wait())

async def main():
    asking = asyncio.create_task(asyncio.open_connection("nowhere.example", 80))
    await in_thread(began.wait, "began")

run(main())
"""


async def test_the_result_comes_back_and_so_does_what_was_raised() -> None:
    assert await in_thread(lambda: threading.current_thread().name, "work") == "work"
    with pytest.raises(KeyError):
        await in_thread(lambda: {}["nothing"], "work")
    with pytest.raises(SystemExit):
        await in_thread(sys.exit, "work")


@pytest.mark.parametrize("program", [HANGS, LOOKS_UP])
def test_a_process_ends_while_work_hangs(program: str) -> None:
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=40)


def test_names_of_hosts_are_looked_up() -> None:
    async def main() -> list[Any]:
        return await asyncio.get_running_loop().getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)

    assert run(main())[0][4][0] in ("127.0.0.1", "::1")


async def test_cancelled_work_is_left_to_itself() -> None:
    began, go = threading.Event(), threading.Event()
    task = asyncio.create_task(in_thread(lambda: (began.set(), go.wait()), "work"))
    await in_thread(began.wait, "began")
    task.cancel()
    await asyncio.wait((task,), timeout=40)
    assert task.cancelled()
    go.set()


async def test_what_writes_ends_before_the_cancellation_does() -> None:
    began, go, written = threading.Event(), threading.Event(), []

    def write() -> None:
        began.set()
        go.wait()
        written.append("whole")
        raise OSError("heard of by nobody, and no complaint about that")

    task = asyncio.create_task(in_thread(write, "work", linger=40))
    await in_thread(began.wait, "began")
    task.cancel()
    asyncio.get_running_loop().call_soon(go.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert written == ["whole"]
