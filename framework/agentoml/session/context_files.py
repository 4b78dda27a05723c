"""Context files: what stands in the session's directory -> paragraphs of the system prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

LARGEST = 64 * 1024
MOST = 50


def read_context_files(patterns: Sequence[str], cwd: str) -> tuple[str, ...]:
    """Return each file that a name or glob finds, as a paragraph; what is not there or no text is left out.

    Names count from the session's cwd, `**` crosses directories; a longer file is cut at 64 KiB.
    """
    found = dict.fromkeys(path for pattern in patterns for path in _matching(pattern, cwd))
    return tuple(paragraph for path in list(found)[:MOST] if (paragraph := _paragraph(path, cwd)))


def _matching(pattern: str, cwd: str) -> Iterator[Path]:
    start = Path("/") if pattern.startswith("/") else Path(cwd)
    yield from (path for path in sorted(start.glob(pattern.lstrip("/"))) if path.is_file())


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
