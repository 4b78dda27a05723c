"""Models that somebody lists <-> a catalog file of ours, in an order that does not depend on who lists them. Pure."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentoml.config.texts import SCHEMA
from agentoml.config.write import GENERATED


class Differences(NamedTuple):
    """How many models of a list are new, say something else than before, or are gone."""

    new: int
    changed: int
    gone: int


def catalog_file(models: Mapping[str, Any], source: str, when: datetime.datetime) -> bytes:
    """Return a catalog file. `source` says in a line where the models are from; `models` is as `[models]` has them."""
    import tomli_w

    table = {"schema": SCHEMA, "models": {key: models[key] for key in sorted(models)}}
    header = f"{GENERATED}# {source}, {when.isoformat(timespec='seconds')}, by `agentoml catalog sync`.\n\n"
    return (header + tomli_w.dumps(table)).encode("utf-8", "replace")


def is_ours(content: bytes) -> bool:
    """Return whether a file was written by us, so that it may be replaced."""
    return content.startswith(GENERATED.encode())


def written_models(content: bytes) -> Mapping[str, Any]:
    """Return the models of a catalog file that was written by us; none where it has been damaged."""
    try:
        models = tomllib.loads(content.decode()).get("models")
    except (ValueError, RecursionError):
        return {}
    return models if isinstance(models, dict) else {}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Differences:
    """Compare two lists of models."""
    common = before.keys() & after.keys()
    return Differences(
        new=len(after.keys() - before.keys()),
        changed=sum(1 for key in common if before[key] != after[key]),
        gone=len(before.keys() - after.keys()),
    )
