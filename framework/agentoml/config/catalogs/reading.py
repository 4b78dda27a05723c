"""[catalogs] -> what they name, read: files of models, lists that providers gave, the cost map inside litellm.

Like layers.py it never fails: what can't be read is a problem of the key that names it.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agentoml.config.catalogs.cost_map import MAP, litellm_names
from agentoml.config.catalogs.lists import list_file
from agentoml.config.layering.files import similar, unreadable
from agentoml.config.layers import Reading, read_one
from agentoml.config.merge import merge
from agentoml.config.origins import origins
from agentoml.config.parse import parse
from agentoml.config.problems import Path as KeyPath
from agentoml.config.problems import Problem
from agentoml.config.texts import CatalogText, Merged, Text


def with_catalogs(reading: Reading) -> Reading:
    """Read the catalogs that a configuration declares; their files and the lists on disk are files to watch."""
    if not any(b"catalogs" in text.content for text in reading.texts):
        return reading
    declared = _declared(reading)
    found = [catalog for written in _written(declared) for catalog in _read(written, declared)]
    files = dict.fromkeys((*reading.files, *(file for one in found for file in one.files)))
    return reading._replace(catalogs=tuple(one.catalog for one in found), files=tuple(files))


class _Found(NamedTuple):
    catalog: CatalogText
    files: tuple[Path, ...] = ()


class _Written(NamedTuple):
    """`[catalogs.NAME]` as it is written, whatever that is."""

    name: str
    table: Mapping[str, Any]

    @property
    def is_list(self) -> bool:
        """Whether its file is written from a list."""
        return not self.table.keys().isdisjoint(("discover", "bundled"))

    def catalog(self, source: Any, text: Text, **more: Any) -> CatalogText:
        include, exclude = _globs(self.table.get("include"), ("*",)), _globs(self.table.get("exclude"), ())
        return CatalogText(self.name, source, text, include=include, exclude=exclude, **more)


def _declared(reading: Reading) -> Merged:
    """Return [catalogs] and [providers] as all texts together say. What is wrong there is told by others."""
    tables = (parse(text) for text in reading.texts)
    return merge(
        [
            table._replace(
                values={key: table.values[key] for key in ("catalogs", "providers") if key in table.values}, problems=()
            )
            for table in tables
        ]
    )


def _written(declared: Merged) -> Iterator[_Written]:
    catalogs = declared.table.get("catalogs")
    for name, table in catalogs.items() if isinstance(catalogs, dict) else ():
        if isinstance(table, dict):
            yield _Written(name, table)


def _read(written: _Written, declared: Merged) -> Iterator[_Found]:
    file, discover = written.table.get("file"), written.table.get("discover")
    path: KeyPath = ("catalogs", written.name, "file")
    if isinstance(file, str) and file:
        yield _file(written, file, path, declared)
    elif isinstance(file, list):
        for index, one in enumerate(file):
            if isinstance(one, str) and one:
                yield _file(written, one, (*path, index), declared)
    elif isinstance(discover, str):
        yield _list(written, discover, declared)
    elif written.table.get("bundled") == "litellm":
        yield _bundled(written, declared)


def _file(written: _Written, file: str, path: KeyPath, declared: Merged) -> _Found:
    there = Path(os.path.abspath(os.path.expanduser(file)))  # noqa: PTH100, PTH111 - these never fail
    name = _shown(there, path, declared)
    reason = unreadable(there)
    if reason:
        hint = "`agentoml catalog sync` writes it" if written.is_list and not there.exists() else similar(there)
        problem = Problem("AGT307", f"{name} can't be read: {reason}", path, hint=hint)
        return _Found(written.catalog("file", Text(name, b"", there, problems=(problem,))), (there,))
    found = read_one(name, there)
    return _Found(written.catalog("file", found.texts[0]), found.files)


def _shown(there: Path, path: KeyPath, declared: Merged) -> str:
    """Return what users call a file: as seen from where they call the file that names it (L9)."""
    text = next((origin.text for origin in origins(declared, path)), None)
    if text is None or text.path is None or not there.is_relative_to(text.path.parent):
        return str(there)
    return str(Path(text.name).parent / there.relative_to(text.path.parent))


def _list(written: _Written, provider: str, declared: Merged) -> _Found:
    providers = declared.table.get("providers")
    table = providers.get(provider) if isinstance(providers, dict) else None
    if not isinstance(table, dict):
        return _Found(written.catalog("discover", Text(provider, b"", None), providers=((provider, provider),)))
    api_key = table.get("api_key")
    place = api_key if isinstance(api_key, dict) else None
    file = list_file(provider, table.get("adapter"), table.get("base_url"), place)
    text = Text(str(file), b"", file)
    return _Found(written.catalog("discover", text, listed=_bytes(file), providers=((provider, provider),)), (file,))


def _bundled(written: _Written, declared: Merged) -> _Found:
    providers = declared.table.get("providers")
    served = litellm_names(providers) if isinstance(providers, dict) else ()
    bundled = bundled_list()
    text = Text(str(bundled.file), b"", bundled.file)
    if not bundled.content:
        message = "litellm's list of models can't be read"
        hint = "install litellm"
        problem = Problem("AGT307", message, ("catalogs", written.name, "bundled"), hint=hint)
        text = text._replace(problems=(problem,))
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return _Found(written.catalog("bundled", text, listed=bundled.content, providers=served, today=today))


class BundledList(NamedTuple):
    """litellm's list of models. `content` is empty where it can't be read."""

    file: Path
    content: bytes


def bundled_list() -> BundledList:
    """Return litellm's list as it is installed, without importing litellm."""
    found = importlib.util.find_spec("litellm")
    file = Path(found.origin or "").parent / MAP if found else Path(MAP)
    return BundledList(file, _bytes(file))


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _globs(value: object, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs as written; where they are no globs, `structure` says so."""
    if isinstance(value, str):
        return (value,)
    return tuple(glob for glob in value if isinstance(glob, str)) if isinstance(value, list) else default
