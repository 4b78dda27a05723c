"""Readers and writers over every kind of file that stdin and stdout can be."""

from __future__ import annotations

import asyncio
import os
import pty
import socket
from pathlib import Path

import pytest

from agentoml.errors import ConnectionLost
from agentoml.wire.stdio import Reader, Writer


async def read_all(reader: Reader) -> bytes:
    parts = []
    while data := await reader.read():
        parts.append(data)
    reader.close()
    return b"".join(parts)


async def test_a_file_is_read_to_its_end_and_written(tmp_path: Path) -> None:
    file = tmp_path / "wire"
    fd = os.open(file, os.O_CREAT | os.O_WRONLY)
    writer = Writer(fd)
    writer.watch(lambda: None)
    writer.write(b"x" * 200_000)
    writer.write(b"y")
    await writer.drain()
    writer.close()
    fd = os.open(file, os.O_RDONLY)
    assert await read_all(Reader(fd, b"before ")) == b"before " + b"x" * 200_000 + b"y"
    os.close(fd)


async def test_dev_null_is_empty_and_takes_everything() -> None:
    fd = os.open(os.devnull, os.O_RDWR)
    assert await read_all(Reader(fd)) == b""
    writer = Writer(fd)
    writer.watch(lambda: None)
    writer.write(b"x" * 100_000)
    assert writer.backlog == 0
    writer.close()


async def test_sockets_carry_both_ways() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = Reader(os.dup(ours.fileno())), Writer(ours.detach())
        lost = asyncio.Event()
        writer.watch(lost.set)
        writer.write(b"hello")
        loop = asyncio.get_running_loop()
        theirs.setblocking(False)
        assert await loop.sock_recv(theirs, 100) == b"hello"
        await loop.sock_sendall(theirs, b"back")
        assert await reader.read() == b"back"
        theirs.close()
        assert await reader.read() == b""
        reader.close()
        os.close(reader._fd)
        writer.write(b"anybody?")
        assert lost.is_set()
        writer.close()


async def test_a_terminal_that_hangs_up_is_the_end_of_the_input() -> None:
    ours, theirs = pty.openpty()
    reader = Reader(theirs)
    os.write(ours, b"line\n")
    assert await reader.read() == b"line\n"
    os.close(ours)
    assert await reader.read() == b""
    reader.close()
    os.close(theirs)


async def test_what_a_pipe_does_not_take_waits_in_order() -> None:
    read_fd, write_fd = os.pipe()
    writer = Writer(write_fd)
    writer.write(b"a" * 300_000)
    writer.write(b"b" * 10)
    assert writer.backlog > 0
    draining = asyncio.create_task(writer.drain())
    reader = Reader(read_fd)
    got = b""
    while len(got) < 300_010:
        got += await reader.read()
    await draining
    assert got == b"a" * 300_000 + b"b" * 10
    assert writer.backlog == 0
    writer.close()
    assert await reader.read() == b""
    reader.close()
    os.close(read_fd)


async def test_a_pipe_nobody_reads_is_noticed_without_writing() -> None:
    read_fd, write_fd = os.pipe()
    writer, lost = Writer(write_fd), asyncio.Event()
    writer.watch(lost.set)
    os.close(read_fd)
    await asyncio.wait_for(lost.wait(), 5)
    writer.write(b"x")
    assert writer.backlog == 0
    with pytest.raises(ConnectionLost):
        await writer.drain()
    writer.close()
    writer.close()


async def test_whoever_waits_for_a_pipe_that_closes_is_told() -> None:
    read_fd, write_fd = os.pipe()
    writer = Writer(write_fd)
    writer.write(b"x" * 300_000)
    draining = asyncio.create_task(writer.drain())
    await asyncio.sleep(0)
    os.close(read_fd)
    with pytest.raises(ConnectionLost):
        await draining
    writer.close()


async def test_bytes_that_come_while_nobody_reads_are_kept() -> None:
    read_fd, write_fd = os.pipe()
    reader = Reader(read_fd)
    os.write(write_fd, b"one")
    assert await reader.read() == b"one"
    os.write(write_fd, b"two")
    for _ in range(3):
        await asyncio.sleep(0)
    os.write(write_fd, b"three")
    assert await reader.read() == b"twothree"
    waiting = asyncio.create_task(reader.read())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.close(write_fd)
    assert await reader.read() == b""
    reader.close()
    os.close(read_fd)
