from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from agentoml.models.failures import MAX_MESSAGE, shown, status_failure, stream_failure

WHERE = "127.0.0.1:4000"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "auth"),
        (402, "auth"),
        (403, "auth"),
        (404, "bad_request"),
        (408, "timeout"),
        (413, "bad_request"),
        (422, "bad_request"),
        (429, "rate_limit"),
        (500, "overloaded"),
        (502, "overloaded"),
        (503, "overloaded"),
        (504, "timeout"),
        (524, "timeout"),
        (529, "overloaded"),
        (302, "bad_request"),
        (307, "bad_request"),
    ],
)
def test_a_status_says_what_kind_of_failure_it_is(status: int, kind: str) -> None:
    failure = status_failure(WHERE, status, {}, b"")

    assert failure.kind == kind
    assert str(failure).startswith(f"{WHERE} answered {status}")


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "No such model", "type": "invalid_request_error"}},
        {"error": "No such model"},
        {"message": "No such model"},
        {"detail": "No such model"},
        [{"error": {"code": 404, "message": "No such model"}}],
        {"type": "error", "error": {"type": "not_found_error", "message": "No such model"}},
        "No such model",
    ],
)
def test_the_message_is_found_in_every_form(body: Any) -> None:
    assert str(status_failure(WHERE, 404, {}, json.dumps(body).encode())) == f"{WHERE} answered 404: No such model"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"plain text", ": plain text"),
        (b"<html><body>Bad gateway</body></html>", ""),
        (b"", ""),
        (b"null", ""),
        (b"{}", ""),
        (b'{"error": {"code": "x"}}', ""),
        (b"[" * 100_000, ": " + "[" * (MAX_MESSAGE - 1) + "…"),
        (b'{"detail": [{"loc": ["body"], "msg": "missing"}]}', ': [{"loc": ["body"], "msg": "missing"}]'),
    ],
)
def test_bodies_that_say_little_are_taken_as_they_are(body: bytes, told: str) -> None:
    assert str(status_failure(WHERE, 400, {}, body)) == f"{WHERE} answered 400{told}"


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "message": "too big"},
        {"type": "invalid_request_error", "message": "This model's maximum context length is 8192 tokens."},
        {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
        {"message": "Your input exceeds the context window of this model."},
    ],
)
def test_a_prompt_that_is_too_long_is_told_apart(error: dict[str, str]) -> None:
    assert status_failure(WHERE, 400, {}, json.dumps({"error": error}).encode()).kind == "context_length"
    assert stream_failure(WHERE, error).kind == "context_length"


def test_a_quota_that_is_used_up_is_nothing_to_wait_for() -> None:
    body = b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}'

    assert not status_failure(WHERE, 429, {}, body).retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert status_failure(WHERE, 429, headers, b"").retry_after == seconds


def test_retry_after_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)

    wait = status_failure(WHERE, 503, {"retry-after": date}, b"").retry_after

    assert wait is not None
    assert 90 < wait <= 100


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 429, "message": "x"}, "rate_limit"),
        ({"code": "502", "message": "x"}, "overloaded"),
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded"),
        ({"type": "rate_limit_error"}, "rate_limit"),
        ({"type": "authentication_error", "message": "x"}, "auth"),
        ({"type": "server_error", "message": "x"}, "overloaded"),
        ({"type": "invalid_request_error", "message": "x"}, "bad_request"),
        ("the model failed", "bad_request"),
        (None, "bad_request"),
        ({"code": 999}, "overloaded"),
    ],
)
def test_an_error_inside_a_stream_is_sorted_by_its_codes(error: Any, kind: str) -> None:
    failure = stream_failure(WHERE, error)

    assert failure.kind == kind
    assert str(failure).startswith(f"{WHERE} broke off: ")


def test_a_text_is_made_fit_to_be_shown() -> None:
    assert shown("a\x1b[31mb\r\nc\u202ed  e") == "a [31mb c d e"
    assert len(shown("x" * 1000)) == MAX_MESSAGE
    assert shown("key sk-123 refused", "sk-123") == "key *** refused"
