"""What stands in examples/ runs, and does what it says: each through the real process, as a client sees it."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent_process import RequestFailed, offered, shown
from agentoml.cli.main import main as command_line
from conversation import Conversation, Verdict, conversation
from servers import http_server, openai

pytestmark = pytest.mark.usefixtures("own_home")

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = sorted([*EXAMPLES.glob("*.toml"), *EXAMPLES.glob("*/agent.toml")])
MCP_SERVER = Path(__file__).parent / "tools" / "tiny_mcp_server.py"


@contextlib.asynccontextmanager
async def example(config: Path, project: Path, answer: str = "allow_once") -> AsyncIterator[Conversation]:
    """Open a session with an example in a project that has what the replies touch."""
    (project / "notes.md").write_text("one\ntwo\n", encoding="utf-8")
    (project / "Makefile").write_text("test:\n\t@echo passed\n", encoding="utf-8")
    async with conversation(config, project, answer) as talk:
        yield talk


def on_loopback(config: Path, url: str, folder: Path, models: Sequence[str] = ("quick", "deep")) -> Path:
    """The same agent with a real provider in the place of the prepared replies."""
    overlay = folder / "overlay.toml"
    text = f'''
        schema = 1
        extends = ["{config}"]
        providers.loopback = {{ adapter = "openai", base_url = "{url}/v1" }}
    ''' + "".join(f'models.{model}.provider = "loopback"\n' for model in models)
    overlay.write_text(text, encoding="utf-8")
    return overlay


def system(request: http_server.Request) -> str:
    first = request.json["messages"][0]
    return str(first["content"]) if first["role"] == "system" else ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(EXAMPLES)))
def test_every_example_is_valid_short_and_says_what_to_try(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["check", str(file)]) == 0
    shown_text = capsys.readouterr().out
    assert re.fullmatch(r"(?:.* forces .*\n)*\n?OK: [^;\n]*\n", shown_text), "not even a warning"
    text = file.read_text(encoding="utf-8")
    header = text[: text.index("schema = 1")]
    assert file.name == "rehearsal.toml" or f"agentoml chat examples/{file.relative_to(EXAMPLES)}" in header
    assert len([line for line in text.splitlines() if line and not line.startswith("#")]) <= 40


def test_the_list_of_examples_names_every_one() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    names = {str(file.relative_to(EXAMPLES)) for file in FILES} | {"demo.py"}
    assert set(re.findall(r"^\| \[`([^`]+)`\]\(\1\)", text, re.MULTILINE)) == names


def test_the_demo_happens_and_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-P", str(EXAMPLES / "demo.py")]
    environment = {"PATH": "", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50, check=False)
    shown = done.stdout
    assert done.returncode == 0, shown + done.stderr
    in_order = ["answered: Allow once", "mode: code -> plan", "- thought_level", "+ mode audit", "refused: "]
    in_order += ["! The configuration is not valid", "+ mode release", "! The configuration is valid again"]
    places = [shown.index(text) for text in in_order]
    assert places == sorted(places)
    assert "agent.toml:" in shown and str(tmp_path) not in shown and "\x1b" not in shown
    assert list(tmp_path.glob("agentoml-demo-*")) == []


async def test_hello_answers_and_asks_before_it_changes_anything(tmp_path: Path) -> None:
    async with example(EXAMPLES / "hello.toml", tmp_path) as talk:
        assert talk.session.get("configOptions", []) == []
        assert "You said: good morning" in await talk.said("good morning")
    calls = openai.calls(("1", "write_file", {"path": "notes.md", "content": "new"}))
    async with http_server.HttpServer(calls, openai.says("Done.")) as server:
        async with example(on_loopback(EXAMPLES / "hello.toml", server.url, tmp_path, ["echo"]), tmp_path) as talk:
            assert await talk.verdict("write") == "asked"


async def test_approval_panel_each_switch_answers_its_own_questions(tmp_path: Path) -> None:
    async with example(EXAMPLES / "approval-panel.toml", tmp_path) as talk:
        assert [await talk.verdict(words) for words in ("write", "test", "push")] == ["asked", "asked", "asked"]
        await talk.set("edits", True)
        assert [await talk.verdict(words) for words in ("write", "test", "push")] == ["ran", "asked", "asked"]
        await talk.set("edits", False)
        await talk.set("tests", True)
        assert [await talk.verdict(words) for words in ("write", "test", "push")] == ["asked", "ran", "asked"]
        await talk.set("commands", True)
        assert await talk.verdict("push") == "asked"


async def test_approve_for_this_prompt_ends_with_the_turn_and_says_so(tmp_path: Path) -> None:
    async with example(EXAMPLES / "approve-for-this-prompt.toml", tmp_path) as talk:
        assert await talk.set("approve", True) == {"approve": True}
        assert await talk.verdict("write") == "ran"
        assert [shown(update["configOptions"]) for update in talk.agent.updates("config_option_update")] == [
            {"approve": False}
        ]
        assert await talk.verdict("write") == "asked"


async def test_yolo_keeps_what_the_base_denies_and_always_asks(tmp_path: Path) -> None:
    async with example(EXAMPLES / "yolo-with-denials.toml", tmp_path) as talk:
        assert [await talk.verdict(words) for words in ("write", "secret", "push")] == ["ran", "denied", "asked"]
        await talk.set("mode", "code")
        assert [await talk.verdict(words) for words in ("write", "secret", "push")] == ["asked", "denied", "asked"]
        assert not (tmp_path / ".env").exists()


async def test_dont_ask_denies_what_would_be_asked_but_for_what_was_approved(tmp_path: Path) -> None:
    async with example(EXAMPLES / "dont-ask.toml", tmp_path) as talk:
        assert [await talk.verdict(words) for words in ("read", "test", "write")] == ["ran", "ran", "denied"]
        await talk.set("mode", "code")
        assert [await talk.verdict(words) for words in ("test", "write")] == ["asked", "asked"]


async def test_plan_and_act_remember_a_model_each(tmp_path: Path) -> None:
    async with example(EXAMPLES / "plan-and-act.toml", tmp_path) as talk:
        assert shown(talk.options()) == {"mode": "plan", "model": "deep", "thought_level": "high"}
        assert await talk.verdict("write") == "denied"
        assert await talk.set("mode", "act") == {"mode": "act", "model": "quick"}
        assert await talk.set("model", "deep") == {"mode": "act", "model": "deep", "thought_level": "medium"}
        await talk.set("mode", "plan")
        assert (await talk.set("model", "quick"))["model"] == "quick"
        assert (await talk.set("mode", "act"))["model"] == "deep"
        assert (await talk.set("mode", "plan"))["model"] == "quick"
        await talk.set("mode", "act")
        assert await talk.verdict("write") == "asked"


async def test_a_locked_audit_holds_its_model_and_shows_only_what_reads(tmp_path: Path) -> None:
    async with http_server.HttpServer(openai.says("Looked.")) as server:
        async with example(on_loopback(EXAMPLES / "locked-audit.toml", server.url, tmp_path), tmp_path) as talk:
            assert await talk.set("mode", "audit") == {"mode": "audit", "model": "deep"}
            assert await talk.listed("model") == ["deep"]
            with pytest.raises(RequestFailed) as refused:
                await talk.set("model", "quick")
            assert (refused.value.code, refused.value.data["forcedBy"]) == (
                -32602,
                {"configId": "mode", "value": "audit"},
            )
            await talk.said("look")
    assert {tool["function"]["name"] for tool in server.requests[0].json["tools"]} == {
        "read_file",
        "list_files",
        "search_files",
    }
    async with example(EXAMPLES / "locked-audit.toml", tmp_path) as talk:
        await talk.set("mode", "audit")
        assert "There is no tool 'write_file'" in await talk.said("write")
        assert await talk.verdict("read") == "ran"


async def test_the_provider_filters_the_models(tmp_path: Path) -> None:
    async with example(EXAMPLES / "provider-then-model.toml", tmp_path) as talk:
        assert shown(talk.options()) == {"provider": "rehearsal", "model": "deep"}
        assert await talk.listed("model") == ["quick", "deep"]
        assert await talk.set("provider", "studio") == {"provider": "studio", "model": "dancer"}
        assert await talk.listed("model") == ["singer", "dancer"]
        with pytest.raises(RequestFailed):
            await talk.set("model", "quick")


async def test_effort_has_a_default_that_sends_nothing(tmp_path: Path) -> None:
    async with http_server.HttpServer(*[openai.says("Yes.")] * 3) as server:
        async with example(on_loopback(EXAMPLES / "effort.toml", server.url, tmp_path), tmp_path) as talk:
            assert await talk.listed("effort") == ["default", "low", "medium", "high"]
            await talk.said("one")
            await talk.set("effort", "high")
            await talk.said("two")
            await talk.set("effort", "default")
            await talk.said("three")
            with pytest.raises(RequestFailed) as refused:
                await talk.set("effort", "extreme")
            assert refused.value.code == -32602
            assert await talk.set("model", "quick") == {"model": "quick"}
    assert [request.json.get("reasoning_effort") for request in server.requests] == [None, "high", None]


async def test_every_server_has_a_switch_and_one_that_is_on_has_tools(tmp_path: Path) -> None:
    async with http_server.HttpServer(*[openai.says("Yes.")] * 2) as server:
        config = on_loopback(EXAMPLES / "servers.toml", server.url, tmp_path)
        command = f'\n[mcp.time]\ncommand = ["{sys.executable}", "{MCP_SERVER}"]\n'
        config.write_text(config.read_text(encoding="utf-8") + command, encoding="utf-8")
        async with example(config, tmp_path) as talk:
            assert shown(talk.options()) == {"servers/git": False, "servers/time": False}
            assert talk.option("servers/git")["name"] == "Git"
            await talk.said("one")
            assert await talk.set("servers/time", True) == {"servers/git": False, "servers/time": True}
            await talk.said("two")
    told = [{tool["function"]["name"] for tool in request.json["tools"]} for request in server.requests]
    assert {name for name in told[1] - told[0] if name.startswith("mcp__time__")} == told[1] - told[0] != set()


async def test_a_persona_restricts_whatever_the_mode(tmp_path: Path) -> None:
    async with http_server.HttpServer(*[openai.says("Yes.")] * 2) as server:
        async with example(on_loopback(EXAMPLES / "persona.toml", server.url, tmp_path), tmp_path) as talk:
            await talk.said("one")
            await talk.set("persona", "teacher")
            await talk.said("two")
    assert ["Explain each step" in system(request) for request in server.requests] == [False, True]
    async with example(EXAMPLES / "persona.toml", tmp_path) as talk:
        assert await talk.verdict("write") == "asked"
        await talk.set("persona", "teacher")
        assert await talk.verdict("write") == "denied"


@pytest.mark.parametrize(
    ("answer", "picked", "verdict"),
    [
        ("0", {"mode": "code", "edits": True}, "ran"),
        ("1", {"mode": "code", "edits": False}, "asked"),
        ("2", {"mode": "plan", "edits": False}, "denied"),
    ],
)
async def test_each_answer_to_the_plan_switches(
    answer: str, picked: dict[str, object], verdict: Verdict, tmp_path: Path
) -> None:
    async with example(EXAMPLES / "plan-question.toml", tmp_path, answer) as talk:
        assert "The user chose" in await talk.said("go")
        [asked] = [frame for frame in talk.agent.frames if frame.get("method") == "session/request_permission"]
        assert [option["kind"] for option in asked["params"]["options"]] == ["allow_once", "allow_once", "reject_once"]
        assert shown(talk.options()) == picked
        talk.agent.frames.clear()
        assert await talk.verdict("write") == verdict


async def test_commands_bring_a_mode_along_or_switch_for_good(tmp_path: Path) -> None:
    async with example(EXAMPLES / "commands.toml", tmp_path) as talk:
        await talk.agent.until(lambda: talk.agent.updates("available_commands_update"))
        [told] = talk.agent.updates("available_commands_update")
        assert [command["name"] for command in told["availableCommands"]] == ["review", "careful"]
        assert "Review the diff of this branch. naming" in await talk.said("/review naming")
        modes = [update["currentModeId"] for update in talk.agent.updates("current_mode_update")]
        assert modes == ["review", "code"]
        await talk.said("/careful")
        assert shown(talk.options()) == {"mode": "review"}


async def test_a_tool_without_code_runs_as_it_was_declared(tmp_path: Path) -> None:
    async with example(EXAMPLES / "tool-without-code.toml", tmp_path) as talk:
        assert await talk.verdict("count") == "ran"
        assert "2 notes.md" in talk.agent.said()
        [call] = talk.agent.updates("tool_call")
        assert (call["kind"], call["title"]) == ("read", "Count the lines of notes.md")
        assert call["locations"] == [{"path": str(tmp_path / "notes.md")}]


async def test_a_rule_that_a_gated_test_holds_can_not_be_saved_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    config = tmp_path / "examples" / "tested.toml"
    assert command_line(["test", str(config)]) == 0
    assert "2 tests: all hold" in capsys.readouterr().out
    text = config.read_text(encoding="utf-8")
    async with example(config, tmp_path) as talk:
        assert await talk.set("mode", "yolo") == {"mode": "yolo", "model": "deep", "thinking": "high"}
        config.write_text(text.replace('action = "always_ask"', 'action = "allow"'), encoding="utf-8")
        await talk.agent.until(lambda: any("AGT208" in line for line in talk.agent.errors))
        assert await talk.verdict("push") == "asked"


async def test_a_catalog_is_swapped_under_an_open_session(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    config, project = tmp_path / "examples" / "hot-swap" / "agent.toml", tmp_path / "project"
    project.mkdir()
    catalog = config.with_name("catalog.toml")
    listed = catalog.read_text(encoding="utf-8")
    async with example(config, project) as talk:
        assert await talk.listed("model") == ["house-2", "house-1", "quick", "deep"]
        assert await talk.set("model", "house-1") == {"model": "house-1"}

        more = '\n[models.house-3]\nprovider = "rehearsal"\nreleased = 2026-10-01\n'
        catalog.write_text(listed + more, encoding="utf-8")
        await talk.agent.until(
            lambda: offered(talk.option("model")) == ["house-3", "house-2", "house-1", "quick", "deep"]
        )
        assert shown(talk.options()) == {"model": "house-1"}

        renamed = listed.replace("[models.house-1]", '[models.old-house]\naliases = ["house-1"]')
        catalog.write_text(renamed, encoding="utf-8")
        await talk.agent.until(lambda: shown(talk.options()) == {"model": "old-house"})

        catalog.write_text(listed[: listed.index("[models.house-1]")], encoding="utf-8")
        await talk.agent.until(lambda: shown(talk.options()) == {"model": "house-2"})
        assert await talk.listed("model") == ["house-2", "quick", "deep"]
