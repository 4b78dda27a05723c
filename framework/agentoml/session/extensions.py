"""`[extensions]`: an extension method of ACP as picks of the session that it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentoml.config.schema import Extension
from agentoml.errors import InvalidParams
from agentoml.session.session import Session
from agentoml.snapshot.placeholders import filled
from agentoml.snapshot.selections import Refused

ALWAYS = frozenset({"sessionId", "_meta"})
"""The fields that any method has."""


def answer(session: Session, extension: Extension, params: Mapping[str, Any]) -> dict[str, Any]:
    """Make the picks that the params ask for, all or none, and return the result. A field that is null is left out.

    Raises:
        InvalidParams: a field that the method does not have, none of those it has, or a pick that can't be made.
    """
    given = {name: value for name, value in params.items() if name not in ALWAYS and value is not None}
    for name, value in given.items():
        if name not in extension.params:
            raise InvalidParams(path=f"$.{name}", reason="is not known here", available=sorted(extension.params))
        if not isinstance(value, str | bool):
            raise InvalidParams(path=f"$.{name}", reason="must be a string or a boolean")
    if extension.params and not given:
        raise InvalidParams("none of its fields is given", reason="is_missing", available=sorted(extension.params))
    try:
        session.switch({extension.params[name]: value for name, value in given.items()})
    except Refused as refused:
        raise InvalidParams(str(refused), **refused.data) from None
    result: dict[str, Any] = filled(extension.result, session.resolved())
    return result
