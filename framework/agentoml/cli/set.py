"""`agentoml set FILE KEY=VALUE ...`: changes a configuration where it must, and nothing else of it."""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from agentoml.cli.check import check
from agentoml.config.layering.settings import key_path, setting_texts
from agentoml.config.layers import Chosen
from agentoml.config.problems import Problem, quoted, render_text
from agentoml.config.splice import CannotSplice, with_key
from agentoml.config.write import replace_file

EXIT_PROBLEMS = 2


def main(args: list[str]) -> int:
    """Change the file and print its changed lines; 2 if it can't be done, or would break the configuration."""
    arguments = _arguments().parse_args(args)
    if arguments.file.is_dir():
        arguments.file /= "agent.toml"
    try:
        before = arguments.file.read_bytes()
        after = changed(before.decode(), arguments.settings).encode()
        problems = new_problems(arguments.file, after) if after != before else ()
        if problems:
            print(render_text(problems), file=sys.stderr)
            return EXIT_PROBLEMS
        if arguments.file.read_bytes() != before:
            raise CannotSplice("the file was changed meanwhile; nothing was written")
        if after != before:
            replace_file(arguments.file, after)
    except (CannotSplice, UnicodeDecodeError) as error:
        reason = "the file is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        print(f"agentoml set: {arguments.file}: {reason}", file=sys.stderr)
        return EXIT_PROBLEMS
    except OSError as error:
        print(f"agentoml set: {arguments.file}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return EXIT_PROBLEMS
    print("\n".join(_lines(before.decode(), after.decode())) or "nothing to change: it says so already")
    return 0


def changed(source: str, settings: Sequence[str]) -> str:
    """Return a text with each KEY=VALUE in it. A value that is not TOML is a string.

    Raises:
        CannotSplice: one of them can't be set alone.
    """
    for setting in settings:
        (text,) = setting_texts((setting,), Path())
        if text.problems:
            raise CannotSplice(f"{quoted(setting)} is not KEY=VALUE; write agent.model=opus")
        path = key_path(setting.partition("=")[0]) or ()
        value = tomllib.loads(text.content.decode())
        for name in path:
            value = value[name]
        source = with_key(source, path, value)
    return source


def new_problems(file: Path, after: bytes) -> tuple[Problem, ...]:
    """Return what would be wrong with a file if it said this, and is not wrong with it now."""
    known = {(problem.code, problem.path, problem.message) for problem in check(Chosen(str(file))).problems}
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.stem}-", suffix=".toml") as beside:
        beside.write(after)
        beside.flush()
        found = check(Chosen(beside.name)).problems
        named = (one._replace(file=str(file)) if one.file == beside.name else one for one in found)
        return tuple(one for one in named if one.severity == "error" and (one.code, one.path, one.message) not in known)


def _lines(before: str, after: str) -> list[str]:
    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml set",
        description="Set keys of a configuration file. Comments and all other lines stay as they are; what would break "
        "the configuration is not written.",
    )
    parser.add_argument("file", type=Path, help="the TOML file to change, or a directory with an agent.toml")
    parser.add_argument(
        "settings", nargs="+", metavar="KEY=VALUE", help='as TOML writes them: options.model.default="opus"'
    )
    return parser
