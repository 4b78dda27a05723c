"""The last good configuration on disk, as the texts it was built from: a restart over broken files serves it.

Never pickled; bound to the configuration's path and the product's version. It is compiled anew, so whatever holds
for files today holds for it too.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from agentoml import __version__
from agentoml.config.layering.directories import own_folder
from agentoml.config.layers import Configuration, Reading
from agentoml.config.texts import CatalogText, Text


def keep(config: Configuration, reading: Reading) -> None:
    """Keep the texts of a configuration that compiled. Readable by its owner alone, replaced as a whole.

    Raises:
        OSError: the state directory can't be written.
    """
    file = _file(config)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    document = {
        "version": __version__,
        "config": str(config or ""),
        "texts": [_dumped(text) for text in reading.texts],
        "catalogs": [_dumped_catalog(catalog) for catalog in reading.catalogs],
    }
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(document, stream)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def recall(config: Configuration) -> Reading | None:
    """Return the texts that were kept, or None where there are none that can be read."""
    try:
        document = json.loads(_file(config).read_text(encoding="utf-8"))
        texts = tuple(_loaded(text) for text in document["texts"])
        return Reading(texts, (), tuple(_loaded_catalog(catalog) for catalog in document["catalogs"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _file(config: Configuration) -> Path:
    digest = hashlib.sha256(f"{__version__}\0{config!r}".encode("utf-8", "surrogateescape")).hexdigest()
    return own_folder("state") / "last-good" / f"{digest[:32]}.json"


def _dumped(text: Text) -> dict[str, Any]:
    return {
        "name": text.name,
        "content": text.content.decode(),
        "path": str(text.path) if text.path is not None else None,
        "layer": text.layer,
        "included": dict(text.included),
    }


def _loaded(value: dict[str, Any]) -> Text:
    path = Path(value["path"]) if value["path"] is not None else None
    return Text(value["name"], value["content"].encode(), path, value["layer"], dict(value["included"]))


def _dumped_catalog(catalog: CatalogText) -> dict[str, Any]:
    """Return a catalog for the disk; what is bundled with a library is not kept: it is still there."""
    kept = {**catalog._asdict(), "text": _dumped(catalog.text)}
    return {**kept, "listed": "" if catalog.source == "bundled" else catalog.listed.decode("utf-8", "replace")}


def _loaded_catalog(value: dict[str, Any]) -> CatalogText:
    text = _loaded(value["text"])
    return CatalogText(
        catalog=value["catalog"],
        source=value["source"],
        text=text,
        listed=text.path.read_bytes() if value["source"] == "bundled" and text.path else value["listed"].encode(),
        include=tuple(value["include"]),
        exclude=tuple(value["exclude"]),
        providers=tuple((theirs, ours) for theirs, ours in value["providers"]),
        today=value["today"],
    )
