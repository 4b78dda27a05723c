from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentoml import __version__
from agentoml.cli import main as command_line
from cli.terminal import Terminal


def run(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "agentoml", *args]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL
    )


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in command_line.COMMANDS)


def test_every_command_has_a_module_with_a_main() -> None:
    for module, _ in command_line.COMMANDS.values():
        assert callable(__import__(module, fromlist=["main"]).main)


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--version"]) == 0
    assert capsys.readouterr().out == f"agentoml {__version__}\n"


def test_an_unknown_command_is_a_usage_error_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["chekc", "x.toml"]) == 2
    assert "did you mean `check`?" in capsys.readouterr().err


def test_a_word_like_no_command_is_answered_with_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["zzz"]) == 2
    assert "there are: run, check," in capsys.readouterr().err


def test_without_a_command_help_goes_to_stderr_so_that_no_editor_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([]) == 2
    shown = capsys.readouterr()
    assert "usage: agentoml COMMAND" in shown.err and shown.out == ""


def test_the_module_runs_as_a_program_and_a_package_of_the_project_can_t_replace_it(tmp_path: Path) -> None:
    (tmp_path / "agentoml.py").write_text("raise SystemExit('the project ran')")
    assert run("--version", cwd=tmp_path).stdout == f"agentoml {__version__}\n"


@pytest.mark.parametrize(
    ("words", "wrong"), [(["--bogus"], "--bogus"), (["a.toml", "b.toml"], "b.toml"), (["--set"], "--set")]
)
def test_what_run_does_not_understand_is_named_beside_its_usage(
    words: list[str], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["run", *words]) == 2
    assert capsys.readouterr().err.endswith(f"agentoml run: `{wrong}` is not understood\n")


@pytest.mark.parametrize(
    "words",
    [["run"], ["check"], ["show"], ["chat"], ["catalog", "list"], ["explain", "session", "--config"], ["reload"]],
    ids=" ".join,
)
def test_an_empty_word_names_no_configuration(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It is what a script has whose variable is not set: the working directory is not what it means."""
    try:
        code = command_line.main([*words, ""])
    except SystemExit as left:
        code = int(left.code or 0)
    assert code == 2
    assert "an empty word names no" in capsys.readouterr().err


def test_run_on_a_terminal_says_what_it_waits_for(tmp_path: Path) -> None:
    with Terminal("from agentoml.cli.main import main; main(['run', 'preset:offline'])", [], tmp_path) as terminal:
        terminal.wait_for("waiting for an ACP client on stdin; for a conversation: agentoml chat")


def test_run_for_a_client_says_nothing(tmp_path: Path) -> None:
    ran = run("run", "preset:offline", cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == ("", "")


def test_dispatching_imports_next_to_nothing() -> None:
    """`run` is on the way to `initialize`: only what Python itself imports may be there before it is called."""
    program = (
        "import sys; before = set(sys.modules)\n"
        "from agentoml.cli import main\n"
        "main.COMMANDS['run'] = ('agentoml', '')\n"
        "import agentoml; agentoml.main = lambda args: print(*sorted(set(sys.modules) - before)) or 0\n"
        "main.main(['run'])"
    )
    shown = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["__future__", "agentoml", "agentoml.cli", "agentoml.cli.main"]


def test_a_reader_that_leaves_ends_a_command_quietly() -> None:
    program = (
        "from agentoml.cli import main\n"
        "main.COMMANDS['x'] = ('agentoml', '')\n"
        "import agentoml; agentoml.main = lambda args: [print('x' * 1000) for _ in range(1000)] and 0\n"
        "import sys; sys.exit(main.main(['x']))"
    )
    child = subprocess.Popen([sys.executable, "-P", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stderr is not None
    with child, child.stdout, child.stderr:
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(30) == 141


@pytest.mark.parametrize("command", ["--help", "--version", "schema"])
def test_a_reader_that_never_came_is_no_crash(command: str) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    words = [sys.executable, "-P", "-m", "agentoml", command]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ran = subprocess.run(words, stdout=write_end, stderr=subprocess.PIPE, env=buffered, timeout=30, check=False)
    os.close(write_end)

    assert (ran.stderr, ran.returncode) == (b"", 141)
