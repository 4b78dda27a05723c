"""The last results of a pure function, by what it was asked."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from attrs import define, field

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@define(eq=False)
class Memo(Generic[K, V]):
    """The last results of a pure function. It changes nothing that can be seen from outside."""

    size: int
    _known: OrderedDict[K, V] = field(factory=OrderedDict)

    def get(self, key: K) -> V | None:
        """Return what was kept for a key."""
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def keep(self, key: K, value: V) -> V:
        """Keep a result, forgetting the one that was not asked for the longest."""
        self._known[key] = value
        if len(self._known) > self.size:
            self._known.popitem(last=False)
        return value
