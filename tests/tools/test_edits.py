from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.tools.edits import DIFF_WHOLE, diff_texts, replaced
from agentoml.tools.texts import split_lines


@given(st.text(alphabet="ab\r\n\x0b\u2028", max_size=30))
@settings(max_examples=100)
def test_lines_put_together_are_the_text(text: str) -> None:
    assert "".join(split_lines(text)) == text


def test_only_real_line_ends_end_a_line() -> None:
    assert split_lines("a\x0bb\u2028c\nd\r\ne\rf") == ["a\x0bb\u2028c\n", "d\r\n", "e\r", "f"]


def test_a_diff_of_a_large_file_shows_the_lines_around() -> None:
    lines = [f"line {number}\n" for number in range(DIFF_WHOLE // 10)]
    changed = [*lines[:500], "new\n", *lines[501:]]

    old, new = diff_texts("".join(lines), "".join(changed))

    assert old is not None
    assert old.splitlines()[0] == "line 480"
    assert old.splitlines()[-1] == "line 520"
    assert new.splitlines()[20] == "new"


@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
@settings(max_examples=15)
def test_a_diff_of_parts_leaves_out_the_same_lines_on_both_sides(left: list[str], right: list[str]) -> None:
    filler = [f"{number}\n" for number in range(DIFF_WHOLE // 6)]
    old, new = ("".join([*filler, *(f"{line}\n" for line in lines), *filler]) for lines in (left, right))

    before, after = diff_texts(old, new)

    assert before is not None
    assert len(before) < 500
    head, _, tail = old.partition(before) if before != after else ("", "", "")
    assert before == after or new == head + after + tail


def test_an_insertion_in_a_crlf_file_gets_crlf() -> None:
    assert replaced("a\r\nb\r\n", "a\n", "a\nx\n", every=False, path="f") == ("a\r\nx\r\nb\r\n", 1)
