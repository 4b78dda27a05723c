"""A program on a terminal of its own: what it shows is waited for, keys are typed."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

WAIT_SECONDS = 20.0
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>]|[\x01\x02]")

TAKE_TERMINAL = "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
"""Run first by a child that leads a session: Ctrl-C reaches it then."""


class Terminal:
    """Starts `python -c program args` on a terminal; killed at the end if it did not leave by itself."""

    def __init__(self, program: str, args: Sequence[str], cwd: Path, env: Mapping[str, str] = {}) -> None:
        self._master, slave = pty.openpty()
        self._written = b""
        self._read_up_to = 0
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", TAKE_TERMINAL + program, *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30", **env},
            start_new_session=True,
        )
        os.close(slave)

    @property
    def shown(self) -> str:
        """All text so far, without what moves the cursor and paints."""
        return ESCAPES.sub("", self._written.decode("utf-8", "replace"))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, text: str) -> None:
        """Wait until `text` is shown, behind what was waited for before."""
        deadline = time.monotonic() + WAIT_SECONDS
        while (found := self.shown.find(text, self._read_up_to)) < 0:
            if not self._more(deadline):
                raise AssertionError(f"{text!r} is not shown; there is:\n{self.shown[self._read_up_to :]}")
        self._read_up_to = found + len(text)

    def leave(self) -> int:
        """Wait for the end and return the exit code."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self._more(deadline):
            pass
        return self.process.wait(max(0.1, deadline - time.monotonic()))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _more(self, deadline: float) -> bool:
        readable, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        try:
            piece = os.read(self._master, 65536) if readable else b""
        except OSError:  # nobody has the terminal open any more
            piece = b""
        self._written += piece
        return bool(piece)
