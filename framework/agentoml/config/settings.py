"""`--set KEY=VALUE` -> one text of the strongest layer each. Pure."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from agentoml.config.inline import string
from agentoml.config.parse import Text
from agentoml.config.problems import Problem, quoted

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
    if not (equals and _is_key(key)):
        problem = Problem("AGT308", f"{quoted(key)} is not KEY=VALUE", hint=f"write {OPTION} agent.model=opus")
        return Text(OPTION, b"", path, "set", problems=(problem._replace(file=OPTION),))
    if not _is_value(value):
        value = string(value)
    return Text(f"{OPTION} {key}", f"{key} = {value.strip()}\n".encode("utf-8", "replace"), path, "set")


def _is_key(key: str) -> bool:
    """Return whether this is one key as TOML writes it, perhaps with dots, and nothing else."""
    try:
        value: Any = tomllib.loads(f"{key} = 0")
    except ValueError:
        return False
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value == 0 and "\n" not in key


def _is_value(value: str) -> bool:
    try:
        return tomllib.loads(f"x = {value}").keys() == {"x"}
    except (ValueError, RecursionError):
        return False
