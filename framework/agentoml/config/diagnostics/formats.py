"""Problems in the formats of other programs: the workflow commands of GitHub, and SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from agentoml import __version__
from agentoml.config.problems import CODES, Problem, Related

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_github(problems: Iterable[Problem]) -> str:
    """Return one workflow command a problem: GitHub shows each beside its line."""
    return "\n".join(map(_workflow_command, problems))


def _workflow_command(problem: Problem) -> str:
    place: dict[str, str | int] = {"file": problem.file}
    if problem.line:
        place |= {"line": problem.line, "col": problem.column, "endColumn": max(problem.end_column - 1, problem.column)}
    place["title"] = f"{problem.code} {problem.key}".strip()
    properties = ",".join(f"{name}={_escaped(str(said), ':,')}" for name, said in place.items() if said != "")
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"::{problem.severity} {properties}::{_escaped(problem.message + hint)}"


def _escaped(text: str, more: str = "") -> str:
    special = {"%", *more}
    return "".join(f"%{ord(char):02X}" if char in special or char in "\r\n" else char for char in text)


def to_sarif(problems: Iterable[Problem]) -> dict[str, Any]:
    """Return a SARIF log of one run; columns count characters."""
    found = tuple(problems)
    codes = sorted({problem.code for problem in found})
    driver = {
        "name": "agentoml",
        "version": __version__,
        "rules": [{"id": code, "shortDescription": {"text": CODES[code]}} for code in codes],
    }
    results = [_result(problem, codes.index(problem.code)) for problem in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    region: dict[str, Any] = {}
    if problem.line:
        region = {
            "startLine": problem.line,
            "startColumn": problem.column,
            "endColumn": max(problem.end_column, problem.column + 1),
        }
    place = _place(problem.file, region)
    if problem.path:
        place["logicalLocations"] = [{"fullyQualifiedName": problem.key}]
    hint = f"\n{problem.hint}" if problem.hint else ""
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.severity,
        "message": {"text": f"{problem.message}{hint}"},
        "locations": [place],
    }
    if problem.related:
        result["relatedLocations"] = [_related(place) for place in problem.related]
    return result


def _related(related: Related) -> dict[str, Any]:
    region = {"startLine": related.line, "startColumn": related.column} if related.line else {}
    return {**_place(related.file, region), "message": {"text": related.message}}


def _place(file: str, region: dict[str, Any]) -> dict[str, Any]:
    uri = PurePath(file).as_uri() if PurePath(file).is_absolute() else quote(file)
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if region:
        physical["region"] = region
    return {"physicalLocation": physical}
