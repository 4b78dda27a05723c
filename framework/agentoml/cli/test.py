"""`agentoml test [CONFIG]`: plays the unit tests that a configuration declares, without a model or a network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from agentoml.cli.choosing import add_configuration, chosen, tell_of_trust
from agentoml.config import layers, merge, parse
from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.diagnostics.locate import locate, located
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
        played = play(chosen(arguments.config, arguments.settings))
    except ConfigError as error:
        print(render_text(error.problems), file=sys.stderr)
        return EXIT_PROBLEMS
    failed = [problem for problems in played.values() for problem in problems]
    print(_text(played) if arguments.format == "text" else json.dumps([to_json(one) for one in failed], indent=2))
    return EXIT_FAILED if failed else 0


def play(configuration: layers.Configuration) -> Played:
    """Play every test of a configuration, as it is written: a policy of the user's or administrator's does not count.

    Raises:
        ConfigError: the configuration can't be used; gates aside.
    """
    reading = with_catalogs(layers.read(configuration))
    tell_of_trust(reading)
    merged = merge.merge(parse.parse_all(reading))
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
    add_configuration(parser)
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="json: an array of what does not hold"
    )
    return parser
