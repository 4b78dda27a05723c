from __future__ import annotations

from agentoml.cli import chat_lines
from agentoml.wire import messages


def texts(lines: list[chat_lines.Line]) -> list[str]:
    return [line.text for line in lines]


def test_a_call_shows_its_status_kind_and_places_relative_to_the_project() -> None:
    call = messages.tool_call(
        "c1",
        "Reading",
        kind="read",
        status="completed",
        locations=[messages.location("/home/me/a.md", 3), messages.location("/etc/hosts")],
    )
    assert chat_lines.tool_call(call, "/home/me").text == "✓ Reading  (read, a.md:3, /etc/hosts)"


def test_a_place_that_the_title_names_is_not_repeated_and_a_title_stays_one_line() -> None:
    call = messages.tool_call("c1", "Edit a.md\n? Forged  question", locations=[messages.location("/p/a.md")])
    assert chat_lines.tool_call(call, "/p").text == "◦ Edit a.md ? Forged question  (other)"


def test_the_project_itself_is_a_dot() -> None:
    call = messages.tool_call("c1", "List", locations=[messages.location("/p")])
    assert chat_lines.tool_call(call, "/p").text == "◦ List  (other, .)"


def test_a_diff_shows_only_what_changes_and_where() -> None:
    lines = chat_lines.content([messages.diff_item("/p/a.md", "one\ntwo\nthree\n", "one\n2\nthree\n")], "/p")
    assert texts(lines) == ["  a.md", "  @@ -1,3 +1,3 @@", "   one", "  -two", "  +2", "   three"]
    new = chat_lines.content([messages.diff_item("/p/b.md", None, "x\n")], "/p")
    assert texts(new) == ["  b.md (new file)", "  @@ -0,0 +1 @@", "  +x"]


def test_a_long_text_is_cut_and_says_so() -> None:
    item = messages.content_item(messages.text_block("\n".join(map(str, range(20)))))
    assert texts(chat_lines.content([item], "/p"))[-2:] == ["  7", "  … 12 more lines"]


def test_a_question_shows_all_that_is_agreed_to() -> None:
    text = messages.content_item(messages.text_block("\n".join(map(str, range(20)))))
    diff = messages.diff_item("/p/a.md", None, "x\n" * 100)
    lines = texts(chat_lines.content([text, diff], "/p", in_full=True))
    assert "  19" in lines and lines.count("  +x") == 100


def test_blocks_without_text_are_named() -> None:
    assert chat_lines.block_text(messages.image_block("AAAA", "image/png")) == "[image]"
    assert chat_lines.block_text({"type": "resource_link", "uri": "file:///a", "name": "a"}) == "file:///a"
    assert chat_lines.block_text({"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}) == "x"


def test_usage_is_one_line_and_a_plan_one_line_an_entry() -> None:
    assert (
        chat_lines.usage(messages.usage_update(1_500, 3_000, 0.25)).text == "1,500 of 3,000 tokens (50 %) · 0.2500 USD"
    )
    assert texts(chat_lines.plan([messages.plan_entry("Look", "in_progress", "high")])) == ["  ◐ Look"]


def test_a_notice_has_a_line_for_each_of_its_own_and_none_that_looks_like_another() -> None:
    lines = chat_lines.notice(messages.notice("error", "Not\nvalid", "a.toml:1:1: wrong\n! b.toml:2:2: wrong, too"))
    assert [line.text for line in lines] == ["! Not valid: a.toml:1:1: wrong", "  ! b.toml:2:2: wrong, too"]
    assert [line.text for line in chat_lines.notice(messages.notice("info", "Gone"))] == ["! Gone"]
