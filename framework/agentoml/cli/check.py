"""`agentoml check [CONFIG]`: every problem of a configuration at once, without running anything of it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agentoml.cli.choosing import add_configuration, chosen, tell_of_trust
from agentoml.config import layers, merge, parse
from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.diagnostics.explanations import explanations
from agentoml.config.diagnostics.formats import render_github, to_sarif
from agentoml.config.diagnostics.locate import locate, located
from agentoml.config.layering.siblings import disagreements
from agentoml.config.policy import ceilings
from agentoml.config.problems import Problem, did_you_mean, quoted, render_text, to_json
from agentoml.config.structure import structure
from agentoml.errors import ConfigError
from agentoml.snapshot.clip import clipped
from agentoml.snapshot.compile import compile_
from agentoml.snapshot.link import Linked, link
from agentoml.snapshot.linking.warnings import forcings
from agentoml.snapshot.unit_tests import hold_gates

EXIT_PROBLEMS = 2


class Checked(NamedTuple):
    """What a check found; `linked` is None if there are errors among the problems."""

    linked: Linked | None
    problems: tuple[Problem, ...]


def main(args: list[str]) -> int:
    """Print what is wrong and return 0, or 2 if the configuration can't be used or warnings are denied."""
    arguments = _arguments().parse_args(args)
    if arguments.explain:
        return _explain(arguments.explain)
    checked = check(chosen(arguments.config, arguments.settings))
    print(FORMATS[arguments.format](checked), end="")
    failed = checked.linked is None or (arguments.deny_warnings and checked.problems)
    return EXIT_PROBLEMS if failed else 0


def _explain(code: str) -> int:
    known = explanations()
    if code.upper() not in known:
        meant = did_you_mean(code.upper(), known) or f"there are: {', '.join(known)}"
        print(f"agentoml check: no problem has the code {quoted(code)}; {meant}", file=sys.stderr)
        return EXIT_PROBLEMS
    print(known[code.upper()].markdown())
    return 0


def check(configuration: layers.Configuration) -> Checked:
    """Read and compile a configuration, under the policies that are in force."""
    reading = with_catalogs(layers.read(configuration))
    tell_of_trust(reading)
    merged = merge.merge(parse.parse_all(reading))
    try:
        with located(merged):
            linked = link(structure(merged))
            snapshot = compile_(linked)
            hold_gates(snapshot, linked.config.tests)
    except ConfigError as error:
        return Checked(None, error.problems)
    left_out = clipped(snapshot, ceilings(merged))
    warnings = (*merged.problems, *linked.warnings, *disagreements(merged), *left_out)
    return Checked(linked, locate(warnings, merged))


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


def _text(checked: Checked) -> str:
    parts = (render_text(checked.problems), "\n".join(_forcings(checked)), summary(checked))
    return "\n\n".join(text for text in parts if text) + "\n"


def _forcings(checked: Checked) -> Iterator[str]:
    """Yield which value forces which option."""
    linked = checked.linked
    for one in forcings(linked.options, linked.owners, linked.catalog) if linked is not None else ():
        yield f"{one.option} = {quoted(one.value)} forces {one.forced} = {quoted(one.to)}"


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _github(checked: Checked) -> str:
    return render_github(checked.problems) + "\n" if checked.problems else ""


FORMATS: dict[str, Callable[[Checked], str]] = {
    "text": _text,
    "json": lambda checked: _json([to_json(problem) for problem in checked.problems]),
    "github": _github,
    "sarif": lambda checked: _json(to_sarif(checked.problems)),
}
"""Format -> all that is printed in it."""


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml check", description="Show every problem of a configuration, each with its place and a remedy."
    )
    add_configuration(parser)
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="json: an array of objects")
    parser.add_argument("--deny-warnings", action="store_true", help="warnings are a failure, too")
    parser.add_argument("--explain", metavar="CODE", help="say at length what a code means, as AGT101")
    return parser
