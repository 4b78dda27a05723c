"""Who is at the other end of a local socket: the kernel knows."""

from __future__ import annotations

import os
import socket
import struct
import sys

LOCAL_PEERCRED = 1
"""Of macOS and the BSDs, where the module `socket` does not name it."""


def is_same_user(connection: socket.socket) -> bool:
    """Return whether the process at the other end is of this user; False where that can't be told."""
    return _peer(connection) == os.geteuid()


def _peer(connection: socket.socket) -> int | None:
    """Return the user id at the other end."""
    try:
        if sys.platform == "linux":
            size = struct.calcsize("3i")
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            return int(struct.unpack("3i", credentials)[1])
        credentials = connection.getsockopt(0, LOCAL_PEERCRED, 8)  # struct xucred: its version, then the user id
        return int(struct.unpack("II", credentials)[1])
    except OSError:
        return None
