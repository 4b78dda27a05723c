"""The words of a command line that say which configuration is meant: CONFIG and `--set`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from agentoml.config.layers import PRESET, Chosen, Reading, in_directory

SET_HELP = "lay KEY=VALUE over the files, as TOML writes them; may be given several times"


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """Add CONFIG and `--set` to a command."""
    parser.add_argument(
        "config",
        nargs="?",
        type=not_empty,
        help="a TOML file, a directory with an agent.toml, or preset:NAME; left out: your own",
    )
    add_settings(parser)


def not_empty(given: str) -> str:
    """Return a word of a command line that names something.

    Raises:
        ArgumentTypeError: it is empty, as where a variable of a script is not set.
    """
    if not given:
        raise argparse.ArgumentTypeError("an empty word names nothing")
    return given


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add `--set` to a command."""
    parser.add_argument("--set", metavar="KEY=VALUE", dest="settings", action="append", default=[], help=SET_HELP)


def names_a_configuration(word: str) -> bool:
    """Tell whether a word is CONFIG, where something else may stand in its place: by its form, or by what is there."""
    return word.startswith(PRESET) or word.endswith(".toml") or "/" in word or Path(word).exists()


def chosen(config: str | None, settings: list[str]) -> Chosen:
    """Return the choice, as a session in the working directory has it."""
    return in_directory(Chosen(config, tuple(settings)), Path.cwd())


def tell_of_trust(reading: Reading) -> None:
    """Say on stderr that the project has a configuration which does not count, and what makes it count."""
    project = reading.project
    if project is not None and not project.counts:
        why = {"refused": "you refused it", "changed": "it changed since you agreed"}
        told = why.get(project.status, "you have not been asked yet")
        print(f"{project.file} is left out, {told}: name it to use it here, or see `agentoml trust`", file=sys.stderr)
