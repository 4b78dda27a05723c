"""The tool search_files. The search runs in a process of its own: a regular expression that backtracks for ever can
be stopped, and no text is scanned beside what streams here.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentoml.errors import ToolError
from agentoml.tools.paths import absolute, glob_regex
from agentoml.tools.processes import run_process
from agentoml.tools.search_process import MATCHES
from agentoml.tools.tool import Tool, ToolContext, ToolResult

SEARCH_SECONDS = 30.0
LARGEST_ANSWER = 4 * 1024 * 1024
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from agentoml.tools.search_process import main; main()"


async def search_files(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Search the files beneath a directory."""
    top = absolute(args.get("path") or ".", context.cwd)
    request = {
        "top": top,
        "pattern": re.escape(args["pattern"]) if args.get("literal") else args["pattern"],
        "glob": glob_regex(args["glob"]).pattern if args.get("glob") else None,
        "ignore_case": bool(args.get("ignore_case")),
    }
    package_root = str(Path(__file__).parents[2])
    answer = bytearray()
    ended = await run_process(
        (sys.executable, "-I", "-W", "ignore", "-c", PROGRAM, package_root, json.dumps(request)),
        cwd="/",
        environment=context.environment,
        timeout=SEARCH_SECONDS,
        take=lambda data: answer.extend(data[: LARGEST_ANSWER - len(answer)]),
    )
    said = list(_said(bytes(answer)))
    if problem := next((rest[0] for kind, *rest in said if kind == "problem"), None):
        raise ToolError(problem)
    if ended.code and not ended.timed_out:
        raise ToolError("the search broke off")
    return ToolResult(_told(said, args["pattern"], top, context, timed_out=ended.timed_out))


def _said(answer: bytes) -> Iterator[list[Any]]:
    for line in answer.splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # cut off in the middle
            continue


def _told(said: list[list[Any]], pattern: str, top: str, context: ToolContext, *, timed_out: bool) -> str:
    """Return the matches as the model reads them, those in files that may not be read left out."""
    may_read: dict[str, bool] = {}
    lines = []
    for path, number, text in (rest for kind, *rest in said if kind == "match"):
        if path not in may_read:
            may_read[path] = context.may_read is None or context.may_read(path)
        if may_read[path]:
            lines.append(f"{path.removeprefix(context.cwd.rstrip('/') + '/')}:{number}: {text}")
    if timed_out:
        lines.append(f"[Stopped after {SEARCH_SECONDS:g} s; give a deeper path, a glob or a simpler pattern.]")
    elif ["full"] in said:
        lines.append(f"[There is more than these {MATCHES} matches. Give a deeper path or a glob.]")
    if hidden := sum(not readable for readable in may_read.values()):
        lines.append(f"[Matches in {hidden} {'file' if hidden == 1 else 'files'} that may not be read are left out.]")
    return "\n".join(lines) or f"[Nothing in {top} matches {pattern}.]"


SEARCH_FILES = Tool(
    "search_files",
    "Search text files beneath a directory, line by line. The answer lists path:line: text.",
    {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "A regular expression (Python), or a plain text with literal"},
            "path": {"type": "string", "default": ".", "description": "A directory or a file"},
            "glob": {"type": "string", "description": 'Only files whose path matches, such as "*.py" or "src/**/*.ts"'},
            "literal": {"type": "boolean", "description": "pattern is plain text"},
            "ignore_case": {"type": "boolean", "description": "Letter case does not count"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
    search_files,
    "search",
    "Search {path} for {pattern}",
    ("path",),
)
