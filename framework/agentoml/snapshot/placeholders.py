"""`{OPTION}` and `{OPTION.values}` in the result of an extension method."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from agentoml.config.problems import Path
from agentoml.snapshot.resolve import Resolved

ALL_VALUES = ".values"
"""What follows an option's id in a placeholder for the list of all that is offered."""

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def placeholders(template: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every placeholder in a template of JSON, with the place of its text."""
    if isinstance(template, str):
        yield from ((path, name) for name in PLACEHOLDER.findall(template))
    elif isinstance(template, Mapping):
        for key, item in template.items():
            yield from placeholders(item, (*path, key))
    elif isinstance(template, list | tuple):
        for index, item in enumerate(template):
            yield from placeholders(item, (*path, index))


def option_of(name: str, options: Collection[str]) -> str | None:
    """Return the option that a placeholder is about, None where there is none."""
    return next((one for one in (name, name.removesuffix(ALL_VALUES)) if one in options), None)


def filled(template: Any, resolved: Resolved) -> Any:
    """Return a template as JSON with what is in force. What is nothing but a placeholder becomes the value itself:
    a string, a boolean, a list, or null for an option that is not there.
    """
    if isinstance(template, Mapping):
        return {key: filled(item, resolved) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [filled(item, resolved) for item in template]
    if not isinstance(template, str):
        return template
    alone = PLACEHOLDER.fullmatch(template)
    if alone:
        return _value(alone[1], resolved)
    return PLACEHOLDER.sub(lambda found: str(_value(found[1], resolved)), template)


def _value(name: str, resolved: Resolved) -> str | bool | list[str] | None:
    option = resolved.option(name)
    if option is not None:
        return option.current
    option = resolved.option(name.removesuffix(ALL_VALUES))
    return [value.value for value in option.values] if option is not None and name.endswith(ALL_VALUES) else None
