from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agentoml.errors import ToolError
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.clipping import HeadAndTail, fenced
from agentoml.tools.processes import run_process
from agentoml.tools.tool import ToolContext
from tools.fakes import Shown
from tools.processes import is_gone

shell = built_in_tools()["shell"].run


async def shown_text(shown: Shown) -> str:
    """Wait for the first content that is reported."""
    first: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def seen(content: tuple[object, ...]) -> None:
        if not first.done():
            first.set_result(content[0]["content"]["text"])  # type: ignore[index]

    shown.listeners.append(seen)
    return await first


async def test_output_and_exit_code_are_told(context: ToolContext, tmp_path: Path) -> None:
    result = await shell({"command": "pwd; echo oops >&2; exit 3"}, context)

    assert result.text == f"{tmp_path}\noops\n[exit code 3]"
    assert result.failed
    assert result.content[0]["content"]["text"] == f"```\n{tmp_path}\noops\n[exit code 3]\n```"


async def test_no_output_is_said(context: ToolContext) -> None:
    result = await shell({"command": "true"}, context)

    assert result.text == "[no output]\n[exit code 0]"
    assert not result.failed


async def test_there_is_no_input_and_no_secret(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {**os.environ, "KEPT": "yes", "UNSAID": "hush"}
    monkeypatch.setenv("GATEWAY_KEY", "secret")
    with_secret = ToolContext("s", "c", context.cwd, (), context.client, context.report, environment=environment)

    result = await shell({"command": "cat; echo ${GATEWAY_KEY-none} $KEPT"}, with_secret)

    assert result.text == "none yes\n[exit code 0]"
    assert "hush" not in repr(with_secret)


async def test_output_is_shown_while_it_comes(context: ToolContext, shown: Shown, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    running = asyncio.create_task(shell({"command": "echo first; cat go; echo second"}, context))

    assert await shown_text(shown) == "```\nfirst\n```"
    await asyncio.to_thread((tmp_path / "go").write_text, "")

    assert (await running).text == "first\nsecond\n[exit code 0]"


async def test_much_output_keeps_its_head_and_its_tail(context: ToolContext) -> None:
    result = await shell({"command": "seq 1 200000"}, context)

    assert result.text.startswith("1\n2\n3\n")
    assert result.text.endswith("199999\n200000\n[exit code 0]")
    assert "characters left out" in result.text
    assert len(result.text) < 40_000


async def test_time_up_stops_the_whole_group(context: ToolContext, tmp_path: Path) -> None:
    result = await shell({"command": "sleep 300 & echo $! > pid; wait", "timeout": 1}, context)

    assert "stopped after 1 s" in result.text
    assert result.failed
    assert is_gone(int((tmp_path / "pid").read_text()))


async def test_cancel_stops_even_what_ignores_sigterm(context: ToolContext, shown: Shown, tmp_path: Path) -> None:
    running = asyncio.create_task(
        shell({"command": "trap '' TERM; sleep 300 & echo $! > pid; echo up; while :; do wait; done"}, context)
    )
    await shown_text(shown)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert is_gone(int((tmp_path / "pid").read_text()))


async def test_what_runs_on_in_the_background_ends_with_the_command(context: ToolContext, tmp_path: Path) -> None:
    held = await shell({"command": "sleep 300 & echo $! > held; echo done"}, context)
    silent = await shell({"command": "sleep 300 >/dev/null 2>&1 & echo $! > silent"}, context)

    assert held.text == "done\n[exit code 0]"
    assert not silent.failed
    assert is_gone(int((tmp_path / "held").read_text()))
    assert is_gone(int((tmp_path / "silent").read_text()))


async def test_an_end_by_signal_is_named(context: ToolContext) -> None:
    assert (await shell({"command": "kill -9 $$"}, context)).text == "[no output]\n[ended by SIGKILL]"


async def test_what_cannot_be_started_is_an_error(context: ToolContext, tmp_path: Path) -> None:
    async def run(program: str, cwd: str) -> None:
        await run_process((program,), cwd=cwd, environment={}, timeout=None, take=lambda data: None)

    with pytest.raises(ToolError, match="No such file"):
        await run("/no/such/program", str(tmp_path))
    with pytest.raises(ToolError, match="no directory"):
        await run("/bin/sh", str(tmp_path / "gone"))


def test_a_character_cut_in_two_pieces_is_whole() -> None:
    kept = HeadAndTail(3, 3)
    for byte in "äöüäöüß".encode():
        kept.feed(bytes([byte]))
    kept.feed(b"", final=True)

    assert kept.text == "äöü\n[... 1 characters left out ...]\nöüß"


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert fenced("```\nx\n```") == "````\n```\nx\n```\n````"
