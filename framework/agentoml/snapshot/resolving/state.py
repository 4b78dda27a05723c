"""What is known of one session while its options are worked out, and afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from agentoml.snapshot.patches import Key, Patch
from agentoml.snapshot.snapshot import CatalogModel, Command, Option, RenderedOption, RenderedValue, Snapshot, Value

if TYPE_CHECKING:
    from typing import Any

Place = tuple[str, str]
"""An active value by its option's id and its own: what a pick may belong to (E7)."""


@frozen(cache_hash=True)
class ClientFacts:
    """What conditions and fallbacks read of a client. `credentials` are the providers whose credentials are there."""

    name: str | None = None
    booleans: bool = True
    trusted: bool = True
    credentials: frozenset[str] = frozenset()


@frozen
class View:
    """The selections as they count at one moment: `above` counts more than everything but forcing (E8).

    `picks` are those of each option, with what they belong to; of several in one place the last counts.
    """

    picks: Mapping[str, tuple[tuple[Place | None, str], ...]]
    above: Mapping[str, str]
    command: Command | None = None


@frozen
class Claim:
    """An active value that sets keys of which another option is the owner (E3)."""

    option: str | None
    value: str
    keys: Mapping[Key, Any] = MappingProxyType({})

    @property
    def who(self) -> str:
        """The forcing value, in words."""
        return f"the command /{self.value}" if self.option is None else f"{self.option} = {self.value!r}"


@frozen(eq=False)
class Active:
    """An option that is there, and its value in force: `patch` is all that it sets, `rendered` how it is shown."""

    option: Option
    value: Value
    patch: Patch
    rendered: RenderedOption
    forced_by: Claim | None = None


@frozen(eq=False)
class Listing:
    """The values of an option at one moment, in order.

    `there`: those that the source gives or that are written, and whose conditions hold. `kept`: those of them that
    the filter lets through. `hidden`: kept, but not offered. `offered` is what a client is shown.
    """

    there: Mapping[str, Value]
    kept: Mapping[str, Value]
    hidden: frozenset[str]
    offered: tuple[RenderedValue, ...]
    gives_nothing: bool = False


@frozen(eq=False)
class Outcome:
    """What becomes of an option: it is in force, or it is not there, and `missing` says why."""

    listing: Listing | None = None
    active: Active | None = None
    missing: str = ""


@define(eq=False)
class State:
    """The options of one session, worked out one after the other. `missing` says why an option is not there."""

    snapshot: Snapshot
    client: ClientFacts
    view: View
    active: dict[str, Active] = field(factory=dict)
    listings: dict[str, Listing] = field(factory=dict)
    missing: dict[str, str] = field(factory=dict)
    model: CatalogModel | None = None
