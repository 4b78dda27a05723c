from __future__ import annotations

import io

from agentoml.cli.chat_screen import Screen
from agentoml.wire import messages


def screen(answers: io.StringIO, out: io.StringIO) -> Screen:
    return Screen(answers=answers, out=out, cwd="/p")


def test_an_answer_in_a_file_of_its_own_stays_whole_whatever_comes_between() -> None:
    answers, out = io.StringIO(), io.StringIO()
    shown = screen(answers, out)
    shown.update(messages.agent_message_chunk("half a ", "m1"))
    shown.line("between")
    shown.update(messages.agent_message_chunk("sentence", "m1"))
    shown.finish()
    assert (answers.getvalue(), out.getvalue()) == ("half a sentence\n", "between\n")


def test_an_answer_that_shares_its_file_ends_its_line_first() -> None:
    out = io.StringIO()
    shown = screen(out, out)
    shown.update(messages.agent_message_chunk("half a ", "m1"))
    shown.line("between")
    assert out.getvalue() == "half a \nbetween\n"


def test_a_question_is_shown_in_full() -> None:
    out = io.StringIO()
    text = messages.content_item(messages.text_block("\n".join(f"line {number}" for number in range(20))))
    call = messages.tool_call("c1", "Use agent.toml of this project?", content=[text])
    screen(out, out).question(call, [messages.permission_option("yes", "Trust", "allow_always")])
    assert "line 19" in out.getvalue() and "more lines" not in out.getvalue()
