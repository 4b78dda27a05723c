"""`agentoml init [TEMPLATE] [DIR]`: writes the files of a template into a folder, and never over anything."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from agentoml import assets
from agentoml.cli.schema import write_schema
from agentoml.config.problems import did_you_mean, quoted
from agentoml.config.vocabulary.json_schema import FILE

AGENT = "agent.toml"
"""The file that every template has: the configuration itself."""

SCHEMA_LINE = f"#:schema {FILE}\n".encode()

EXIT_USAGE = 2


def main(args: list[str]) -> int:
    """Write the files, say what to do next and return 0; 2 if nothing could be written."""
    arguments = _arguments().parse_args(args)
    refused = _unknown(arguments.template) or _occupied(arguments.template, arguments.dir)
    if not refused:
        try:
            for file in _files(arguments.template):
                _write(_source(arguments.template) / file, arguments.dir / file)
                print(f"wrote {arguments.dir / file}")
            print(_schema(arguments.dir))
        except OSError as error:
            refused = f"{arguments.dir} can't be written: {(error.strerror or type(error).__name__).lower()}"
    if refused:
        print(f"agentoml init: {refused}", file=sys.stderr)
        return EXIT_USAGE
    print(_next(arguments.dir / AGENT))
    return 0


def templates() -> dict[str, str]:
    """Return the templates by name, each with the first line that its configuration says of itself."""
    folders = sorted(file.parent for file in assets.folder("templates").glob(f"*/{AGENT}"))
    return {folder.name: _about(folder / AGENT) for folder in folders}


def _about(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next(lines).removeprefix("# ").strip()


def _source(template: str) -> Path:
    return assets.folder("templates") / template


def _files(template: str) -> list[Path]:
    """Return the files of a template, relative to its folder."""
    source = _source(template)
    return sorted(file.relative_to(source) for file in source.rglob("*") if file.is_file())


def _unknown(template: str) -> str:
    known = templates()
    if template in known:
        return ""
    meant = did_you_mean(template, known)
    if meant:
        return f"no template {quoted(template)}; {meant}"
    into = f"Into a folder of that name: agentoml init minimal {shlex.quote(template)}"
    return f"no template {quoted(template)}; there are:\n{_listed(known)}\n{into}"


def _occupied(template: str, folder: Path) -> str:
    """Return why nothing is written where one of the files is there already."""
    there = [folder / file for file in _files(template) if os.path.lexists(folder / file)]
    if not there:
        return ""
    elsewhere = f"agentoml init {template} {shlex.quote(str(_free(folder)))}"
    return f"{there[0]} is there already, nothing was written; name another folder: {elsewhere}"


def _free(occupied: Path) -> Path:
    """Return a folder that is not there yet: below the working directory, else beside the one that is occupied."""
    first = occupied if occupied.name not in ("", "..") else occupied / "my-agent"
    names = (first.name, *(f"{first.name}-{number}" for number in range(2, 100)))
    return next((free for name in names if not os.path.lexists(free := first.with_name(name))), first / "my-agent")


def _write(source: Path, target: Path) -> None:
    """Write one file; the configuration begins with the name of its schema, as editors look for it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as stream:
        stream.write(SCHEMA_LINE if target.name == AGENT else b"")
        stream.write(source.read_bytes())


def _schema(folder: Path) -> str:
    """Write the schema where there is none yet, and say so."""
    if os.path.lexists(folder / FILE):
        return f"kept {folder / FILE}, which was there already; agentoml schema {shlex.quote(str(folder))} renews it"
    return f"wrote {write_schema(folder)}: editors with taplo complete and check by it"


def _next(agent: Path) -> str:
    name = shlex.quote(str(agent))
    return (
        "\nWhat to do next:\n"
        f"  edit {name}; its first lines say what it needs\n"
        f"  agentoml check {name}\n"
        f"  agentoml chat {name}\n"
        f"Your editor starts it with: agentoml run {shlex.quote(str(agent.absolute()))}"
    )


def _listed(known: dict[str, str]) -> str:
    width = max(map(len, known), default=0)
    return "\n".join(f"  {name:{width}}  {about}" for name, about in known.items())


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml init",
        description="Write the files of a template into a folder. Files that are there already are never touched.",
        epilog=f"templates:\n{_listed(templates())}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("template", nargs="?", default="minimal", help="what to begin with; left out: minimal")
    parser.add_argument("dir", nargs="?", default=Path(), type=_folder, help="where to; left out: here")
    return parser


def _folder(word: str) -> Path:
    if not word:
        raise argparse.ArgumentTypeError("an empty name is no folder; leave it out to write here")
    return Path(word)
