"""Params that would lead a call of litellm's, and its credential, elsewhere than its provider is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LITELLM = "litellm/"
"""What stands before the name of a provider of litellm's in `adapter`."""

REMEDIES = (
    (re.compile("api_base|url$|endpoint|host"), "write `base_url` in the provider"),
    (re.compile("custom_llm_provider"), 'write adapter = "litellm/NAME" in the provider'),
    (re.compile("fallback|model_list"), "write `fallback` in the model"),
    (re.compile("client|proxy|^ssl_"), "leave it out"),
)
"""Names of arguments of litellm's, and what to write instead."""

PART_OF_HOST = re.compile("region(_name)?$|^vertex(_ai)?_location$|^account_id$")
"""Names of arguments that become a part of the host that is asked."""

WORD = re.compile(r"[\w-]+", re.ASCII)


class Astray(NamedTuple):
    """A param that can't be sent, and what to write instead."""

    name: str
    remedy: str


def astray(params: Mapping[str, Any]) -> Iterator[Astray]:
    """Yield the params that would send a call elsewhere, or unprotected."""
    for name, value in params.items():
        remedy = next((remedy for pattern, remedy in REMEDIES if pattern.search(name)), None)
        if remedy is not None:
            yield Astray(name, remedy)
        elif PART_OF_HOST.search(name) and not (isinstance(value, str) and WORD.fullmatch(value)):
            yield Astray(name, "write one word of letters, digits and hyphens: it becomes a part of the host")
