"""The contract of a tool: what the model is told of it, and what running it needs and gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from agentoml.wire.client import Client

Content = Mapping[str, Any]
"""One item of an ACP tool call's `content`: {"type": "content" | "diff" | "terminal", ...}."""


@frozen
class ToolContext:
    """Where a tool call runs: the session's directories, its client and the call it reports to.

    `report` shows content of the call while it runs (it replaces what was shown before). `environment` is what child
    processes get: no variable that a secret of the configuration names. `check_url` judges one more URL that the call
    is led to and raises ToolError where it may not go there; without it, a call stays at the host that was judged.
    `may_read` tells whether what is found in a file may be shown.
    """

    session_id: str
    tool_call_id: str
    cwd: str
    roots: tuple[str, ...]
    client: Client
    report: Callable[[tuple[Content, ...]], None]
    environment: Mapping[str, str] = field(kw_only=True, repr=False)
    check_url: Callable[[str], Awaitable[None]] | None = field(default=None, kw_only=True)
    may_read: Callable[[str], bool] | None = field(default=None, kw_only=True)


@frozen
class ToolImage:
    """An image that a call gave: base64 data and its MIME type."""

    data: str
    mime_type: str


@frozen
class ToolResult:
    """What came of a call: `text` and `images` for the model, `content` for the user (empty: the text is shown)."""

    text: str
    content: tuple[Content, ...] = ()
    failed: bool = False
    images: tuple[ToolImage, ...] = ()


class Preview(Protocol):
    """What an edit would do, shown while permission for it is asked."""

    async def __call__(self, args: Mapping[str, Any], context: ToolContext) -> tuple[Content, ...]:
        """Return the content (a diff) of a call that has not run; nothing is changed.

        Raises:
            ToolError: the call would fail like this. The text may quote the file: it may go to the model without
                asking only where reading that file is allowed.
        """
        ...


@frozen
class Tool:
    """A tool: `kind` is an ACP tool kind, `title` a template over the arguments, `locations` the names of the
    arguments that are paths, `url` the name of the one whose host is asked. `parameters` is a JSON Schema object that
    the arguments were checked against before `run` and `preview`. Both raise ToolError. `shown_kind` is for the eyes
    only: what a server says of its own tool. A tool that `asks_the_user` is a question itself: no other is put first.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any], ToolContext], Awaitable[ToolResult]] = field(eq=False)
    kind: str = "other"
    title: str = ""
    locations: tuple[str, ...] = ()
    url: str = ""
    shown_kind: str | None = None
    asks_the_user: bool = False
    preview: Preview | None = field(default=None, eq=False)
