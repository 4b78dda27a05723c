"""Tokens -> money, by the prices of the catalog."""

from __future__ import annotations

from agentoml.config.schema import Cost
from agentoml.models.model import Usage


def cost_usd(prices: Cost, usage: Usage) -> float | None:
    """Return what a call cost in USD; None where the catalog gives no prices. Cached tokens without a price of their
    own cost what fresh ones do.
    """
    if prices.input is None or prices.output is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    written = prices.input if prices.cache_write is None else prices.cache_write
    fresh = usage.input - usage.cached - usage.written
    dollars = fresh * prices.input + usage.cached * read + usage.written * written + usage.output * prices.output
    return dollars / 1_000_000
