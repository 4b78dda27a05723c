"""Context files: what stands in the session's directory -> paragraphs of the system prompt."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

LARGEST = 64 * 1024
MOST = 50


def read_context_files(patterns: Sequence[str], cwd: str) -> tuple[str, ...]:
    """Return each file that a name or glob finds, as a paragraph; what is not there or no text is left out.

    Names count from the session's cwd, `~` is the user's home, `**` crosses directories; a longer file is cut at 64
    KiB. Never raises.
    """
    found = dict.fromkeys(path for pattern in patterns for path in _matching(pattern, cwd))
    return tuple(paragraph for path in list(found)[:MOST] if (paragraph := _paragraph(path, cwd)))


def _matching(pattern: str, cwd: str) -> Iterator[Path]:
    pattern = os.path.expanduser(pattern)  # noqa: PTH111 - never fails
    start = Path("/") if pattern.startswith("/") else Path(cwd)
    glob = "/".join(_step(part) for part in pattern.split("/") if part not in ("", "."))
    found = []
    with suppress(OSError, ValueError):  # what can't be a path, or can't be entered
        found = sorted(start.glob(glob)) if glob else []
    yield from (path for path in found if os.path.isfile(path))  # noqa: PTH113 - never fails


def _step(part: str) -> str:
    """Return one step of a glob as pathlib takes it: `**.md` is any such file from here on."""
    return f"**/{part.replace('**', '*')}" if "**" in part and part != "**" else part


def _paragraph(path: Path, cwd: str) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
        text = content[:LARGEST].decode("utf-8", "strict" if len(content) <= LARGEST else "ignore")
    except (OSError, UnicodeDecodeError):
        return ""
    name = path.relative_to(cwd) if path.is_relative_to(cwd) else path
    cut = "\n[cut here]" if len(content) > LARGEST else ""
    return f'<file path="{name}">\n{text.strip()}{cut}\n</file>' if text.strip() else ""
