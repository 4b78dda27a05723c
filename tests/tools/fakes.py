from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from agentoml.errors import RemoteError
from agentoml.tools.tool import Content


@define
class EditorClient:
    """A client as tools see it: files in memory where it offers fs, nothing else."""

    can_read: bool = False
    can_write: bool = False
    can_terminal: bool = False
    files: dict[str, str] = field(factory=dict)
    calls: list[tuple[Any, ...]] = field(factory=list)
    updates: list[dict[str, Any]] = field(factory=list)

    def update(self, session_id: str, update: dict[str, Any]) -> None:
        self.updates.append(update)

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        self.calls.append(("read", path, line, limit))
        if path not in self.files:
            raise RemoteError(-32002, "Resource not found")
        if line is None and limit is None:
            return self.files[path]
        lines = self.files[path].splitlines(keepends=True)[(line or 1) - 1 :]
        return "".join(lines[:limit])

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        self.calls.append(("write", path))
        self.files[path] = content


@define
class Shown:
    """What a call reported while it ran."""

    contents: list[tuple[Content, ...]] = field(factory=list)
    listeners: list[Callable[[tuple[Content, ...]], None]] = field(factory=list)

    def __call__(self, content: tuple[Content, ...]) -> None:
        self.contents.append(content)
        for listener in self.listeners:
            listener(content)
