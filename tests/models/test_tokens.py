from __future__ import annotations

from typing import Any

import pytest

from agentoml.models.tokens import count


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ({"a": 3}, 3),
        ({"a": 3.0}, 3),
        ({"a": 0, "b": 4}, 4),
        ({"b": 4}, 4),
        ({"a": "3"}, 0),
        ({"a": True}, 0),
        ({"a": -1}, 0),
        ({"a": None}, 0),
        (None, 0),
        ([1], 0),
    ],
)
def test_what_is_no_count_is_0(table: Any, found: int) -> None:
    assert count(table, "a", "b") == found
