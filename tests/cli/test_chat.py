"""`agentoml chat` as a user meets it: on a terminal, through a pipe, with one prompt."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentoml import assets
from agentoml.cli.chat import approval, rejection
from agentoml.cli.chat_client import run_command
from agentoml.wire import messages
from cli.terminal import Terminal

FAKE_AGENT = Path(__file__).with_name("fake_agent.py")
PROGRAM = (
    "import sys; from agentoml.cli import chat\n"
    f"chat.run_command = lambda config, settings: [sys.executable, '-P', {str(FAKE_AGENT)!r}]\n"
    "sys.exit(chat.main(sys.argv[1:]))"
)


def chat(
    *args: str, typed: str = "", cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", PROGRAM, *args]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(
        command, input=typed, cwd=cwd, env=environment, capture_output=True, text=True, timeout=30, check=False
    )


def test_lines_from_a_pipe_are_prompts_and_commands(tmp_path: Path) -> None:
    typed = "hello\n/set model opus\n/set model opus\n/set nope\n/mode\n/mode plan\n/nope\nlog\n/quit\nnever\n"
    done = chat(typed=typed, cwd=tmp_path)
    shown = done.stdout.splitlines()
    assert shown[:3] == ["Fake 1.0 · /help", "> hello", "Let me think"]
    assert "# Hello" in shown and "1,200 of 200,000 tokens (0 %) · 0.5000 USD" in shown
    assert "model: sonnet -> opus" in shown and "mode: code -> plan" in shown
    assert "model: opus, as before" in shown
    assert "error: no option `nope`; there are: mode, model, fast" in shown
    assert "* code  Code" in shown
    assert "no command /nope; /help lists what there is" in shown
    assert "> never" not in shown
    assert done.stderr == "a line for the log\n"
    assert done.returncode == 1  # a command went wrong


def test_one_prompt_prints_the_answer_alone_and_the_rest_aside(tmp_path: Path) -> None:
    done = chat("-p", "hello", cwd=tmp_path)
    assert done.stdout == "# Hello\n\nI am *fake*.\n\n- one\n- two\n"
    assert "Let me think" in done.stderr and "1,200 of" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("args", "answered"), [([], "no"), (["--yes"], "once"), (["--allow", "edit"], "once"), (["--allow", "read"], "no")]
)
def test_where_nobody_can_be_asked_only_what_was_allowed_runs(args: list[str], answered: str, tmp_path: Path) -> None:
    done = chat(*args, "-p", "edit", cwd=tmp_path)
    assert done.stdout == f"answered: {answered}\n"
    assert "  -two\n  +2\n" in done.stderr
    assert ("rejected, nobody can be asked" in done.stderr) == (answered == "no")


def test_the_help_of_yes_says_what_it_never_answers(tmp_path: Path) -> None:
    told = " ".join(chat("--help", cwd=tmp_path).stdout.split())
    assert "whether a project is trusted, or an edited configuration may allow more, stays your answer" in told


def test_a_kind_of_tool_that_does_not_exist_can_not_be_allowed(tmp_path: Path) -> None:
    done = chat("--allow", "edits", "-p", "edit", cwd=tmp_path)
    assert done.returncode == 2 and "invalid choice: 'edits'" in done.stderr


@pytest.mark.parametrize("prompt", ["fail", "die", "refuse"])
def test_a_turn_that_does_not_end_well_is_a_failure(prompt: str, tmp_path: Path) -> None:
    done = chat("-p", prompt, cwd=tmp_path)
    assert done.returncode == 1
    wanted = {"die": "exit code 3", "refuse": "error: no images (path: $.prompt[0]; available: text)"}
    assert wanted.get(prompt, "") in done.stderr


def test_an_agent_that_can_t_start_is_explained(tmp_path: Path) -> None:
    died = chat("my.toml", "-p", "hello", cwd=tmp_path, env={"FAKE_DIES": "1"})
    assert died.returncode == 1
    assert "agent.toml:3:1: error: broken" in died.stderr
    assert "ended (exit code 2) before it answered initialize; `agentoml check my.toml`" in died.stderr
    refused = chat("-p", "hello", cwd=tmp_path, env={"FAKE_INVALID": "1"})
    assert refused.returncode == 1
    assert "the configuration is not valid; `agentoml check` shows every problem" in refused.stderr


def test_a_conversation_on_a_terminal(tmp_path: Path) -> None:
    with Terminal(PROGRAM, [], tmp_path) as terminal:
        terminal.wait_for("code · sonnet > ")
        terminal.type("hello\r")
        terminal.wait_for("I am fake.")
        terminal.wait_for(" • two")
        terminal.wait_for("code · sonnet > ")
        terminal.type("edit\r")
        terminal.wait_for("? Edit notes.md")
        terminal.wait_for("  3  Reject")
        terminal.wait_for("1-3 > ")
        terminal.type("²\r")
        terminal.wait_for("answer with a number, 1 to 3")
        terminal.type("9\r")
        terminal.wait_for("1-3 > ")
        terminal.type("2\r")
        terminal.wait_for("answered: always")
        terminal.wait_for("code · sonnet > ")
        terminal.type("/se\t mod\tl o\t\r")
        terminal.wait_for("model: sonnet -> opus")
        terminal.wait_for("code · opus > ")
        terminal.type("log\r")
        terminal.wait_for("code · opus > ")
        assert "a line for the log" not in terminal.shown
        terminal.type("/log\r")
        terminal.wait_for("a line for the log")
        terminal.wait_for("code · opus > ")
        terminal.type("plan\r")
        terminal.wait_for("◐ Look around")
        terminal.wait_for("! The model is gone")
        terminal.wait_for("code · opus > ")
        terminal.type("\x04")
        assert terminal.leave() == 0


def test_ctrl_c_cancels_a_turn_and_a_question_and_twice_leaves(tmp_path: Path) -> None:
    with Terminal(PROGRAM, [], tmp_path) as terminal:
        terminal.wait_for("code · sonnet > ")
        terminal.type("slow\r")
        terminal.wait_for("working")
        terminal.type("\x03")
        terminal.wait_for("stopped: cancelled")
        terminal.wait_for("code · sonnet > ")
        terminal.type("edit\r")
        terminal.wait_for("1-3 > ")
        terminal.type("\x03")
        terminal.wait_for("answered: cancelled")
        terminal.wait_for("code · sonnet > ")
        terminal.type("\x03")
        terminal.wait_for("Ctrl-C again")
        terminal.wait_for("code · sonnet > ")
        terminal.type("\x03")
        assert terminal.leave() == 130


def test_an_agent_that_dies_while_nobody_types_is_noticed(tmp_path: Path) -> None:
    with Terminal(PROGRAM, [], tmp_path) as terminal:
        terminal.wait_for("code · sonnet > ")
        terminal.type("die\r")
        terminal.wait_for("the agent ended (exit code 3)")
        assert terminal.leave() == 1


def test_nothing_that_an_agent_says_can_move_the_cursor(tmp_path: Path) -> None:
    with Terminal(PROGRAM, ["--yes", "-p", "forge"], tmp_path) as terminal:
        assert terminal.leave() == 0
        assert "[2Jcleared?" in terminal.shown and "? forged" in terminal.shown


REAL_PROGRAM = "import sys; from agentoml.cli.main import main; sys.exit(main(['chat', *sys.argv[1:]]))"


def test_a_file_saved_under_the_prompt_shows_what_changed_and_keeps_what_was_typed(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    preset = (assets.folder("configs") / "offline.toml").read_text(encoding="utf-8")
    config.write_text(preset, encoding="utf-8")
    with Terminal(REAL_PROGRAM, ["agent.toml"], tmp_path) as terminal:
        terminal.wait_for("code · actor · medium > ")
        terminal.type("hel")
        terminal.wait_for("hel")
        config.write_text(f'{preset}\n[models.guest]\nprovider = "offline"\n', encoding="utf-8")
        terminal.wait_for("+ model guest")
        terminal.wait_for("code · actor · medium > hel")
        terminal.type("lo\r")
        terminal.wait_for("Hello! I am the offline preset.")
        terminal.wait_for("code · actor · medium > ")
        config.write_text(f"{preset}\n[models.guest\n", encoding="utf-8")
        terminal.wait_for(f"agent.toml:{preset.count(chr(10)) + 2}:")
        terminal.type("\x04")
        assert terminal.leave() == 0


def test_the_prompt_says_what_is_in_force_once_a_saved_file_changed_it(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    minimal = (assets.folder("templates") / "minimal" / "agent.toml").read_text(encoding="utf-8")
    config.write_text(minimal, encoding="utf-8")
    with Terminal(REAL_PROGRAM, ["agent.toml"], tmp_path) as terminal:
        terminal.wait_for("code · sonnet > ")
        terminal.type("hel")
        terminal.wait_for("hel")
        config.write_text(f'{minimal}\n[options.mode]\ndefault = "plan"\n', encoding="utf-8")
        terminal.wait_for("mode: code -> plan")
        terminal.wait_for("plan · sonnet > hel")
        terminal.type("lo\r")
        terminal.wait_for("You said: hello")
        terminal.wait_for("plan · sonnet > ")
        terminal.type("\x04")
        assert terminal.leave() == 0


def options(*kinds: str) -> list[dict[str, Any]]:
    return [messages.permission_option(kind, kind, kind) for kind in kinds]  # type: ignore[arg-type]


def test_only_a_single_allowance_is_ever_given_unasked() -> None:
    assert approval(options("allow_always", "allow_once", "reject_once")) == "allow_once"
    assert approval(options("allow_always", "reject_once")) is None


def test_a_rejection_is_for_this_once_where_it_can_be() -> None:
    assert rejection(options("allow_once", "reject_always", "reject_once")) == "reject_once"
    assert rejection(options("allow_once", "reject_always")) == "reject_always"
    assert rejection(options("allow_once")) is None


def test_the_agent_is_started_so_that_the_project_can_t_shadow_it() -> None:
    assert run_command("a.toml")[1:] == ["-P", "-m", "agentoml", "run", "a.toml"]
    assert run_command(None)[1:] == ["-P", "-m", "agentoml", "run"]
