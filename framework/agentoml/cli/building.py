"""The configuration that a command line chooses -> a snapshot, or the reasons on stderr why there is none."""

from __future__ import annotations

import argparse
import sys

from agentoml.cli.choosing import chosen, tell_of_trust
from agentoml.config.problems import render_text
from agentoml.snapshot.build import Built, build


def built_or_told(arguments: argparse.Namespace) -> Built:
    """Build what `add_configuration` lets a user choose; where that gives no snapshot, its problems are printed."""
    built = build(chosen(arguments.config, arguments.settings))
    tell_of_trust(built.reading)
    if built.snapshot is None:
        print(render_text(built.problems), file=sys.stderr)
    return built
