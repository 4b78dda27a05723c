"""Tools on files: read_file, write_file, edit_file, list_files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from agentoml.errors import ToolError
from agentoml.threads import in_thread
from agentoml.tools.clipping import fenced
from agentoml.tools.edits import diff_texts, like_before, replaced
from agentoml.tools.paths import absolute, glob_regex, walk
from agentoml.tools.texts import is_there, read_if_there, read_text, split_lines, write_text
from agentoml.tools.tool import Content, Tool, ToolContext, ToolResult
from agentoml.wire.messages import content_item, diff_item, text_block

READ_LINES = 2_000
READ_CHARACTERS = 100_000
LISTED_ENTRIES = 1_000
VISITED_ENTRIES = 200_000
LARGE_TEXT = 20_000
"""From here on a comparison with each line is no longer done beside what streams."""

Args = Mapping[str, Any]


class FileTools:
    """The tools on files of one agent. Edits of one file wait for each other, so that parallel ones all count."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, Any] = WeakValueDictionary()

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, bound to these locks."""
        return (
            Tool("read_file", READ_DOC, READ_PARAMETERS, read_file, "read", "Read {path}", ("path",)),
            Tool(
                "write_file",
                WRITE_DOC,
                WRITE_PARAMETERS,
                self.write_file,
                "edit",
                "Write {path}",
                ("path",),
                preview=preview_write,
            ),
            Tool(
                "edit_file",
                EDIT_DOC,
                EDIT_PARAMETERS,
                self.edit_file,
                "edit",
                "Edit {path}",
                ("path",),
                preview=preview_edit,
            ),
            Tool("list_files", LIST_DOC, LIST_PARAMETERS, list_files, "search", "List {path}", ("path",)),
        )

    def lock(self, path: str) -> Any:
        """Return the lock of a file: an asyncio.Lock that lives as long as somebody holds it."""
        import asyncio

        return self._locks.setdefault(os.path.realpath(path), asyncio.Lock())

    async def write_file(self, args: Args, context: ToolContext) -> ToolResult:
        """Write a whole file."""
        path = absolute(args["path"], context.cwd)
        async with self.lock(path):
            before, after = await _written(path, args, context)
            new = before is None and not is_there(path)
            await write_text(path, after, context)
        lines = len(split_lines(after))
        text = f"Wrote {path}: {lines} {'line' if lines == 1 else 'lines'}{' (new file)' if new else ''}."
        return ToolResult(text, (_diff(path, before, after),))

    async def edit_file(self, args: Args, context: ToolContext) -> ToolResult:
        """Replace an exact text in a file."""
        path = absolute(args["path"], context.cwd)
        async with self.lock(path):
            before, after, count = await _edited(path, args, context)
            await write_text(path, after, context)
        text = f"Edited {path}: {count} {'replacement' if count == 1 else 'replacements'}."
        return ToolResult(text, (_diff(path, before, after),))


async def preview_write(args: Args, context: ToolContext) -> tuple[Content, ...]:
    """Return the diff of a write that has not run."""
    path = absolute(args["path"], context.cwd)
    return (_diff(path, *await _written(path, args, context)),)


async def preview_edit(args: Args, context: ToolContext) -> tuple[Content, ...]:
    """Return the diff of an edit that has not run."""
    path = absolute(args["path"], context.cwd)
    before, after, _ = await _edited(path, args, context)
    return (_diff(path, before, after),)


async def _written(path: str, args: Args, context: ToolContext) -> tuple[str | None, str]:
    try:
        before = await read_if_there(path, context)
    except ToolError:
        before = None  # a binary file can't be shown, yet it can be replaced; a directory is refused at the write
    return before, like_before(args["content"], before)


async def _edited(path: str, args: Args, context: ToolContext) -> tuple[str, str, int]:
    before = await read_text(path, context)
    every = bool(args.get("all"))
    work = partial(replaced, before, args["old_text"], args["new_text"], every=every, path=path)
    if len(before) < LARGE_TEXT:
        return before, *work()
    return before, *(await in_thread(work, "edit"))


def _diff(path: str, before: str | None, after: str) -> Content:
    content: Content = diff_item(path, *diff_texts(before, after))
    return content


async def read_file(args: Args, context: ToolContext) -> ToolResult:
    """Read a text file, or a part of it."""
    path = absolute(args["path"], context.cwd)
    first = int(args.get("line") or 1)
    limit = min(int(args.get("limit") or READ_LINES), READ_LINES)
    text = await read_text(path, context, line=first if first > 1 else None, limit=limit + 1)
    text = text.removeprefix("\ufeff")
    lines = split_lines(text)
    shown: list[str] = []
    length = 0
    for line in lines[:limit]:
        length += len(line)
        if length > READ_CHARACTERS and shown:
            break
        shown.append(line)
    body = "".join(shown)
    note = ""
    if len(body) > READ_CHARACTERS:
        note = (
            f"[Line {first} is {len(body)} characters long, cut after {READ_CHARACTERS}; line = {first + 1} reads on.]"
        )
        body = body[:READ_CHARACTERS]
    elif len(shown) < len(lines):
        last = first + len(shown) - 1
        note = f"[Lines {first} to {last}; line = {last + 1} reads on.]"
    elif not lines:
        note = f"[{path} has no line {first}.]" if first > 1 else f"[{path} is empty.]"
    separator = "\n" if body and not body.endswith("\n") else ""
    answer = body + separator + note if note else body
    return ToolResult(answer, (content_item(text_block(fenced(answer))),))


async def list_files(args: Args, context: ToolContext) -> ToolResult:
    """List the files beneath a directory."""
    top = absolute(args.get("path") or ".", context.cwd)
    pattern = args.get("pattern")
    depth = int(args.get("depth") or 0) or (None if pattern else 1)
    return ToolResult(await in_thread(partial(_listing, top, pattern, depth), "list"))


def _listing(top: str, pattern: str | None, depth: int | None) -> str:
    if not Path(top).is_dir():
        raise ToolError(f"{top} is not a directory" if is_there(top) else f"there is no directory {top}")
    matches = glob_regex(pattern).match if pattern else None
    found: list[str] = []
    for visited, (relative, is_directory) in enumerate(walk(top, depth)):
        if matches is None or matches(relative):
            found.append(relative + "/" * is_directory)
        if len(found) > LISTED_ENTRIES or visited >= VISITED_ENTRIES:
            found = found[:LISTED_ENTRIES]
            found.append(f"[There is more; only {len(found)} are listed. Give a deeper path or a pattern.]")
            break
    return "\n".join(found) or (f"[Nothing in {top} matches {pattern}.]" if pattern else f"[{top} is empty.]")


# ------------------------------------------------------------------------------------------- for the model

PATH = {"type": "string", "description": "Absolute, or relative to the working directory"}

READ_DOC = "Read a text file. Long files come in parts: the answer says which line to go on with."
READ_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": PATH,
        "line": {"type": "integer", "minimum": 1, "description": "The first line to read, from 1"},
        "limit": {"type": "integer", "minimum": 1, "description": f"How many lines to read, at most {READ_LINES}"},
    },
    "required": ["path"],
    "additionalProperties": False,
}
WRITE_DOC = "Write a whole text file: a new one, or in place of the one that is there."
WRITE_PARAMETERS = {
    "type": "object",
    "properties": {"path": PATH, "content": {"type": "string", "description": "The whole text of the file"}},
    "required": ["path", "content"],
    "additionalProperties": False,
}
EDIT_DOC = "Replace a text in a file. old_text must stand in the file exactly so, blanks and line breaks included."
EDIT_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": PATH,
        "old_text": {"type": "string", "description": "The text to replace; it must be there once, unless all is true"},
        "new_text": {"type": "string", "description": "What stands there afterwards"},
        "all": {"type": "boolean", "description": "Replace every occurrence"},
    },
    "required": ["path", "old_text", "new_text"],
    "additionalProperties": False,
}
LIST_DOC = "List files and directories (these end with /), without .git."
LIST_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "default": ".", "description": "The directory"},
        "pattern": {
            "type": "string",
            "description": 'A glob over the paths beneath it, such as "*.py" or "src/**/*.ts"',
        },
        "depth": {"type": "integer", "minimum": 1, "description": "Levels; 1 where left out, all with a pattern"},
    },
    "required": [],
    "additionalProperties": False,
}
