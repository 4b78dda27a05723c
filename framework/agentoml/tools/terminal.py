"""The tool `shell`: a command line, run in a process group of ours."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentoml.tools.clipping import HeadAndTail, fenced
from agentoml.tools.processes import Ended, run_process
from agentoml.tools.tool import Content, Tool, ToolContext, ToolResult
from agentoml.wire.messages import content_item, text_block

if TYPE_CHECKING:
    from asyncio import TimerHandle

DEFAULT_SECONDS = 120.0
HEAD_CHARACTERS = 8_000
TAIL_CHARACTERS = 24_000
LIVE_CHARACTERS = 4_000
LIVE_SECONDS = 0.1

Args = Mapping[str, Any]


async def shell(args: Args, context: ToolContext) -> ToolResult:
    """Run a command line in the session's working directory."""
    timeout = args.get("timeout") or DEFAULT_SECONDS
    live = LiveOutput(context)
    program = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
    try:
        ended = await run_process(
            (program, "-c", args["command"]),
            cwd=context.cwd,
            environment=context.environment,
            timeout=timeout,
            take=live.take,
        )
    finally:
        live.close()
    return process_result(live.kept.text, ended, timeout)


def process_result(output: str, ended: Ended, timeout: float | None) -> ToolResult:
    """Return what is told of a process that ended: its output, then how it ended."""
    if ended.timed_out:
        note = f"[stopped after {timeout:g} s; a longer timeout may be given]"
    elif ended.code < 0:
        note = f"[ended by {_signal_name(-ended.code)}]"
    else:
        note = f"[exit code {ended.code}]"
    body = output if not output or output.endswith("\n") else output + "\n"
    text = (body or "[no output]\n") + note
    return ToolResult(text, (content_item(text_block(fenced(text))),), failed=ended.timed_out or ended.code != 0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class LiveOutput:
    """Output that is kept within bounds and shown while it comes, a few times a second at most."""

    def __init__(self, context: ToolContext) -> None:
        import asyncio

        self.kept = HeadAndTail(HEAD_CHARACTERS, TAIL_CHARACTERS)
        self._report = context.report
        self._loop = asyncio.get_running_loop()
        self._timer: TimerHandle | None = None
        self._unseen = False

    def take(self, data: bytes) -> None:
        """Keep more output, and show it soon."""
        self.kept.feed(data)
        self._unseen = True
        if self._timer is None:
            self._show()

    def close(self) -> None:
        """Show nothing more."""
        self.kept.feed(b"", final=True)
        if self._timer is not None:
            self._timer.cancel()

    def _show(self) -> None:
        self._timer = None
        if self._unseen:
            self._unseen = False
            self._report(live_content(self.kept.last(LIVE_CHARACTERS)))
            self._timer = self._loop.call_later(LIVE_SECONDS, self._show)


def live_content(text: str) -> tuple[Content, ...]:
    """Return output as users see it."""
    return (content_item(text_block(fenced(text))),)


SHELL = Tool(
    "shell",
    "Run a command line with bash in the working directory and return its output and exit code. It has no input. "
    "What it leaves running in the background ends with it.",
    {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command line"},
            "timeout": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": f"Seconds after which it is stopped; {DEFAULT_SECONDS:g} where left out",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    shell,
    "execute",
    "Run {command}",
)
