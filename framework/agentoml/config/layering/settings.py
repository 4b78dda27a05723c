"""`--set KEY=VALUE` -> one text of the strongest layer each. Pure."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from agentoml.config.inline import string
from agentoml.config.problems import Problem, quoted
from agentoml.config.texts import Text

OPTION = "--set"


def setting_texts(settings: tuple[str, ...], folder: Path) -> list[Text]:
    """Return the texts, in order; of several that set the same key the last. Files belong to `folder`.

    A value that is not TOML is a string: `--set agent.model=opus` needs no quotes.
    """
    texts = {text.name: text for text in (_text(setting, folder) for setting in settings)}
    return list(texts.values())


def _text(setting: str, folder: Path) -> Text:
    key, equals, value = setting.partition("=")
    key = key.strip()
    path = folder / OPTION
    if not equals or key_path(key) is None:
        problem = Problem("AGT308", f"{quoted(key)} is not KEY=VALUE", hint=f"write {OPTION} agent.model=opus")
        return Text(OPTION, b"", path, "set", problems=(problem._replace(file=OPTION),))
    if not _is_value(value):
        value = string(value)
    return Text(f"{OPTION} {key}", f"{key} = {value.strip()}\n".encode("utf-8", "replace"), path, "set")


def key_path(key: str) -> tuple[str, ...] | None:
    """Return the path that a key with dots says as TOML writes it, None where it is not one key."""
    path: tuple[str, ...] = ()
    try:
        value: Any = tomllib.loads(f"{key} = 0")
    except (ValueError, RecursionError):
        return None
    while isinstance(value, dict) and len(value) == 1:
        ((name, value),) = value.items()
        path += (name,)
    return path if value == 0 and "\n" not in key else None


def _is_value(value: str) -> bool:
    try:
        return tomllib.loads(f"x = {value}").keys() == {"x"}
    except (ValueError, RecursionError):
        return False
