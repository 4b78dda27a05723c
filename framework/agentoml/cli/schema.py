"""`agentoml schema`: the JSON Schema of a configuration, by which editors complete and check it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from agentoml.config.vocabulary.json_schema import FILE, json_schema

EXIT_FAILED = 1


def main(args: list[str]) -> int:
    """Print the schema, or write it into a folder; return 0, or 1 where that can't be written to."""
    arguments = _arguments().parse_args(args)
    if arguments.folder is None:
        print(schema_text(), end="")
        return 0
    try:
        file = write_schema(Path(arguments.folder))
    except OSError as error:
        print(f"agentoml schema: {arguments.folder}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return EXIT_FAILED
    print(f"{file}: name it in the first line of a configuration, #:schema {FILE}")
    return 0


def write_schema(folder: Path) -> Path:
    """Write the schema into a folder, over what an older version wrote there; return its file."""
    file = folder / FILE
    file.write_text(schema_text(), encoding="utf-8")
    return file


def schema_text() -> str:
    """Return the schema as JSON."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml schema",
        description="Print the JSON Schema (draft-07) of configurations, for taplo and other programs.",
    )
    parser.add_argument("folder", nargs="?", help=f"write it there as {FILE} instead")
    return parser
