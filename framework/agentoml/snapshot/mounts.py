"""Which file systems tell of no change that another machine makes: there, looking is all there is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

DEAF = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "vboxsf", "virtiofs", "prl_fs"})
"""Network file systems and those of virtual machines; those of FUSE by their prefix."""


def tells_nothing(directories: Iterable[Path], mounts: str) -> bool:
    """Tell whether one of these directories lies on such a file system. `mounts` is the text of `MOUNTS`."""
    kinds = _kinds(mounts)
    return any(_is_deaf(_kind_of(directory, kinds)) for directory in directories)


def mounts_text() -> str:
    """Return what is mounted, as the kernel writes it; an empty text where that can't be had."""
    try:
        return MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _kinds(mounts: str) -> dict[str, str]:
    """Return mount point -> type; of several mounted over one another the last counts."""
    found = {}
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if dash and len(fields) > 4 and after:
            found[_unescaped(fields[4])] = after.split(" ")[0]
    return found


def _kind_of(directory: Path, kinds: dict[str, str]) -> str:
    return next((kinds[str(path)] for path in (directory, *directory.parents) if str(path) in kinds), "")


def _is_deaf(kind: str) -> bool:
    return kind in DEAF or kind == "fuse" or (kind.startswith("fuse.") and kind != "fuse.fuse-overlayfs")


def _unescaped(path: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), path)
