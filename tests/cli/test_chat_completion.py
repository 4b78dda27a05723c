from __future__ import annotations

import pytest

from agentoml.cli.chat_completion import candidates
from agentoml.wire import messages

MODES = [messages.select_value("plan", "Plan"), messages.select_value("code", "Code")]
OPTIONS = [
    messages.select_option("mode", "Mode", "code", MODES, category="mode"),
    messages.boolean_option("fast", "Fast", True),
]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("/", ["/mode", "/set", "/log", "/help", "/quit", "/review"]),
        ("/re", ["/review"]),
        ("/mode p", ["plan"]),
        ("/set ", ["mode", "fast"]),
        ("/set mode ", ["plan", "code"]),
        ("/set fast ", ["off"]),
        ("/set nope ", []),
        ("please /", []),
        ("", []),
    ],
)
def test_tab_offers_what_may_stand_there(typed: str, offered: list[str]) -> None:
    assert candidates(typed, OPTIONS, ["review"]) == offered
