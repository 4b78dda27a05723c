"""`agentoml test [CONFIG]`: plays the unit tests that a configuration declares, without a model or a network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from agentoml.config import layers, merge, parse
from agentoml.config.catalogs import with_catalogs
from agentoml.config.locate import locate, located
from agentoml.config.problems import Problem, render_text, to_json
from agentoml.config.structure import structure
from agentoml.errors import ConfigError
from agentoml.snapshot.compile import compile_
from agentoml.snapshot.link import link
from agentoml.snapshot.unit_tests import failures

EXIT_FAILED = 1
EXIT_PROBLEMS = 2

Played = Mapping[str, tuple[Problem, ...]]
"""Test -> what does not hold, with its place; nothing where it passes."""


def main(args: list[str]) -> int:
    """Play the tests; return 0 if all hold, 1 if one does not, 2 if the configuration can't be used."""
    arguments = _arguments().parse_args(args)
    try:
        played = play(arguments.config)
    except ConfigError as error:
        print(render_text(error.problems), file=sys.stderr)
        return EXIT_PROBLEMS
    failed = [problem for problems in played.values() for problem in problems]
    print(json.dumps([to_json(problem) for problem in failed], indent=2) if arguments.json else _text(played))
    return EXIT_FAILED if failed else 0


def play(config: str | None) -> Played:
    """Play every test of a configuration: a file, `preset:NAME`, or with None what `agentoml run` takes.

    Raises:
        ConfigError: the configuration can't be used; gates aside.
    """
    merged = merge.merge(parse.parse_all(with_catalogs(layers.read(config))))
    with located(merged):
        linked = link(structure(merged))
        snapshot = compile_(linked)
    tests = linked.config.tests
    return {name: locate(failures(snapshot, {name: test}), merged) for name, test in tests.items()}


def _text(played: Played) -> str:
    if not played:
        return "no tests: write [tests.NAME] with `given` and `expect`"
    lines = []
    for name, problems in played.items():
        lines.append(f"{'failed' if problems else 'ok':6} {name}")
        if problems:
            lines += ["", render_text(problems), ""]
    failed = sum(1 for problems in played.values() if problems)
    count = f"{len(played)} test{'' if len(played) == 1 else 's'}"
    return "\n".join([*lines, f"{count}: {failed} failed" if failed else f"{count}: all hold"])


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml test", description="Play the tests of a configuration, without a model or a network."
    )
    parser.add_argument("config", nargs="?", help="a TOML file or preset:NAME; left out: what `agentoml run` takes")
    parser.add_argument("--json", action="store_true", help="print what does not hold as an array of objects")
    return parser
