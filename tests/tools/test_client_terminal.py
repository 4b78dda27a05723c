from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from attrs import evolve

from agentoml.errors import ToolError
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.tool import ToolContext
from tools.editor import Editor, editor_client
from tools.fakes import Shown

shell = built_in_tools()["shell"].run


@pytest.fixture
async def editor() -> Editor:
    return Editor()


@pytest.fixture
async def in_editor(context: ToolContext, editor: Editor) -> AsyncIterator[ToolContext]:
    async with editor_client(editor) as client:
        yield evolve(context, client=client)


async def test_a_command_runs_in_the_clients_terminal_and_is_shown_there(
    in_editor: ToolContext, editor: Editor, shown: Shown
) -> None:
    result = await shell({"command": "pwd; exit 3"}, in_editor)

    assert result.text == f"{in_editor.cwd}\n[exit code 3]"
    assert result.failed
    assert result.content == ({"type": "terminal", "terminalId": "t1"},)
    assert shown.contents == [result.content]
    assert editor.asked == ["create", "wait_for_exit", "output", "release"]
    assert editor.created[0]["outputByteLimit"] > 0


async def test_a_secret_is_empty_in_the_clients_terminal(
    in_editor: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "hush")

    assert (await shell({"command": "echo [$GATEWAY_KEY]"}, in_editor)).text == "[]\n[exit code 0]"


async def test_when_time_is_up_the_terminal_is_killed_read_and_released(in_editor: ToolContext, editor: Editor) -> None:
    result = await shell({"command": "exec sleep 300", "timeout": 0.1}, in_editor)

    assert result.text == "[no output]\n[stopped after 0.1 s]"
    assert result.failed
    assert editor.asked == ["create", "wait_for_exit", "kill", "output", "release"]


async def test_a_cancelled_call_releases_its_terminal(in_editor: ToolContext, editor: Editor) -> None:
    running = asyncio.create_task(shell({"command": "exec sleep 300"}, in_editor))
    await editor.waiting.wait()
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await editor.released.wait()
    assert editor.terminals == {}


async def test_a_call_cancelled_while_the_terminal_is_made_releases_it_too(
    in_editor: ToolContext, editor: Editor
) -> None:
    editor.hold = asyncio.Event()
    running = asyncio.create_task(shell({"command": "exec sleep 300"}, in_editor))
    await editor.creating.wait()
    running.cancel()
    editor.hold.set()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert editor.asked == ["create", "release"]
    assert editor.terminals == {}


async def test_a_call_that_is_cancelled_again_meanwhile_releases_it_all_the_same(
    in_editor: ToolContext, editor: Editor
) -> None:
    editor.hold = asyncio.Event()
    running = asyncio.create_task(shell({"command": "exec sleep 300"}, in_editor))
    await editor.creating.wait()
    running.cancel()
    await asyncio.wait((running,), timeout=0)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert editor.asked == ["create"]
    editor.hold.set()
    await editor.released.wait()
    assert editor.asked == ["create", "release"]


async def test_what_the_client_refuses_is_a_clear_error(
    in_editor: ToolContext, editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(self: Editor, params: dict[str, Any]) -> dict[str, Any]:
        self.terminals.clear()
        return {"terminalId": "t9"}

    monkeypatch.setattr(Editor, "create", refused)
    editor_again = Editor()
    async with editor_client(editor_again) as client:
        with pytest.raises(ToolError, match="the client's terminal failed: no such terminal"):
            await shell({"command": "true"}, evolve(in_editor, client=client))
    assert editor_again.asked == ["wait_for_exit", "release"]
