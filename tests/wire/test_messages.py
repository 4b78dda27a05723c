"""Every builder against the official schema and SDK."""

from __future__ import annotations

from typing import Any

import pytest

from agentoml.wire import messages, methods
from schema_frames import SCHEMA, check_frame, methods_of_the_schema


def update(body: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": body}}


TEXT = messages.text_block("hi")
VALUE = messages.select_value("a", "A", "The first", {"x": 1})
FLAT = messages.select_option("model", "Model", "a", [VALUE], category="model", description="Which", meta={"y": {}})
GROUPED = messages.select_option("m", "M", "a", [messages.select_group("g", "G", [VALUE])])
BOOLEAN = messages.boolean_option("fast", "Fast", False, category="model_config")

UPDATES = {
    "user chunk": messages.user_message_chunk(TEXT, "m1"),
    "agent chunk": messages.agent_message_chunk("hi", "m1"),
    "agent chunk without id": messages.agent_message_chunk("hi"),
    "thought": messages.agent_thought_chunk("hm", "m2"),
    "tool call": messages.tool_call(
        "c1",
        "Edit a file",
        name="edit_file",
        kind="edit",
        status="pending",
        content=[
            messages.content_item(TEXT),
            messages.content_item(messages.image_block("QQ==", "image/png")),
            messages.diff_item("/a", "old", "new"),
            messages.diff_item("/b", None, "new"),
            messages.terminal_item("t1"),
        ],
        locations=[messages.location("/a", 3), messages.location("/b")],
        raw_input={"path": "/a"},
        meta={"z": 1},
    ),
    "tool call update": messages.tool_call_update(
        "c1", status="completed", title="Edited", content=[], raw_output={"ok": True}
    ),
    "options": messages.config_option_update([FLAT, GROUPED, BOOLEAN]),
    "mode": messages.current_mode_update("code"),
    "plan": messages.plan([messages.plan_entry("Look", "in_progress", "high")]),
    "commands": messages.available_commands_update(
        [messages.available_command("review", "Reviews", "what"), messages.available_command("stop", "Stops")]
    ),
    "usage": messages.usage_update(10, 1000, 0.25),
    "usage without cost": messages.usage_update(10, 1000),
    "info": messages.session_info_update(title="T", updated_at="2026-11-20T10:00:00Z"),
    "info cleared": messages.session_info_update(title=None),
    "notice": messages.notice("warning", "The file is broken", "line 3"),
}


@pytest.mark.parametrize("body", UPDATES.values(), ids=UPDATES)
def test_every_update_is_what_the_schema_says(body: dict[str, Any]) -> None:
    check_frame(update(body))


@pytest.mark.skipif(not SCHEMA.exists(), reason="the official schema is not here")
def test_an_update_that_is_not_in_the_schema_is_found() -> None:
    for wrong in ({"sessionUpdate": "_mine"}, {"sessionUpdate": "current_mode_update", "modeId": "x"}):
        with pytest.raises(AssertionError):
            check_frame(update(wrong))


def test_a_field_of_our_own_is_found() -> None:
    with pytest.raises(AssertionError, match="mine"):
        check_frame(update(messages.current_mode_update("code") | {"mine": 1}))


def test_what_is_left_out_is_not_sent_and_what_is_cleared_is_null() -> None:
    assert messages.session_info_update(title=None) == {"sessionUpdate": "session_info_update", "title": None}
    assert messages.tool_call_update("c1") == {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}
    assert messages.select_value("a", "A") == {"value": "a", "name": "A"}


def test_the_answer_to_initialize_is_what_the_schema_says() -> None:
    for offered in ((), tuple(methods.METHODS)):
        result = messages.initialize_result(
            messages.implementation("acme", "1.0", "Acme"),
            methods.capabilities(offered, prompt={"image": True}, mcp={"http": True}, additional_directories=True),
            [{"id": "login", "name": "Sign in"}],
        )
        check_frame({"jsonrpc": "2.0", "id": 0, "result": result}, "initialize")


def test_the_opening_of_a_session_is_what_the_schema_says() -> None:
    modes = messages.mode_state("code", [messages.session_mode("code", "Code", "Writes")])
    result = {"sessionId": "s", "modes": modes, "configOptions": [FLAT, BOOLEAN]}
    check_frame({"jsonrpc": "2.0", "id": "a", "result": result}, "session/new")


@pytest.mark.skipif(not SCHEMA.exists(), reason="the official schema is not here")
def test_the_table_has_every_stable_method_and_no_other() -> None:
    assert set(methods_of_the_schema("agent")) == set(methods.METHODS)
