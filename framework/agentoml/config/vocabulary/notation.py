"""The notations that several TOML keys share: list edits, secrets, texts from files, durations, patterns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NewType

from attrs import frozen

Duration = NewType("Duration", float)
"""Seconds. Written as a string with a unit: "500ms", "10s", "5m", "1h", "2d"."""

Patterns = NewType("Patterns", tuple[str, ...])
"""One glob or a list of them; `!` excludes, exclusions alone start from everything."""

Scalar = str | bool | int | float
OptionValue = str | bool
"""A value of an option: of a select its id, of a boolean true or false."""


@frozen
class ListEdit:
    """A list of names, written whole or as an edit of what stands before it.

    `x = ["a"]` (or, where one name is allowed, `x = "a"`) is `replace`; `x.add` and `x.remove` are the others.
    `replace` is None where only an edit is written.
    """

    replace: tuple[str, ...] | None = None
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def apply(self, before: tuple[str, ...]) -> tuple[str, ...]:
        """Return the list after this edit: duplicates dropped, first places kept."""
        start = before if self.replace is None else self.replace
        return tuple(dict.fromkeys(name for name in (*start, *self.add) if name not in self.remove))


@frozen
class Secret:
    """Where a secret is to be had; never the secret itself. Exactly one of the four is given."""

    env: str | None = None
    file: str | None = None
    command: tuple[str, ...] | None = None
    keyring: str | None = None


@frozen
class TextFile:
    """A text kept in a file of its own: `{ file = "prompts/base.md" }`, read by the layers."""

    file: str
    text: str = ""


Action = Literal["allow", "ask", "always_ask", "deny"]
Kind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
"""What a tool does, in ACP's words."""
Condition = Mapping[str, bool | Patterns]
"""`when`: a key (client, capability, trusted, credentials, an option id) -> what it must be. All must hold."""

CATEGORIES = ("mode", "model", "model_config", "thought_level")
CAPABILITIES = ("tools", "images", "documents", "audio", "reasoning")
ADAPTERS = ("openai", "openai-responses", "anthropic", "scripted")
"""Words that are known where others may stand too: `_acme`, `litellm/bedrock`."""
