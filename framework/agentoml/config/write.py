"""Files of our own: replaced as a whole, and readable by their owner alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

GENERATED = "# Written by agentoml. Do not edit: it is replaced as a whole.\n"


def write_own(file: Path, text: str) -> None:
    """Write a file of our own (mode 0600, its directory 0700); who reads meanwhile sees the old one or the new one.

    Raises:
        OSError: its directory can't be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(GENERATED + text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
