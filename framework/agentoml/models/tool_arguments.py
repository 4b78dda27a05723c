"""The arguments of tool calls that stand in the history, in a form that every provider takes back."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from agentoml.models.model import ToolRequest


def argument_object(request: ToolRequest) -> dict[str, Any]:
    """Return the arguments as an object; a text that is none (a model wrote it) is kept under a key of its own."""
    found = _object(request.arguments)
    return {"invalid_arguments": request.arguments} if found is None else found


def argument_text(request: ToolRequest) -> str:
    """Return the arguments as the text of an object: as the model wrote them if they are one."""
    if not request.arguments:
        return "{}"
    return request.arguments if _object(request.arguments) is not None else json.dumps(argument_object(request))


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text or "{}", parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(number)
    return value
