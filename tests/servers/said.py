"""What a model says, whatever the protocol: `reply` of openai, anthropic and openai_responses streams it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from attrs import frozen

Stop = Literal["end_turn", "tool_use", "max_tokens", "refusal"]


@frozen
class Tokens:
    """`input` counts the cached ones too, `output` those of reasoning."""

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0


@frozen
class Call:
    """A tool call of the model."""

    id: str
    name: str
    args: Mapping[str, Any]

    def pieces(self, size: int = 6) -> Iterator[str]:
        """The JSON of its arguments, cut up."""
        text = json.dumps(self.args)
        return (text[index : index + size] for index in range(0, len(text), size))


@frozen
class Said:
    """One answer. An event among the words is waited for before the next one."""

    words: Sequence[str | asyncio.Event] = ()
    thoughts: Sequence[str] = ()
    calls: Sequence[Call] = ()
    stop: Stop = "end_turn"
    tokens: Tokens = Tokens()
