"""What is told of a reload as JSON: to clients that ask for it, and on the command line."""

from __future__ import annotations

from typing import Any

from agentoml.config.problems import to_json
from agentoml.snapshot.diff import Change
from agentoml.snapshot.store import Record


def record_json(record: Record) -> dict[str, Any]:
    """Return an attempt: how it ended, what is wrong or what it changed, how many sessions were told something."""
    return {
        "attempt": record.number,
        "trigger": record.trigger,
        "state": record.state,
        "generation": record.generation,
        "problems": [to_json(problem) for problem in record.problems],
        "changes": [change_json(change) for change in record.changes],
        "sessionsTold": record.told,
        "milliseconds": round(record.milliseconds, 3),
    }


def change_json(change: Change) -> dict[str, Any]:
    """Return one entry that came, went or changed."""
    return {
        "area": change.area,
        "name": change.name,
        "what": change.what,
        "sentence": change.sentence,
        "widens": change.widens,
        "restarts": change.restarts,
    }
