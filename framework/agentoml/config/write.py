"""Files of our own: replaced as a whole, or left as they were."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

GENERATED = "# Written by agentoml. Do not edit: it is replaced as a whole.\n"


def write_own(file: Path, text: str, *, private: bool = True) -> None:
    """Write a file of our own; who reads meanwhile sees the old one or the new one.

    A private one is for its owner alone (mode 0600, its directory 0700).

    Raises:
        OSError: its directory can't be written.
    """
    replace_file(file, (GENERATED + text).encode(), private=private)


def replace_file(file: Path, content: bytes, *, private: bool = False) -> None:
    """Put `content` in the place of a file, and make its directory if need be. Nobody ever sees half of it.

    A symlink stays one. `private`: the file is for its owner alone; else it keeps the permissions that it has.

    Raises:
        OSError: it can't be written; the old file is untouched.
    """
    real = Path(os.path.realpath(file))
    real.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
    handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.stem[:64]}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if not private:
            Path(temporary).chmod(_usual_mode(real))
        Path(temporary).replace(real)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _usual_mode(file: Path) -> int:
    try:
        return file.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask
