"""Globs over names."""

from __future__ import annotations

import pytest

from agentoml.config.globs import matches, selects


@pytest.mark.parametrize(
    ("glob", "text", "matched"),
    [
        ("*", "", True),
        ("openai/*", "openai/gpt/5", True),
        ("openai/*", "xopenai/gpt", False),
        ("gpt-?", "gpt-5", True),
        ("gpt-?", "gpt-", False),
        ("*sonnet*", "claude-sonnet-4", True),
        ("opus[1m]", "opus[1m]", True),
        ("opus[1m]", "opus1", False),
        ("a.c", "abc", False),
        ("a*\n", "a\nb\n", True),
        ("A", "a", False),
    ],
)
def test_a_glob_describes_the_whole_text(glob: str, text: str, matched: bool) -> None:
    assert matches(glob, text) is matched


def test_letter_case_may_be_ignored() -> None:
    assert matches("Zed*", "zed-preview", ignore_case=True)


def test_a_list_excludes_and_exclusions_alone_start_from_everything() -> None:
    assert selects(("*", "!zed*"), "vim")
    assert not selects(("*", "!zed*"), "zed")
    assert selects(("!zed*",), "vim")
    assert not selects(("!zed*",), "zed")
    assert not selects((), "vim")
    assert not selects(("vim", "!*"), "vim")


def test_many_stars_take_no_more_time_than_one() -> None:
    assert not matches("*" * 60 + "b", "a" * 2000)
