"""Texts as Markdown code."""

from __future__ import annotations

import pytest

from agentoml.tools.clipping import code_span


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("mcp.x.command", "`mcp.x.command`"),
        ("a`b <!-- ``", "``` a`b <!-- `` ```"),
        (" a ", "`  a  `"),
        ("it`s", "``it`s``"),
    ],
)
def test_a_line_of_code_is_closed_by_nothing_in_it(text: str, span: str) -> None:
    assert code_span(text) == span
