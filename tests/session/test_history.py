"""The conversation is always in a shape that a model accepts, however a turn ended."""

from __future__ import annotations

from agentoml.models.model import AssistantMessage, Message, TextPart, ToolMessage, ToolRequest
from agentoml.session.history import INTERRUPTED, History


def asks(*ids: str) -> AssistantMessage:
    return AssistantMessage("", "", tuple(ToolRequest(request_id, "shell", "{}") for request_id in ids))


def result(request_id: str, text: str = "done", *, failed: bool = False) -> ToolMessage:
    return ToolMessage(request_id, (TextPart(text),), failed=failed)


def closed(*messages: Message) -> list[Message]:
    history = History(list(messages))
    history.close_open_requests()
    return history.messages[len(messages) :]


def test_a_request_without_a_result_gets_one() -> None:
    assert closed(asks("a", "b"), result("a")) == [result("b", INTERRUPTED, failed=True)]


def test_where_every_request_has_its_result_nothing_is_added() -> None:
    assert closed() == closed(asks("a"), result("a")) == closed(asks("a"), result("a"), asks()) == []


def test_ids_that_come_again_in_every_answer_are_told_apart() -> None:
    assert closed(asks("0"), result("0"), asks("0")) == [result("0", INTERRUPTED, failed=True)]
