"""One text -> its table: the paths settled, the keys that are about the text itself looked at. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentoml.config.documents import document
from agentoml.config.layers import Reading
from agentoml.config.problems import Problem
from agentoml.config.texts import FREE_KEYS, SCHEMA, TEXT_KEYS, CatalogText, Included, Table, Text


def parse_all(reading: Reading) -> tuple[Table, ...]:
    """Return the table of each text, weakest first: catalogs lie beneath everything that is written."""
    tables = tuple(parse(text) for text in reading.texts)
    return (*(parse_catalog(catalog) for catalog in reading.catalogs), *tables)


def parse_catalog(catalog: CatalogText) -> Table:
    """Return the models of one catalog that its globs let through. Never raises."""
    from agentoml.config.catalogs.tables import listed_table, written_table

    return written_table(catalog, parse(catalog.text)) if catalog.source == "file" else listed_table(catalog)


def parse(text: Text) -> Table:
    """Return the table of a text, its paths settled: a file belongs to the file that names it. Never raises."""
    if not text.content and text.problems:
        return Table(text, {}, text.problems)
    found = document(text.content)
    problems = [problem._replace(file=text.name) for problem in found.problems]
    values = dict(_settled(found.values, text) if text.may_have_key(b"file") else found.values)
    own = [*_schema_problems(values), *_extends_problems(values)]
    values.pop("extends", None)
    if own or found.faults:
        from agentoml.config.diagnostics.locate import place, place_fault

        problems += [place_fault(fault, text) for fault in found.faults]
        problems += place(own, text)
    return Table(text, values, (*text.problems, *problems))


def _settled(table: Mapping[str, Any], text: Text) -> Mapping[str, Any]:
    """Return the table with text files in place of what names them, and other files as absolute paths."""
    changed: dict[str, Any] = {}
    for key, value in table.items():
        if not isinstance(value, dict) or key in FREE_KEYS:
            continue
        settled: Any = _settled(value, text)
        file = value.get("file")
        if isinstance(file, str) and key in TEXT_KEYS:
            if len(value) == 1 and file in text.included:
                settled = Included(file, text.included[file])
        elif isinstance(file, str) and text.path is not None:
            settled = {**settled, "file": _beside(text.path, file)}
        elif isinstance(file, list) and text.path is not None:
            settled = {**settled, "file": [_beside(text.path, name) for name in file]}
        if settled is not value:
            changed[key] = settled
    return {**table, **changed} if changed else table


def _beside(path: Path, name: Any) -> Any:
    return str(path.parent / name) if isinstance(name, str) and name and not name.startswith("~") else name


def _schema_problems(values: dict[str, Any]) -> list[Problem]:
    """Return what is wrong with `schema`, and drop it then. Each file says for itself what it is written in."""
    version = values.get("schema", SCHEMA)
    if type(version) is int and version == SCHEMA:
        return []
    del values["schema"]
    if type(version) is not int:
        return [Problem("AGT102", "`schema` is a whole number", ("schema",), hint=f"write schema = {SCHEMA}")]
    hint = f"write schema = {SCHEMA}, or use a version of agentoml that knows it" if version > SCHEMA else ""
    message = f"schema {version} is not known here; this program knows {SCHEMA}"
    return [Problem("AGT112", message, ("schema",), hint=hint)]


def _extends_problems(values: Mapping[str, Any]) -> list[Problem]:
    extends = values.get("extends", [])
    if not isinstance(extends, list):
        hint = f'put it in brackets: ["{extends}"]' if isinstance(extends, str) else 'write ["preset:NAME", "FILE"]'
        return [Problem("AGT102", "`extends` is a list of presets and files", ("extends",), hint=hint)]
    return [
        Problem("AGT102", "what is extended is a preset or a file, in quotes", ("extends", index))
        for index, target in enumerate(extends)
        if not isinstance(target, str) or not target
    ]
