"""Text files of the session: read and written through the client where it offers that, else on the local disk."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agentoml.errors import RemoteError, ToolError
from agentoml.threads import WRITE_SECONDS, in_thread
from agentoml.tools.paths import is_inside

if TYPE_CHECKING:
    from agentoml.tools.tool import ToolContext

LARGEST_FILE = 64 * 1024 * 1024


async def read_text(path: str, context: ToolContext, *, line: int | None = None, limit: int | None = None) -> str:
    """Return the text of a file, line ends as they are: whole, or `limit` lines from line number `line` (from 1).

    The client's unsaved buffers count where it offers fs/read_text_file; what it refuses outside the session's
    roots is read from the disk.

    Raises:
        ToolError: there is no such file, it is not UTF-8 text, or it can't be read.
    """
    if context.client.can_read:
        try:
            text: str = await context.client.read_text_file(context.session_id, path, line, limit)
            return text
        except RemoteError as error:
            if is_inside(path, context.roots):
                raise ToolError(f"{path} can't be read: {error.message}") from None
    if line is None and limit is None:
        return await in_thread(partial(_read_whole, path), "read")
    return await in_thread(partial(_read_lines, path, (line or 1) - 1, limit), "read")


async def read_if_there(path: str, context: ToolContext) -> str | None:
    """Return the text of a file, or None where there is none yet.

    Raises:
        ToolError: something is there that can't be read as text.
    """
    there = is_there(path)
    if not there and not context.client.can_read:
        return None
    try:
        text = await read_text(path, context)
    except ToolError:
        if there:
            raise
        return None
    return text if text or there else None  # some clients answer "" for what is not there


async def write_text(path: str, text: str, context: ToolContext) -> None:
    """Write a whole file; missing directories are made.

    Raises:
        ToolError: it can't be written.
    """
    if context.client.can_write:
        try:
            await context.client.write_text_file(context.session_id, path, text)
            return
        except RemoteError as error:
            if is_inside(path, context.roots):
                raise ToolError(f"{path} can't be written: {error.message}") from None
    await in_thread(partial(_write_local, path, text), "write", linger=WRITE_SECONDS)


def is_there(path: str) -> bool:
    """Tell whether anything is on the disk at this path, a broken link too."""
    return os.path.lexists(path)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends: "\\n", "\\r\\n" or "\\r"; other separators are part of a line."""
    return list(io.StringIO(text, newline=""))


def _read_whole(path: str) -> str:
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST_FILE:
            raise ToolError(f"{path} is too large to be taken whole: {size} bytes, the limit is {LARGEST_FILE}")
        return file.read()


def _read_lines(path: str, start: int, limit: int | None) -> str:
    taken, size = [], 0
    with _opened(path) as file:
        lines = iter(lambda: file.readline(LARGEST_FILE + 1), "")
        for line in islice(lines, start, None if limit is None else start + limit):
            taken.append(line)
            size += len(line)
            if size > LARGEST_FILE:
                raise ToolError(f"these lines of {path} are too large to be taken: the limit is {LARGEST_FILE}")
    return "".join(taken)


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    """Open a text file with its line ends as they are; what goes wrong while it is read is a ToolError."""
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{path} is a directory; list_files shows what is in it")
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path} is not a regular file")
        with Path(path).open("rb") as raw:
            if b"\0" in raw.read(8192):
                raise ToolError(f"{path} is a binary file ({status.st_size} bytes)")
            raw.seek(0)
            with io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
                yield file
    except OSError as error:
        raise ToolError(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ToolError(f"{path} is not UTF-8 text: it holds the byte 0x{error.object[error.start]:02x}") from None


def _write_local(path: str, text: str) -> None:
    target = Path(os.path.realpath(path))  # a symbolic link stays a link; unlike resolve(), no error on a loop
    try:
        data = text.encode("utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            status = target.stat()
        except FileNotFoundError:
            _replace(target, data, None)
            return
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path} is not a regular file")
        if not os.access(target, os.W_OK):
            raise ToolError(f"{path} is read-only")
        if status.st_nlink > 1 or not os.access(target.parent, os.W_OK):
            target.write_bytes(data)  # replacing it would cut a hard link, or is not allowed here
        else:
            _replace(target, data, stat.S_IMODE(status.st_mode))
    except OSError as error:
        raise ToolError(f"{path} can't be written: {error.strerror}") from None
    except UnicodeEncodeError:
        raise ToolError("the text holds half of a surrogate pair, which no UTF-8 file can") from None


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    """Put the bytes in the place of the file at once: nobody ever sees half of them."""
    beside = target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(descriptor, mode)
            file.write(data)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
