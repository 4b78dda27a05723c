"""`agentoml show [CONFIG] [KEY]`: the effective configuration, and for each line of it who won and who lost."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from agentoml.cli.choosing import add_settings, chosen, names_a_configuration, not_empty, tell_of_trust
from agentoml.config import layers, merge, parse
from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.inline import inline
from agentoml.config.layering.settings import key_path
from agentoml.config.policy import policy_lines
from agentoml.config.problems import Path, did_you_mean, dotted, quoted, render_text
from agentoml.config.provenance import Leaf, Said, provenance
from agentoml.config.texts import Included, Merged
from agentoml.snapshot.patches import NOT_GIVEN_PERMISSIONS

EXIT_PROBLEMS = 2
LONGEST = 60
UNSAID: Mapping[Path, list[str]] = {
    ("agent", "permissions", edit): list(NOT_GIVEN_PERMISSIONS) for edit in ("add", "remove")
}
"""Edits of a list that no file gives, and what they edit."""


def main(args: list[str]) -> int:
    """Print it and return 0, or 2 where a file can't be read or nothing has this key."""
    arguments = _arguments().parse_args(args)
    config, key = _told_apart(arguments.words)
    reading = with_catalogs(layers.read(chosen(config, arguments.settings)))
    merged = merge.merge(parse.parse_all(reading))
    if any(text.layer == "named" and text.problems and not text.content for text in reading.texts):
        print(render_text(merged.problems), file=sys.stderr)
        return EXIT_PROBLEMS
    under = key_path(key) if key is not None else ()
    found = provenance(merged, under) if under is not None else []
    if not found and not merged.problems:
        print(f"agentoml show: nothing says {quoted(key or '')}; {_instead(key or '', merged)}", file=sys.stderr)
        return EXIT_PROBLEMS
    if arguments.format == "json":
        print(json.dumps([_as_json(leaf) for leaf in found], indent=2, ensure_ascii=False, default=_plain))
    else:
        print("\n".join([*_text(found), *([] if under else policy_lines(merged))]))
    tell_of_trust(reading)
    if merged.problems:
        print(render_text(merged.problems), file=sys.stderr)
    return EXIT_PROBLEMS if any(problem.severity == "error" for problem in merged.problems) else 0


def _told_apart(words: list[str]) -> tuple[str | None, str | None]:
    """Return CONFIG and KEY; of one word alone it is told by its form, or by what is there."""
    if len(words) == 1 and not names_a_configuration(words[0]):
        return None, words[0]
    config, key = (*words, None, None)[:2]
    return config, key


def _instead(key: str, merged: Merged) -> str:
    """Return what was probably meant by a key that is not there."""
    table: Any = merged.table
    path = key_path(key) or ()
    for index, name in enumerate(path):
        if not isinstance(table, dict) or name not in table:
            among = table if isinstance(table, dict) else {}
            where = f"{dotted(path[:index])} has" if index else "there are"
            return did_you_mean(str(name), among) or f"{where}: {', '.join(among)}"
        table = table[name]
    return "write it as TOML does: models.sonnet.id"


# ------------------------------------------------------------------------------------------------- as TOML


def _text(found: Iterable[Leaf]) -> Iterator[str]:
    """Yield the leaves as TOML that says the same, each with a comment on where it comes from."""
    found = list(found)
    flat = {leaf.path[0] for leaf in found if len(leaf.path) == 2 and leaf.value != {}}
    header: Path = ()
    for table, leaf in sorted(((_table(leaf, flat), leaf) for leaf in found), key=lambda pair: pair[0] != ()):
        if table != header:
            yield f"\n[{dotted(table)}]" if header else f"[{dotted(table)}]"
        header = table
        rest = leaf.path[len(table) :]
        yield f"{dotted(rest)} = {inline(leaf.value)}  # {_where(leaf)}" if rest else f"# {_where(leaf)}"


def _table(leaf: Leaf, flat: Collection[str | int]) -> Path:
    """Return the table that a leaf is shown in: a table of the top, or an entry of one; `flat` are not divided."""
    if len(leaf.path) == 1 and leaf.value != {}:
        return ()
    return leaf.path[: 1 if leaf.path[0] in flat else 2]


def _where(leaf: Leaf) -> str:
    won, *lost = leaf.said
    own = f" says {_short(won.value)}" if won.value != leaf.value and won.value is not None else ""
    beneath = "".join(f"; beneath: {_place(one)} {_short(one.value)}" for one in lost if leaf.value != {})
    unsaid = f"; beneath: the default {inline(UNSAID[leaf.path])}" if leaf.path in UNSAID else ""
    return f"{_place(won)}{own}{beneath}{unsaid}"


def _place(said: Said) -> str:
    return f"{said.file}:{said.line}" if said.layer != "set" else said.file


def _short(value: Any) -> str:
    text = inline(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


# ------------------------------------------------------------------------------------------------- as JSON


def _as_json(leaf: Leaf) -> dict[str, Any]:
    won, *lost = (
        {"layer": one.layer, "file": one.file, "line": one.line, "column": one.column, "value": one.value}
        for one in leaf.said
    )
    return {"key": dotted(leaf.path), "value": leaf.value, "won": won, "lost": lost}


def _plain(value: Any) -> Any:
    return {"file": value.file} if isinstance(value, Included) else str(value)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml show", description="Print the effective configuration: for each key who won, and who lost."
    )
    parser.add_argument(
        "words",
        nargs="*",
        type=not_empty,
        metavar="CONFIG KEY",
        help="a configuration, left out: your own; a key: models.sonnet",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text: TOML with comments")
    add_settings(parser)
    return parser
