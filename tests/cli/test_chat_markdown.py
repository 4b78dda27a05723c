from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.cli.chat_markdown import MarkdownAnswer, split_blocks
from cli.terminal import ESCAPES

LINES = ["text", "", "- item", "1. one", "    indented", "```", "~~~", "# Head", "| a | b |"]


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("one paragraph that\nmay go on\n", ""),
        ("first\n\nsecond begins\n", "first\n\n"),
        ("first\n\nsec", ""),  # it could become a list item or a fence
        ("```\ncode\n\nmore\n", ""),
        ("```\ncode\n\nmore\n```\n\nafter\n", "```\ncode\n\nmore\n```\n\n"),
        ("- one\n\n- two\n", ""),
        ("- one\n\n  more of one\n", ""),
        ("- one\n\nafter\n", "- one\n\n"),
    ],
)
def test_only_blocks_that_can_t_change_any_more_are_finished(text: str, finished: str) -> None:
    assert split_blocks(text) == (finished, text.removeprefix(finished))


@settings(max_examples=50)
@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_nothing_is_lost_and_what_is_finished_stays_so(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    finished, rest = split_blocks(text)
    assert finished + rest == text
    assert split_blocks(rest)[0] == ""


def test_a_message_is_drawn_whole_however_it_was_cut() -> None:
    out = io.StringIO()
    answer = MarkdownAnswer(out, colour=False)
    for piece in ("# He", "ad\n\nSome *wo", "rds*.\n\n", "- item\x1b[2J"):
        answer.add(piece)
    answer.finish()
    shown = ESCAPES.sub("", out.getvalue())
    assert "Some words." in shown and " • item[2J" in shown
    assert "\x1b[2J" not in out.getvalue()
