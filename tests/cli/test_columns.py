"""Rows stand in columns, whatever stands in them."""

from __future__ import annotations

from agentoml.cli.columns import columns


def test_columns_are_as_wide_as_what_stands_in_them_and_numbers_stand_at_the_right() -> None:
    text = columns(("KEY", "SIZE", "NAME"), [("a", "9", "x"), ("longer", "100k", "y")], right=frozenset({1}))
    assert text.splitlines() == ["KEY     SIZE  NAME", "a          9  x", "longer  100k  y"]


def test_a_column_in_which_nothing_stands_is_left_out() -> None:
    assert columns(("A", "B", "C"), [("1", "", "3")]).splitlines() == ["A  C", "1  3"]


def test_wide_characters_take_two_cells_and_accents_none() -> None:
    rows = [("模型", "x"), ("e\N{COMBINING ACUTE ACCENT}", "y"), ("four", "z")]
    assert columns(("K", "V"), rows).splitlines() == [
        "K     V",
        "模型  x",
        "e\N{COMBINING ACUTE ACCENT}     y",
        "four  z",
    ]


def test_what_would_move_the_cursor_is_a_space() -> None:
    assert columns(("K",), [("a\x1b[31m\nb",)]).splitlines() == ["K", "a [31m b"]
