"""What a provider answered instead of a reply -> ModelError: its kind, and a short sentence without secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agentoml.errors import ModelError, ModelErrorKind

MAX_MESSAGE = 300

_STATUS: Mapping[int, ModelErrorKind] = {
    401: "auth",
    402: "auth",
    403: "auth",
    408: "timeout",
    425: "overloaded",
    429: "rate_limit",
    504: "timeout",
    522: "timeout",
    524: "timeout",
}

_TOO_LONG = ("context_length", "context length", "context window", "prompt is too long", "too many tokens")

_WORDS: tuple[tuple[ModelErrorKind, tuple[str, ...]], ...] = (
    ("context_length", _TOO_LONG),
    ("auth", ("insufficient_quota", "authentication", "permission", "invalid_api_key", "billing")),
    ("rate_limit", ("rate_limit", "rate limit", "too_many_requests", "resource_exhausted")),
    ("overloaded", ("overloaded", "server_error", "api_error", "internal", "unavailable")),
    ("timeout", ("timeout", "timed out")),
)
"""What codes and types of errors contain, where no status says more. The first that fits counts."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+")


def status_failure(
    where: str, status: int, headers: Mapping[str, str], body: bytes, key: str | None = None
) -> ModelError:
    """Return the error of an answer whose status is not 2xx. `key` is masked, should the provider repeat it."""
    if 300 <= status < 400:
        return ModelError("bad_request", f"{where} answered {status}, a redirect; name the address itself in base_url")
    codes, message = _taken_apart(body)
    kind = _STATUS.get(status)
    if kind is None:
        kind = "overloaded" if status >= 500 else "bad_request"
        if kind == "bad_request" and says_too_long(f"{codes} {message}"):
            kind = "context_length"
    elif kind == "rate_limit" and "insufficient_quota" in codes:
        kind = "auth"  # waiting does not help
    told = shown(message, key)
    return ModelError(
        kind, f"{where} answered {status}" + (f": {told}" if told else ""), retry_after=_retry_after(headers)
    )


def stream_failure(where: str, error: Any, key: str | None = None) -> ModelError:
    """Return the error of an error object that came inside a stream (or with status 200)."""
    codes, message = _from_json(error)
    status = next((int(word) for word in codes.split() if len(word) == 3 and word.isdigit()), 0)
    kind = _STATUS.get(status) or _kind_by_words(codes)
    if kind is None and says_too_long(message):
        kind = "context_length"
    if kind is None:
        kind = "overloaded" if status >= 500 else "bad_request"
    return ModelError(
        kind, f"{where} broke off: {shown(message, key) or shown(codes, key) or 'an error without a text'}"
    )


def garbage(where: str, what: str) -> ModelError:
    """Return the error of an answer that is not what the protocol says."""
    return ModelError("protocol", f"{where} sent {what}")


def shown(text: str, key: str | None = None) -> str:
    """Return a text of a provider fit to be shown: one line, clipped, no control characters, the key masked."""
    if key:
        text = text.replace(key, "***")
    text = " ".join(_CONTROL.sub(" ", text).split())
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def says_too_long(text: str) -> bool:
    """Tell whether codes or a message say that the prompt is longer than the model takes."""
    lower = text.lower()
    return any(word in lower for word in _TOO_LONG)


def _kind_by_words(codes: str) -> ModelErrorKind | None:
    lower = codes.lower()
    for kind, words in _WORDS:
        if any(word in lower for word in words):
            return kind
    return None


def _taken_apart(body: bytes) -> tuple[str, str]:
    """Return codes and message of an error's body; a page of HTML says nothing."""
    text = body.decode("utf-8", "replace")
    try:
        return _from_json(json.loads(text))
    except (ValueError, RecursionError):
        return "", "" if text.lstrip().startswith("<") else text


def _from_json(value: Any) -> tuple[str, str]:
    """Find codes and message in the forms that errors come in: {"error": {...}}, {"error": "..."}, {"message": ...},
    {"detail": ...}, or a list of those.
    """
    for _ in range(3):
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict) and value.get("error"):
            value = value["error"]
    if isinstance(value, str):
        return "", value
    if not isinstance(value, dict):
        return "", ""
    codes = " ".join(str(value[name]) for name in ("code", "type", "status") if isinstance(value.get(name), str | int))
    for name in ("message", "detail", "error_message", "msg"):
        if value.get(name):
            found = value[name]
            return codes, found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return codes, ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that the provider asks for, in seconds, in milliseconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    if date := headers.get("retry-after"):
        from datetime import UTC, datetime
        from email.utils import parsedate_to_datetime

        try:
            until = parsedate_to_datetime(date)
        except ValueError:
            return None
        return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return None
