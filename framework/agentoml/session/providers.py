"""The declared providers, each opened once and kept while its declaration stays the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from attrs import define, field

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


@define(eq=False)
class Providers:
    """Open adapters by provider. One that was declared anew is opened anew; turns keep the one they have."""

    _vault: Vault = field(factory=Vault)
    _open: dict[str, tuple[Provider, Adapter]] = field(factory=dict)
    _closing: set[asyncio.Task[None]] = field(factory=set)
    _warming: asyncio.Task[None] | None = None

    def adapter(self, name: str, provider: Provider) -> Adapter:
        """Return the adapter of a provider as declared."""
        known = self._open.get(name)
        if known is not None and known[0] == provider:
            return known[1]
        adapter = open_adapter(name, provider, self._vault.resolve)
        self._open[name] = (provider, adapter)
        if known is not None:
            self._close_later(known[1])
        return adapter

    def warm(self, provider: Provider) -> None:
        """Begin to import what a provider's adapter takes seconds to import. Only a model call waits for it."""
        if self._warming is None and takes_seconds_to_import(provider):
            self._warming = asyncio.create_task(_warm())

    async def aclose(self) -> None:
        """Close every connection that is kept open."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait((self._warming,))
        for _, adapter in self._open.values():
            await adapter.aclose()
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
