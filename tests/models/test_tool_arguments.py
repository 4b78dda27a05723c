from __future__ import annotations

import json

import pytest

from agentoml.models.model import ToolRequest
from agentoml.models.tool_arguments import argument_object, argument_text


@pytest.mark.parametrize(
    ("written", "text", "value"),
    [
        ('{"a": 1}', '{"a": 1}', {"a": 1}),
        (' {"a":  1} ', ' {"a":  1} ', {"a": 1}),
        ("", "{}", {}),
        ("{}", "{}", {}),
        ("[1]", None, {"invalid_arguments": "[1]"}),
        ('{"a": ', None, {"invalid_arguments": '{"a": '}),
        ('{"a": NaN}', None, {"invalid_arguments": '{"a": NaN}'}),
        ('{"a": [-Infinity]}', None, {"invalid_arguments": '{"a": [-Infinity]}'}),
        ('{"a": 1e999}', None, {"invalid_arguments": '{"a": 1e999}'}),
        ("[" * 100_000, None, {"invalid_arguments": "[" * 100_000}),
    ],
)
def test_arguments_are_always_an_object(written: str, text: str | None, value: dict[str, object]) -> None:
    request = ToolRequest("id", "name", written)

    assert argument_object(request) == value
    assert argument_text(request) == (json.dumps(value) if text is None else text)
