"""What `agentoml explain` speaks about: a configuration, what is picked in it, and what is in force then."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from attrs import frozen

from agentoml.cli.choosing import chosen, tell_of_trust
from agentoml.config.diagnostics.locate import locate
from agentoml.config.merge import merge
from agentoml.config.parse import parse_all
from agentoml.config.problems import Path, Problem, quoted, render_text
from agentoml.config.structure import structure
from agentoml.config.texts import Merged
from agentoml.session.providers import with_credentials
from agentoml.snapshot.build import build
from agentoml.snapshot.link import Linked, link
from agentoml.snapshot.linking.places import place_of
from agentoml.snapshot.resolve import ClientFacts, Resolved, resolve
from agentoml.snapshot.selections import Refused, Selections, pick
from agentoml.snapshot.snapshot import Snapshot

BOOLEANS: Mapping[str, bool] = {"on": True, "true": True, "off": False, "false": False}


class NotExplained(Exception):
    """What was asked about is not there, or can't be; the text says why, and what there is."""


@frozen(eq=False)
class Case:
    """A configuration, and a session of it in which something was picked. `picked`: option -> value, as given."""

    merged: Merged
    linked: Linked
    snapshot: Snapshot
    resolved: Resolved
    picked: Mapping[str, str]

    def value_path(self, option: str, value: str, *key: str) -> Path:
        """Return the key path at which a value of an option is written, or says something."""
        return place_of(self.linked.config, self.linked.values.tables.get(option), value, key)

    def places(self, paths: Iterable[Path]) -> dict[Path, str]:
        """Return `file:line` of each key path, or of the longest part of it that a file has."""
        wanted = dict.fromkeys(path for path in paths if path)
        found = locate([Problem("", "", path, at="key") for path in wanted], self.merged)
        return {problem.path: f"{problem.file}:{problem.line}" for problem in found}


def case_of(arguments: argparse.Namespace) -> Case:
    """Return the case that a command line asks about.

    Raises:
        NotExplained: the configuration can't be used, or something can't be picked.
    """
    built = build(chosen(arguments.config, arguments.settings))
    if built.snapshot is None:
        raise NotExplained(render_text(built.problems))
    tell_of_trust(built.reading)
    merged = merge(parse_all(built.reading))
    snapshot = built.snapshot
    client = ClientFacts(arguments.client, credentials=with_credentials(snapshot.providers))
    selections = Selections()
    picked = dict(_picked(arguments))
    for option, value in picked.items():
        known = snapshot.options.get(option)
        typed = BOOLEANS.get(value, value) if known is not None and known.kind == "boolean" else value
        try:
            selections = pick(snapshot, client, selections, option, typed)
        except Refused as refused:
            available = [str(one) for one in refused.data.get("available", ())]
            there = f"; there are: {', '.join(available)}" if available else ""
            raise NotExplained(f"agentoml explain: {option}={value} can't be picked: {refused}{there}") from None
    return Case(merged, link(structure(merged)), snapshot, resolve(snapshot, client, selections), picked)


def _picked(arguments: argparse.Namespace) -> Iterable[tuple[str, str]]:
    if arguments.mode is not None:
        yield "mode", arguments.mode
    for written in arguments.option:
        option, equals, value = written.partition("=")
        if not equals:
            raise NotExplained(f"agentoml explain: --option takes OPTION=VALUE, not {quoted(written)}")
        yield option, value
