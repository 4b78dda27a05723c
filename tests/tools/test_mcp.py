from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from attrs import evolve

from agentoml.config.schema import McpServer
from agentoml.config.vocabulary.notation import Duration, Secret
from agentoml.errors import ToolError
from agentoml.tools.mcp import McpServers, ServerStatus, client_servers
from agentoml.tools.mcp_server import Surroundings
from agentoml.tools.tool import ToolContext, ToolResult
from tools.notices import Notices
from tools.processes import is_gone

TINY = str(Path(__file__).with_name("tiny_mcp_server.py"))


def tiny(odd: str = "", notes: Path | None = None, **keys: object) -> McpServer:
    command = (sys.executable, "-I", TINY, odd, *((str(notes),) if notes else ()))
    return McpServer(command=command, **keys)  # type: ignore[arg-type]


@pytest.fixture
async def notices() -> Notices:
    return Notices()


@pytest.fixture
async def servers(context: ToolContext, notices: Notices) -> AsyncIterator[McpServers]:
    running = McpServers(Surroundings(context.cwd, context.roots, context.environment), notices)
    yield running
    await running.close()


async def call(servers: McpServers, name: str, context: ToolContext, **args: object) -> ToolResult:
    return await servers.tools()[f"mcp:tiny/{name}"].run(args, context)


def pids(notes: Path) -> set[int]:
    return {int(path.name.removeprefix("pid-")) for path in notes.glob("pid-*")}


async def ready(servers: McpServers, **declared: McpServer) -> None:
    servers.want(declared)
    await servers.settled()
    assert [status.state for status in servers.statuses()] == ["ready"] * len(declared), servers.statuses()


def test_the_library_is_not_imported_before_a_server_is_wanted() -> None:
    program = "import sys, agentoml.tools.mcp, agentoml.tools.built_in; print({'mcp', 'pydantic'} & sys.modules.keys())"
    source = Path(__file__).parents[2] / "framework"

    done = subprocess.run(
        (sys.executable, "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {program}"),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "set()\n"


async def test_the_tools_of_a_server_are_ours(servers: McpServers, context: ToolContext, notices: Notices) -> None:
    servers.want({"tiny": tiny()})
    assert servers.tools() == {}
    await servers.settled()

    tool = servers.tools()["mcp:tiny/echo"]
    assert (tool.kind, tool.shown_kind, tool.title) == ("other", "read", "tiny: echo")
    assert tool.description == "It is echo"
    assert tool.parameters["properties"] == {"text": {"type": "string"}}
    assert (await tool.run({"text": "hello"}, context)).text == "hello"
    assert notices.told == [ServerStatus("tiny", "ready", "", 10)]


async def test_images_failures_and_refusals_come_through(servers: McpServers, context: ToolContext) -> None:
    await ready(servers, tiny=tiny())

    picture = await call(servers, "picture", context, text="look")
    assert picture.text == "look"
    assert picture.images[0].mime_type == "image/png"
    assert [item["content"]["type"] for item in picture.content] == ["text", "image"]
    assert (await call(servers, "refuse", context, text="no")).failed
    with pytest.raises(ToolError, match="mcp:tiny/break failed: not like this"):
        await call(servers, "break", context)
    assert (await call(servers, "list_roots", context)).text == Path(context.cwd).as_uri()


async def test_a_cancelled_call_is_told_to_the_server_which_stays_usable(
    servers: McpServers, context: ToolContext, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "waiting")
    os.mkfifo(tmp_path / "cancelled")
    await ready(servers, tiny=tiny("", tmp_path))
    calling = asyncio.create_task(call(servers, "wait", context))
    waiting = await asyncio.to_thread((tmp_path / "waiting").read_text)
    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    assert await asyncio.to_thread((tmp_path / "cancelled").read_text) == waiting
    assert (await call(servers, "echo", context, text="still here")).text == "still here"


async def test_the_tools_of_a_server_that_dies_disappear(
    servers: McpServers, context: ToolContext, notices: Notices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hush-hush")
    await ready(servers, tiny=tiny(env={"TOKEN": Secret(env="MY_TOKEN")}))

    with pytest.raises(ToolError, match=r"the MCP server tiny ended during the call: crashed with \*{3}"):
        await call(servers, "crash", context)

    assert servers.tools() == {}
    assert notices.told[-1] == ServerStatus("tiny", "failed", "it ended: crashed with ***", 0, returns=True)


async def test_a_server_that_ended_by_itself_is_started_again_as_long_as_that_helps(
    servers: McpServers, context: ToolContext, notices: Notices
) -> None:
    await ready(servers, tiny=tiny())
    await call(servers, "echo", context, text="x")

    for returns in (True, True, True, False):  # the first time it had answered; then three times it did not
        with pytest.raises(ToolError, match="ended during the call"):
            await call(servers, "crash", context)
        assert notices.told[-1].returns is returns
        servers.restart_ended()
        await servers.settled()
    assert servers.statuses()[0].state == "failed"

    servers.want({})
    servers.want({"tiny": tiny()})
    await servers.settled()
    assert (await call(servers, "echo", context, text="again")).text == "again"


async def test_a_server_that_never_came_up_is_not_started_again(servers: McpServers, notices: Notices) -> None:
    servers.want({"tiny": tiny("dies")})
    await servers.settled()

    servers.restart_ended()

    assert [status.state for status in servers.statuses()] == ["failed"]
    assert not notices.told[-1].returns


async def test_tools_that_come_later_are_listed(servers: McpServers, context: ToolContext, notices: Notices) -> None:
    await ready(servers, tiny=tiny())

    await call(servers, "grow", context)

    await notices.until(lambda status: status.tools == 11)
    assert "mcp:tiny/grown" in servers.tools()


async def test_a_server_that_never_lists_its_tools_again_keeps_them_and_still_ends(
    servers: McpServers, context: ToolContext, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "listing")
    await ready(servers, tiny=tiny("forgetful", tmp_path))
    (owner,) = (task for task in asyncio.all_tasks() if task.get_name() == "mcp:tiny")

    await call(servers, "grow", context)
    await asyncio.to_thread((tmp_path / "listing").read_text)
    assert (await call(servers, "echo", context, text="still")).text == "still"
    servers.want({})

    await asyncio.wait_for(owner, 10)
    assert all(is_gone(pid) for pid in pids(tmp_path))


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (tiny("dies"), "it ended while starting: please set TOKEN"),
        (tiny("refusing"), "never heard of it"),
        (tiny("silent", startup_timeout=Duration(0.3)), "it did not start within 0.3 s"),
        (McpServer(command=("/no/such/server",)), "/no/such/server can't be started: No such file or directory"),
        (tiny(env={"TOKEN": Secret(env="NOBODY_SETS_THIS")}), "the environment variable NOBODY_SETS_THIS is not set"),
        (McpServer(url="http://127.0.0.1:1/mcp", transport="http"), ""),
    ],
)
async def test_a_server_that_does_not_start_says_why(
    servers: McpServers, notices: Notices, server: McpServer, said: str
) -> None:
    servers.want({"odd": server, "tiny": tiny()})
    await servers.settled()

    odd, fine = servers.statuses()
    assert odd.state == "failed"
    assert odd.problem.startswith(said)
    assert odd.problem
    assert fine.state == "ready"


async def test_what_a_server_prints_by_mistake_is_overlooked(servers: McpServers, context: ToolContext) -> None:
    await ready(servers, tiny=tiny("chatty"))

    assert (await call(servers, "echo", context, text="x")).text == "x"


async def test_a_server_gets_the_environment_of_child_processes_and_its_own_over_it(
    servers: McpServers, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hush")
    await ready(servers, tiny=tiny(env={"TOKEN": Secret(env="MY_TOKEN"), "HOME": "/elsewhere"}))

    environment = json.loads((await call(servers, "environment", context)).text)

    own = {"TOKEN": "hush", "HOME": "/elsewhere"}
    assert own.items() <= environment.items()
    assert environment.keys() - own.keys() - {"LC_CTYPE"} == context.environment.keys() - own.keys()


async def test_an_unchanged_server_keeps_its_process_and_a_changed_one_serves_until_the_new_one_does(
    servers: McpServers, context: ToolContext, notices: Notices, tmp_path: Path
) -> None:
    await ready(servers, tiny=tiny("", tmp_path))
    (first,) = pids(tmp_path)

    servers.want({"tiny": evolve(tiny("", tmp_path), name="Another name", tools=("e*",))})
    await servers.settled()
    assert pids(tmp_path) == {first}

    servers.want({"tiny": tiny("chatty", tmp_path)})
    assert (await call(servers, "echo", context, text="meanwhile")).text == "meanwhile"
    await servers.settled()
    assert len(pids(tmp_path)) == 2
    assert (await call(servers, "echo", context, text="after")).text == "after"
    await servers.close()
    assert all(is_gone(pid) for pid in pids(tmp_path))


async def test_a_removed_server_serves_until_the_turns_that_use_it_end(
    servers: McpServers, context: ToolContext, tmp_path: Path
) -> None:
    await ready(servers, tiny=tiny("", tmp_path))
    echo = servers.tools()["mcp:tiny/echo"]

    with servers.in_use():
        servers.want({})
        assert servers.tools()["mcp:tiny/echo"] is echo
        assert (await echo.run({"text": "still"}, context)).text == "still"
    assert servers.tools() == {}
    await servers.close()

    with pytest.raises(ToolError, match="not running"):
        await echo.run({}, context)


async def test_a_server_that_is_wanted_again_before_it_went_keeps_its_process(
    servers: McpServers, context: ToolContext, tmp_path: Path
) -> None:
    await ready(servers, tiny=tiny("", tmp_path))
    with servers.in_use():
        servers.want({})
        servers.want({"tiny": tiny("", tmp_path)})
    assert (await call(servers, "echo", context, text="still")).text == "still"
    assert len(pids(tmp_path)) == 1


async def test_a_server_that_is_removed_while_it_starts_anew_serves_as_it_was_until_the_turns_end(
    servers: McpServers, context: ToolContext, tmp_path: Path
) -> None:
    await ready(servers, tiny=tiny("", tmp_path))
    with servers.in_use():
        servers.want({"tiny": tiny("chatty", tmp_path)})
        servers.want({})
        assert (await call(servers, "echo", context, text="still")).text == "still"
    assert servers.tools() == {}
    await servers.close()
    assert all(is_gone(pid) for pid in pids(tmp_path))


async def test_servers_start_side_by_side_and_end_with_everything_they_started(
    context: ToolContext, tmp_path: Path
) -> None:
    servers = McpServers(Surroundings(context.cwd, context.roots, context.environment), lambda status: None)
    await ready(servers, tiny=tiny("", tmp_path), other=tiny("stubborn", tmp_path), third=tiny("", tmp_path))
    child = int((await call(servers, "spawn", context)).text)
    assert not is_gone(child)

    await servers.close()

    assert is_gone(child)
    assert len(pids(tmp_path)) == 3
    assert all(is_gone(pid) for pid in pids(tmp_path))


async def test_servers_that_are_starting_end_too(context: ToolContext, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")
    servers = McpServers(Surroundings(context.cwd, context.roots, context.environment), lambda status: None)
    servers.want({"silent": tiny("silent", tmp_path), "tiny": tiny("", tmp_path)})

    await servers.close()

    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_what_a_client_names_is_a_server_like_any_other() -> None:
    entries = [
        {"name": "a", "command": "x", "args": ["-y"], "env": [{"name": "K", "value": "v"}]},
        {"type": "http", "name": "b", "url": "http://h/", "headers": [{"name": "X", "value": "1"}]},
    ]

    assert client_servers(entries) == {
        "a": McpServer(command=("x", "-y"), env={"K": "v"}),
        "b": McpServer(url="http://h/", transport="http", headers={"X": "1"}),
    }
