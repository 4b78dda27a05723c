"""`agentoml check [CONFIG]`: every problem of a configuration at once, without running anything of it."""

from __future__ import annotations

import argparse
import json
from typing import NamedTuple

from agentoml.config import layers, merge, parse
from agentoml.config.locate import locate, located
from agentoml.config.problems import Problem, render_text, to_json
from agentoml.config.structure import structure
from agentoml.errors import ConfigError
from agentoml.snapshot.compile import compile_
from agentoml.snapshot.link import Linked, link

EXIT_PROBLEMS = 2


class Checked(NamedTuple):
    """What a check found; `linked` is None if there are errors among the problems."""

    linked: Linked | None
    problems: tuple[Problem, ...]


def main(args: list[str]) -> int:
    """Print what is wrong and return 0, or 2 if the configuration can't be used. Warnings alone are no failure."""
    arguments = _arguments().parse_args(args)
    checked = check(arguments.config)
    if arguments.format == "json":
        print(json.dumps([to_json(problem) for problem in checked.problems], indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(text for text in (render_text(checked.problems), summary(checked)) if text))
    return 0 if checked.linked else EXIT_PROBLEMS


def check(config: str | None) -> Checked:
    """Read and compile a configuration: a file, `preset:NAME`, or with None what `agentoml run` takes."""
    merged = merge.merge(parse.parse_all(layers.read(config)))
    try:
        with located(merged):
            linked = link(structure(merged))
            compile_(linked)
    except ConfigError as error:
        return Checked(None, error.problems)
    return Checked(linked, locate((*merged.problems, *linked.warnings), merged))


def summary(checked: Checked) -> str:
    """Return the last line: what there is, or how much is wrong."""
    severities = [problem.severity for problem in checked.problems]
    warnings = _counted(severities.count("warning"), "warning") if "warning" in severities else ""
    if checked.linked is None:
        return ", ".join(part for part in (_counted(severities.count("error"), "error"), warnings) if part)
    linked = checked.linked
    counted = (
        _counted(len(linked.catalog), "model"),
        _counted(len(linked.config.modes), "mode"),
        _counted(len(linked.options), "option"),
    )
    return f"OK: {', '.join(counted)}" + (f"; {warnings}" if warnings else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml check", description="Show every problem of a configuration, each with its place and a remedy."
    )
    parser.add_argument("config", nargs="?", help="a TOML file or preset:NAME; left out: what `agentoml run` takes")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: an array of objects")
    return parser
