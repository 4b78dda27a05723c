"""A value -> TOML on one line."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

from agentoml.config.problems import dotted
from agentoml.config.texts import Included


def inline(value: Any) -> str:
    """Return a value as TOML writes it on one line; a text from a file as what names it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return string(value)
        case int():
            return str(value)
        case float():
            return str(value) if math.isfinite(value) else f"{value:+}".replace("+nan", "nan")
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case Included():
            return f"{{ file = {string(value.file)} }}"
        case Mapping():
            entries = ", ".join(f"{dotted((key,))} = {inline(inner)}" for key, inner in value.items())
            return f"{{ {entries} }}" if entries else "{}"
        case _:
            return f"[{', '.join(map(inline, value))}]"


ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def string(text: str) -> str:
    """Return a text in double quotes, as TOML writes it."""
    escaped = (ESCAPES.get(char) or (f"\\u{ord(char):04x}" if char < " " or char == "\x7f" else char) for char in text)
    return f'"{"".join(escaped)}"'
