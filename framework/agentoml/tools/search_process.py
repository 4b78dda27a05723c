"""The process of a search: reads its request from the last argument, writes one JSON array a line, imports little."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentoml.tools.paths import walk

MATCHES = 500
LINE_CHARACTERS = 300
LARGEST_FILE = 8 * 1024 * 1024


def main() -> None:
    """Search as the last argument says and write what is found as soon as it is."""
    for said in found(json.loads(sys.argv[-1])):
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def found(request: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield ["match", path, line number, text], at the end ["full"] where there is more; else ["problem", why]."""
    try:
        search = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0).search
    except (re.error, OverflowError, RecursionError) as error:
        yield ["problem", f"{request['pattern']} is no regular expression: {error}"]
        return
    top = Path(request["top"])
    if not top.exists():
        yield ["problem", f"there is no {top}"]
        return
    count = 0
    for path in _files(top, request["glob"]):
        for number, line in enumerate(_lines(path), 1):
            match = search(line)
            if match is None:
                continue
            if count == MATCHES:
                yield ["full"]
                return
            count += 1
            yield ["match", str(path), number, _around(line, match.start())]


def _files(top: Path, glob: str | None) -> Iterator[Path]:
    wanted = re.compile(glob or "").match
    if not top.is_dir():
        if wanted(top.name):
            yield top
        return
    for relative, is_directory in walk(str(top), None):
        if not is_directory and wanted(relative):
            yield top / relative


def _lines(path: Path) -> list[str]:
    """Return the lines of a text file; none of what is binary, too large, no file or can't be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return []
        data = path.read_bytes()
    except OSError:
        return []
    if b"\0" in data[:8192]:
        return []
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _around(line: str, at: int) -> str:
    """Return a line, of a long one the part around the match."""
    if len(line) <= LINE_CHARACTERS:
        return line
    start = max(0, min(at - LINE_CHARACTERS // 4, len(line) - LINE_CHARACTERS))
    end = start + LINE_CHARACTERS
    return "…" * (start > 0) + line[start:end] + "…" * (end < len(line))
