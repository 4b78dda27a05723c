"""`agentoml status`, `agentoml reload` and SIGHUP, against real agents and their sockets."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_process import EVERYTHING, AgentProcess, agent_process, offered
from agentoml.cli import reload, status
from agentoml.control.client import NoAnswer, ask
from agentoml.control.places import folders, own_folder, socket_in
from agentoml.snapshot.inotify import inotify_hints

AGENT = """
schema = 1
[providers.offline]
adapter = "scripted"
replies.widen = { steps = [{ tool = "shell", args = { command = "cp wider.toml agent.toml" } }, { text = "Done." }] }
[models.one]
provider = "offline"
capabilities = ["tools"]
[options.model]
values_from = "models"
[mcp.docs]
enabled = false
command = ["docs-server"]
"""
TWO = '[models.two]\nprovider = "offline"\n'
WIDE = '[agent]\nauto_answers = "everything"\n'
HEARING = {**EVERYTHING, "_meta": {"agentoml": {"configChanged": {}}}}


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime directory of the test's own; its path is short, as that of a socket has to be."""
    folder = Path(tempfile.mkdtemp(prefix="agentoml"))
    (folder / "agentoml").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "agent.toml"
    file.write_text(AGENT, encoding="utf-8")
    return file


async def appears(path: Path) -> Path:
    """Wait until there is something at a path; its directory is there."""
    happened = asyncio.Event()
    watching = asyncio.create_task(inotify_hints((path.parent,), happened.set))
    try:
        async with asyncio.timeout(20):
            await asyncio.sleep(0)
            while not path.exists():
                await happened.wait()
                happened.clear()
    finally:
        watching.cancel()
    return path


async def listening(agent: AgentProcess, runtime: Path, config: Path) -> Path:
    """Wait until an agent listens, and return its socket."""
    return await appears(socket_in(runtime / "agentoml", agent.process.pid, config))


async def said(capsys: pytest.CaptureFixture[str], command: Any, *args: str) -> tuple[int, str]:
    code = await asyncio.to_thread(command.main, list(args))
    return code, capsys.readouterr().out


def states(agent: AgentProcess) -> list[str]:
    return [frame["params"]["state"] for frame in agent.frames if frame.get("method") == "_agentoml/config_changed"]


async def test_status_tells_what_is_served_and_what_is_wrong(
    config: Path, tmp_path: Path, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with agent_process(config, initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        await listening(agent, runtime, config)
        code, out = await said(capsys, status, str(config), "--format=json")
        [found] = json.loads(out)
        assert (code, found["pid"], found["config"]) == (0, agent.process.pid, str(config))
        [told] = found["served"]
        assert (told["project"], told["state"]) == (None, "in force")
        assert told["sessions"] == [{"id": session["sessionId"], "cwd": str(tmp_path), "turn": False}]
        assert (told["generation"], told["problems"], told["lastAttempt"]["trigger"]) == (1, [], "start")
        assert told["loadedAt"].endswith("+00:00")

        config.write_text(AGENT + "[models.two]\nprovidr = 1\n", encoding="utf-8")
        await agent.until(lambda: states(agent)[-1] == "rejected")
        code, out = await said(capsys, status, str(config))
        assert "last good configuration stays in force" in out
        assert f"agent.toml:{len(AGENT.splitlines()) + 2}:1: " in out


async def test_without_a_running_agent_that_is_said(
    config: Path, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await said(capsys, status, str(config)) == (1, f"no agent of {config} runs\n")
    assert await said(capsys, reload, str(config), "--wait") == (1, f"no agent of {config} runs\n")
    assert await said(capsys, status, str(config), "--format=json") == (1, "[]\n")


async def test_r60_a_reload_that_is_waited_for_says_how_it_ended(
    config: Path, tmp_path: Path, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        await listening(agent, runtime, config)
        config.write_text(AGENT + TWO, encoding="utf-8")
        code, out = await said(capsys, reload, str(config), "--wait", "--format=json")
        [[told]] = [found["served"] for found in json.loads(out)]
        assert (code, told["generation"]) == (0, 2)
        assert told["state"] in ("applied", "unchanged")  # the watcher may have been faster
        [update] = await agent.until(lambda: agent.updates("config_option_update"))
        assert offered(update["configOptions"][0]) == ["one", "two"]

        config.write_text(AGENT + "[models.two]\nprovidr = 1\n", encoding="utf-8")
        code, out = await said(capsys, reload, str(config), "--wait")
        assert code == 2
        assert "not taken over: not valid" in out
        assert "providr" in out
        assert await said(capsys, reload, str(config)) == (
            0,
            f"pid {agent.process.pid}  {config}\n  asked to reload\n",
        )


async def test_r61_a_dry_run_tells_what_widens_first_and_changes_nothing(
    config: Path, tmp_path: Path, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is held is not in force: so there is something to tell, however fast the watcher is."""
    answers = {
        "session/request_permission": lambda params: {
            "outcome": {
                "outcome": "selected",
                "optionId": "keep" if params["toolCall"]["toolCallId"].startswith("reload_") else "allow_once",
            }
        }
    }
    (tmp_path / "wider.toml").write_text(AGENT.replace('"docs-server"', '"docs-server", "--new"') + TWO + WIDE)
    async with agent_process(config, answers=answers, initialize=False) as agent:
        await agent.initialize(HEARING)
        session = await agent.new_session(tmp_path)
        await listening(agent, runtime, config)
        await agent.prompt(session, "widen")
        await agent.until(lambda: states(agent)[-1] == "held")
        code, out = await said(capsys, reload, str(config), "--dry-run", "--format=json")
        [[told]] = [found["served"] for found in json.loads(out)]
        assert (code, told["state"], told["restarts"]) == (3, "held", ["docs"])
        assert [change["widens"] for change in told["changes"]] == [True, True, False]
        assert told["sessions"] == [{"id": session["sessionId"], "cwd": str(tmp_path), "sees": ["model"]}]
        code, out = await said(capsys, reload, str(config), "--dry-run")
        assert out == (
            f"pid {agent.process.pid}  {config}\n"
            "  would wait for the user's answer in the editor\n"
            "  allows more than before:\n"
            "    ! [agent] auto_answers is [everything] instead of []\n"
            '    ! MCP server "docs" changed: command (it starts anew)\n'
            "  models:\n"
            '    model "two" added\n'
            "  MCP servers that would start anew: docs\n"
            "  1 of 1 session would see it\n"
            f"    {session['sessionId']}  {tmp_path}: model\n"
        )
        code, out = await said(capsys, status, str(config))
        assert "waits for the user's answer" in out
        assert agent.updates("config_option_update") == []
        assert states(agent) == ["applied", "held"]


async def test_two_agents_of_one_file_both_reload_and_both_are_told_about(
    config: Path, tmp_path: Path, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(config)
    async with agent_process(config) as one, agent_process(link) as two:
        for agent in (one, two):
            await agent.new_session(tmp_path)
            await listening(agent, runtime, config)
        config.write_text(AGENT + TWO, encoding="utf-8")
        code, out = await said(capsys, reload, str(config), "--wait", "--format=json")
        assert code == 0
        assert {entry["pid"] for entry in json.loads(out)} == {one.process.pid, two.process.pid}
        for agent in (one, two):
            [update] = await agent.until(lambda agent=agent: agent.updates("config_option_update"))
            assert offered(update["configOptions"][0]) == ["one", "two"]


async def test_a_socket_is_for_its_user_alone_and_goes_with_its_agent(
    config: Path, tmp_path: Path, runtime: Path
) -> None:
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        path = await listening(agent, runtime, config)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == []


async def test_the_socket_of_an_agent_that_was_killed_is_removed(
    config: Path, tmp_path: Path, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match="killed"):
        async with agent_process(config) as agent:
            await agent.new_session(tmp_path)
            path = await listening(agent, runtime, config)
            agent.process.kill()
            await agent.process.wait()
            raise AssertionError("killed")
    assert path.exists()
    code, _ = await said(capsys, status, str(config))
    assert (code, path.exists()) == (1, False)


async def test_an_agent_that_does_not_answer_holds_nobody_up(
    config: Path, tmp_path: Path, runtime: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentoml.control.client.ask.__defaults__", (0.2,))
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        await listening(agent, runtime, config)
        agent.process.send_signal(signal.SIGSTOP)
        try:
            code, out = await said(capsys, status, str(config))
        finally:
            agent.process.send_signal(signal.SIGCONT)
        assert (code, out) == (0, f"pid {agent.process.pid}\n  does not answer\n")


async def test_nonsense_on_the_socket_is_answered_and_harms_nothing(
    config: Path, tmp_path: Path, runtime: Path
) -> None:
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        path = await listening(agent, runtime, config)
        for line in (b"nonsense\n", b"[]\n", b'{"command": "confirm"}\n', b"x" * 100_000):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(str(path))
                connection.settimeout(20)
                try:
                    connection.sendall(line)
                    answer = await asyncio.to_thread(connection.recv, 4096)
                except (BrokenPipeError, ConnectionResetError):
                    answer = b""
            assert answer == b"" or "error" in json.loads(answer)
        with pytest.raises(NoAnswer, match="commands status and reload"):
            await asyncio.to_thread(ask, path, {"command": "confirm"})
        assert (await asyncio.to_thread(ask, path, {"command": "status"}))["pid"] == agent.process.pid


async def test_a_runtime_directory_that_others_can_enter_is_not_used(
    config: Path, tmp_path: Path, runtime: Path
) -> None:
    (runtime / "agentoml").chmod(0o777)
    elsewhere = folders()[-1]
    assert own_folder() == elsewhere
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        await appears(socket_in(elsewhere, agent.process.pid, config))
        assert list((runtime / "agentoml").iterdir()) == []


async def test_a_hangup_has_the_files_read_again(config: Path, tmp_path: Path, runtime: Path) -> None:
    async with agent_process(config) as agent:
        await agent.new_session(tmp_path)
        path = await listening(agent, runtime, config)
        agent.process.send_signal(signal.SIGHUP)
        [told] = (await asyncio.to_thread(ask, path, {"command": "reload", "wait": True}))["served"]
        assert (told["state"], told["generation"]) == ("unchanged", 1)
        assert (told["trigger"], told["attempt"]) in (("signal", 2), ("request", 3))
