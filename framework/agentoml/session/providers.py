"""The declared providers, each opened once and kept while its declaration stays the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from attrs import define, field, frozen

from agentoml.config.schema import Provider
from agentoml.config.secrets import Vault, seems_there
from agentoml.errors import ModelError
from agentoml.models.adapters import close_shared, open_adapter, takes_seconds_to_import, warm
from agentoml.models.model import Adapter


def with_credentials(providers: Mapping[str, Provider]) -> frozenset[str]:
    """Return the providers whose credentials are there, as far as that can be told without running anything."""
    return frozenset(
        name for name, provider in providers.items() if provider.api_key is None or seems_there(provider.api_key)
    )


DECLARATIONS_KEPT = 2
"""Of one provider: what new turns go by, and what those go by that began before a reload."""


@frozen(eq=False)
class _Open:
    declared: Provider
    adapter: Adapter


@define(eq=False)
class Providers:
    """Open adapters by provider. One that was declared anew is opened anew, beside the one before it: turns that began
    before go on by that. Each of the two keeps the `concurrency` that it was declared with.
    """

    _vault: Vault = field(factory=Vault)
    _open: dict[str, tuple[_Open, ...]] = field(factory=dict)
    _closing: set[asyncio.Task[None]] = field(factory=set)
    _warming: asyncio.Task[None] | None = None

    def adapter(self, name: str, provider: Provider) -> Adapter:
        """Return the adapter of a provider as declared."""
        known = self._open.get(name, ())
        used = next((one for one in known if one.declared == provider), None)
        if used is None:
            used = _Open(provider, open_adapter(name, provider, self._vault.resolve))
        last_used_first = (used, *(one for one in known if one is not used))
        self._open[name] = last_used_first[:DECLARATIONS_KEPT]
        for one in last_used_first[DECLARATIONS_KEPT:]:
            self._close_later(one.adapter)
        return used.adapter

    def warm(self, provider: Provider) -> None:
        """Begin to import what a provider's adapter takes seconds to import. Only a model call waits for it."""
        if self._warming is None and takes_seconds_to_import(provider):
            self._warming = asyncio.create_task(_warm())

    async def aclose(self) -> None:
        """Close every connection that is kept open."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait((self._warming,))
        for known in self._open.values():
            for one in known:
                await one.adapter.aclose()
        self._open.clear()
        await asyncio.gather(*self._closing)
        await close_shared()

    def _close_later(self, adapter: Adapter) -> None:
        task = asyncio.create_task(adapter.aclose())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def _warm() -> None:
    with suppress(ModelError):  # a model call says it to the user
        await warm()
