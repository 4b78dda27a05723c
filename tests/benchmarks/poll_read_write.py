"""The least that can tell sessions of a saved file: looks at it all the time, reads it, writes ready-made lines.

Arguments: the file, how many lines, and how many bytes each has. It answers each line of its input with one line.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

LOOK_SECONDS = 0.001


def main(path: Path, sessions: int, size: int) -> None:
    line = b'{"update":"config_option_update","list":"' + b"x" * max(0, size - 45) + b'"}\n'
    told = line * sessions
    threading.Thread(target=answer, daemon=True).start()
    seen = path.stat()
    while True:
        now = path.stat()
        if (now.st_ino, now.st_mtime_ns) != (seen.st_ino, seen.st_mtime_ns):
            seen = now
            path.read_bytes()
            left = memoryview(told)
            while left:
                left = left[os.write(1, left) :]
        time.sleep(LOOK_SECONDS)


def answer() -> None:
    for _ in sys.stdin.buffer:
        os.write(1, b'{"id":1,"result":{}}\n')
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
