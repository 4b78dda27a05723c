"""`agentoml fetch [CONFIG]`: gets the repositories and archives that `extends` names, and pins them by digest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import tomli_w

from agentoml.cli.choosing import add_configuration, chosen
from agentoml.cli.fetching import FetchFailed, fetch
from agentoml.config import layers
from agentoml.config.diagnostics.locate import locate
from agentoml.config.layering.sources import Source, pinned
from agentoml.config.merge import merge
from agentoml.config.parse import parse_all
from agentoml.config.problems import render_text
from agentoml.config.write import write_own

EXIT_FAILED = 1
EXIT_PROBLEMS = 2


def main(args: list[str]) -> int:
    """Fetch what is not here and return 0; 1 where something can't be had or is not what is pinned, 2 where nothing is
    to be fetched because a file is not valid.
    """
    arguments = _arguments().parse_args(args)
    wanted = chosen(arguments.config, arguments.settings)
    done: dict[tuple[str, Path], bool] = {}
    while True:  # what was fetched may extend more
        open_ones = [
            source
            for source in layers.read(wanted).sources
            if (source.url, source.lock) not in done and (arguments.update or not source.there)
        ]
        if not open_ones:
            break
        for source in open_ones:
            done[source.url, source.lock] = _fetch(source, update=arguments.update)
    if done:
        return EXIT_FAILED if not all(done.values()) else 0
    merged = merge(parse_all(layers.read(wanted)))
    if any(problem.severity == "error" for problem in merged.problems):
        print(render_text(locate(merged.problems, merged)), file=sys.stderr)
        return EXIT_PROBLEMS
    print("nothing to fetch: all that is extended is here")
    return 0


def _fetch(source: Source, *, update: bool) -> bool:
    """Fetch one, and pin it where it is not; return whether that went well."""
    try:
        digest = fetch(source.url, None if update else source.digest)
        if digest != source.digest:
            _pin(source, digest)
    except (FetchFailed, OSError) as error:
        print(f"agentoml fetch: {source.url}: {error}", file=sys.stderr)
        return False
    print(f"{source.url}: {digest}")
    return True


def _pin(source: Source, digest: str) -> None:
    digests = {**pinned(source.lock), source.url: digest}
    sources = {url: {"digest": digests[url]} for url in sorted(digests)}
    write_own(source.lock, tomli_w.dumps({"sources": sources}), private=False)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml fetch",
        description="Get the repositories and archives that `extends` names, and pin them by digest in agentoml.lock.",
    )
    add_configuration(parser)
    parser.add_argument("--update", action="store_true", help="get all of it anew, and pin what is there now")
    return parser
