"""Tools on names of files: move_file and delete_file."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from agentoml.errors import ToolError
from agentoml.threads import WRITE_SECONDS, in_thread
from agentoml.tools.paths import absolute
from agentoml.tools.texts import is_there
from agentoml.tools.tool import Tool, ToolContext, ToolResult

Args = Mapping[str, Any]


async def move_file(args: Args, context: ToolContext) -> ToolResult:
    """Move or rename a file or a directory."""
    source, destination = absolute(args["source"], context.cwd), absolute(args["destination"], context.cwd)
    _not_a_root(source, context, "moved")
    await in_thread(partial(_move, source, destination), "move", linger=WRITE_SECONDS)
    return ToolResult(f"Moved {source} to {destination}.")


async def delete_file(args: Args, context: ToolContext) -> ToolResult:
    """Delete a file, a link or an empty directory."""
    path = absolute(args["path"], context.cwd)
    _not_a_root(path, context, "deleted")
    await in_thread(partial(_delete, path), "delete", linger=WRITE_SECONDS)
    return ToolResult(f"Deleted {path}.")


def _not_a_root(path: str, context: ToolContext, done: str) -> None:
    if any(path == root or root.startswith(path.rstrip("/") + "/") for root in (context.cwd, *context.roots)):
        raise ToolError(f"{path} holds the session's working directory; it can't be {done}")


def _move(source: str, destination: str) -> None:
    import shutil

    if not is_there(source):
        raise ToolError(f"there is no {source}")
    if is_there(destination):
        raise ToolError(f"{destination} is there already; delete it first, or choose another name")
    if destination.startswith(source + "/"):
        raise ToolError(f"{source} can't be moved into itself")
    try:
        Path(destination).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, destination)  # a rename, or a copy to another file system
    except (OSError, shutil.Error) as error:
        raise ToolError(f"{source} can't be moved: {getattr(error, 'strerror', None) or error}") from None


def _delete(path: str) -> None:
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            Path(path).rmdir()
        else:
            Path(path).unlink()
    except OSError as error:
        raise ToolError(f"{path} can't be deleted: {error.strerror}") from None


PATH = {"type": "string", "description": "Absolute, or relative to the working directory"}

MOVE_FILE = Tool(
    "move_file",
    "Move or rename a file or a directory. Nothing that is there already is replaced.",
    {
        "type": "object",
        "properties": {"source": PATH, "destination": PATH},
        "required": ["source", "destination"],
        "additionalProperties": False,
    },
    move_file,
    "move",
    "Move {source} to {destination}",
    ("source", "destination"),
)
DELETE_FILE = Tool(
    "delete_file",
    "Delete a file or an empty directory.",
    {"type": "object", "properties": {"path": PATH}, "required": ["path"], "additionalProperties": False},
    delete_file,
    "delete",
    "Delete {path}",
    ("path",),
)
