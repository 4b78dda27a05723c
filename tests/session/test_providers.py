"""Adapters are opened once for a declaration, also where two of them are in use in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agentoml.config.schema import Provider
from agentoml.session.providers import Providers

OLD, NEW, NEWER = (Provider(adapter="openai", base_url=f"http://127.0.0.1:{port}", concurrency=1) for port in (1, 2, 3))


@pytest.fixture
async def providers() -> AsyncIterator[Providers]:
    providers = Providers()
    yield providers
    await providers.aclose()


async def test_a_turn_on_the_old_declaration_and_one_on_the_new_each_keep_their_adapter(providers: Providers) -> None:
    old, new = providers.adapter("p", OLD), providers.adapter("p", NEW)
    assert old is not new
    for _ in range(2):
        assert providers.adapter("p", OLD) is old
        assert providers.adapter("p", NEW) is new


async def test_of_three_declarations_the_one_that_was_used_least_lately_is_closed(providers: Providers) -> None:
    old, new = providers.adapter("p", OLD), providers.adapter("p", NEW)
    providers.adapter("p", OLD)
    providers.adapter("p", NEWER)
    assert providers.adapter("p", OLD) is old
    assert providers.adapter("p", NEW) is not new


async def test_providers_that_are_declared_alike_have_adapters_of_their_own(providers: Providers) -> None:
    assert providers.adapter("one", OLD) is not providers.adapter("other", OLD)
