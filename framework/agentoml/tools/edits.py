"""An exact replacement in a text, and why it can't be made: pure functions."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import islice

from agentoml.errors import ToolError

COMPARED_LINES = 2_000
DIFF_WHOLE = 400_000
DIFF_AROUND = 20


def replaced(text: str, old_text: str, new_text: str, *, every: bool, path: str) -> tuple[str, int]:
    """Return the text after the replacement and how many there were. Line ends of a CRLF file stay CRLF.

    Raises:
        ToolError: `old_text` is empty, the same as `new_text`, not there, or there several times without `every`.
    """
    if not old_text:
        raise ToolError("old_text is empty; write_file makes or replaces a whole file")
    if "\r\n" in text and "\r\n" not in old_text:
        old_text, new_text = with_crlf(old_text), with_crlf(new_text)
    if old_text == new_text:
        raise ToolError("old_text and new_text are the same")
    count = text.count(old_text)
    if count == 0:
        raise ToolError(f"old_text is not in {path}.{_nearest(text, old_text)}")
    if count > 1 and not every:
        lines = ", ".join(str(line) for line in islice(_line_numbers(text, old_text), 10))
        raise ToolError(
            f"old_text is in {path} {count} times (lines {lines}); give more of the text around the one meant, "
            "or all = true to replace each"
        )
    return text.replace(old_text, new_text), count


def with_crlf(text: str) -> str:
    """Return the text with each bare "\\n" as "\\r\\n"."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def like_before(text: str, before: str | None) -> str:
    """Return a new text for a file with the line ends that the file had, where all of those were CRLF."""
    if before and "\r\n" in before and before.count("\n") == before.count("\r\n") and "\r" not in text:
        return with_crlf(text)
    return text


def diff_texts(old: str | None, new: str) -> tuple[str | None, str]:
    """Return both texts as a diff shows them: whole, or of large files the lines around what differs."""
    if old is None or len(old) + len(new) <= DIFF_WHOLE:
        return old, new
    shortest = min(len(old), len(new))
    start = _same(shortest, lambda low, high: old[low:high] == new[low:high])
    after, rest = len(old), len(new)
    end = _same(shortest - start, lambda low, high: old[after - high : after - low] == new[rest - high : rest - low])
    last = old[len(old) - end :]
    for _ in range(DIFF_AROUND + 1):
        start = max(0, old.rfind("\n", 0, start))
    first = start + 1 if start else 0
    kept = 0
    for _ in range(DIFF_AROUND + 1):
        kept = last.find("\n", kept) + 1 or len(last)
    return old[first : len(old) - end + kept], new[first : len(new) - end + kept]


def _same(longest: int, equal: Callable[[int, int], bool]) -> int:
    """Return how far two texts are the same, by halves: texts of many megabytes take milliseconds."""
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _line_numbers(text: str, part: str) -> list[int]:
    numbers, line, at, found = [], 1, 0, text.find(part)
    while found >= 0:
        line += text.count("\n", at, found)
        numbers.append(line)
        at, found = found, text.find(part, found + len(part))
    return numbers


def _nearest(text: str, old_text: str) -> str:
    """Return a sentence on where something like the text stands, or that nothing does."""
    import difflib

    wanted = next((line.strip() for line in old_text.splitlines() if line.strip()), "")
    lines = [line.strip() for line in islice(io.StringIO(text, newline=""), COMPARED_LINES)]
    same = [number for number, line in enumerate(lines, 1) if wanted and line == wanted]
    if same:
        places = ", ".join(map(str, same[:5]))
        return (
            f" Its first line stands in line {places}, so blanks or the following lines differ; "
            f"read the file from there (line = {same[0]}) and copy the text exactly."
        )
    close = difflib.get_close_matches(wanted, dict.fromkeys(lines), n=3, cutoff=0.6) if len(wanted) <= 500 else []
    if not close:
        return " Nothing like its first line is there either; read the file first."
    shown = "\n".join(f"{lines.index(line) + 1}: {line[:200]}" for line in close)
    return f" The nearest lines are:\n{shown}"
