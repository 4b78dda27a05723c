"""The tool `shell`: a command line, run in a terminal of the client or in a process group of ours."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentoml.errors import ConnectionLost, RemoteError, ToolError
from agentoml.tools.clipping import HeadAndTail, fenced
from agentoml.tools.processes import run_process
from agentoml.tools.tool import Content, Tool, ToolContext, ToolResult
from agentoml.wire.messages import content_item, terminal_item, text_block

if TYPE_CHECKING:
    from asyncio import Future, TimerHandle

DEFAULT_SECONDS = 120.0
HEAD_CHARACTERS = 8_000
TAIL_CHARACTERS = 24_000
LIVE_CHARACTERS = 4_000
LIVE_SECONDS = 0.1
CREATION_SECONDS = 2.0

Args = Mapping[str, Any]


async def shell(args: Args, context: ToolContext) -> ToolResult:
    """Run a command line in the session's working directory: in a terminal of the client where it offers one."""
    timeout = args.get("timeout") or DEFAULT_SECONDS
    program = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
    argv = (program, "-c", args["command"])
    if context.client.can_terminal:
        return await run_in_client(argv, context, timeout)
    return await run_here(argv, context, timeout)


async def run_here(argv: Sequence[str], context: ToolContext, timeout: float) -> ToolResult:
    """Run a program in a process group of ours, showing its output while it comes.

    Raises:
        ToolError: it can't be started.
    """
    live = LiveOutput(context)
    try:
        ended = await run_process(
            argv, cwd=context.cwd, environment=context.environment, timeout=timeout, take=live.take
        )
    finally:
        live.close()
    if ended.timed_out:
        how = _stopped(timeout)
    else:
        how = f"[exit code {ended.code}]" if ended.code >= 0 else f"[ended by {_signal_name(-ended.code)}]"
    text = _told(live.kept.text, how)
    return ToolResult(text, _shown(text), failed=ended.timed_out or ended.code != 0)


async def run_in_client(argv: Sequence[str], context: ToolContext, timeout: float) -> ToolResult:
    """Run a program in a terminal of the client, which shows it live; the terminal is always released.

    Raises:
        ToolError: the client can't run it.
    """
    import asyncio

    client, session_id = context.client, context.session_id
    timed_out = False
    try:
        terminal = await _created_terminal(argv, context)
        try:
            content = (terminal_item(terminal),)
            context.report(content)
            try:
                async with asyncio.timeout(timeout):
                    ended = await client.terminal_wait_for_exit(session_id, terminal)
            except TimeoutError:
                timed_out = True
                await client.terminal_kill(session_id, terminal)
            output = await client.terminal_output(session_id, terminal)
        finally:
            await _released(context, terminal)
    except RemoteError as error:
        raise ToolError(f"the client's terminal failed: {error.message}") from None
    if timed_out:
        how = _stopped(timeout)
    else:
        how = f"[exit code {ended.code}]" if ended.code is not None else f"[ended by {ended.signal or 'a signal'}]"
    start = "[... the beginning is left out ...]\n" if output.truncated else ""
    return ToolResult(_told(start + output.text, how), content, failed=timed_out or ended.code != 0)


async def _created_terminal(argv: Sequence[str], context: ToolContext) -> str:
    """Return a new terminal of the client. What the agent's own children may not see is empty there."""
    import asyncio

    withheld = {name: "" for name in os.environ if name not in context.environment}
    creating = asyncio.ensure_future(
        context.client.terminal_create(
            context.session_id, argv, env=withheld, cwd=context.cwd, output_limit=HEAD_CHARACTERS + TAIL_CHARACTERS
        )
    )
    try:
        return await asyncio.shield(creating)
    except asyncio.CancelledError:
        releasing = asyncio.ensure_future(_released_when_made(creating, context))
        await asyncio.wait((releasing,), timeout=CREATION_SECONDS)
        raise


async def _released_when_made(creating: Future[str], context: ToolContext) -> None:
    """Release a terminal that nobody waits for any more, however late the client answers: it may have made it (A46)."""
    with suppress(RemoteError, ConnectionLost):
        await _released(context, await creating)


async def _released(context: ToolContext, terminal: str) -> None:
    """Give a terminal back, which also kills what still runs in it; cancelling does not keep it."""
    import asyncio

    async def release() -> None:
        with suppress(RemoteError, ConnectionLost):
            await context.client.terminal_release(context.session_id, terminal)

    await asyncio.shield(release())


def _stopped(timeout: float) -> str:
    return f"[stopped after {timeout:g} s]"


def _told(output: str, how: str) -> str:
    body = output if not output or output.endswith("\n") else output + "\n"
    return (body or "[no output]\n") + how


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
            self._report(_shown(self.kept.last(LIVE_CHARACTERS)))
            self._timer = self._loop.call_later(LIVE_SECONDS, self._show)


def _shown(text: str) -> tuple[Content, ...]:
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
