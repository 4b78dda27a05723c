"""A configuration in this process, watched on the real file system: what the tests of reloads share.

async with watched(config) as store:
    config.write_text(agent("one", "two"))
    await shows(store, "one", "two")
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from agentoml.config.layers import Configuration
from agentoml.snapshot.mounts import mounts_text
from agentoml.snapshot.store import Record, State, Store
from agentoml.snapshot.watch import Hints, system_hints, watch

WAIT_SECONDS = 45.0
"""A machine may be busy: what is waited for comes at once, or not at all."""


def agent(*models: str, more: str = "") -> str:
    """A configuration with these models."""
    tables = "".join(f'[models.{name}]\nprovider = "offline"\n' for name in models)
    provider = '[providers.offline]\nadapter = "scripted"\n'
    return f'schema = 1\n{provider}{tables}[options.model]\nvalues_from = "models"\n{more}'


@contextlib.asynccontextmanager
async def watched(
    config: Configuration, hints: Hints = system_hints, mounts: Callable[[], str] = mounts_text
) -> AsyncIterator[Store]:
    """Load a configuration and watch its files until the end of the block, which begins once somebody listens."""
    store = Store(config)
    await store.reload("start")
    listening = asyncio.Event()

    def announced(directories: tuple[Path, ...], hint: Callable[[], None]) -> Awaitable[None]:
        listening.set()
        return hints(directories, hint)

    watching = asyncio.create_task(watch(store, announced, mounts))
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await listening.wait()
        yield store
        assert not watching.done(), watching
    finally:
        watching.cancel()
        await asyncio.wait({watching})
        await store.close()


def names(store: Store) -> tuple[str, ...]:
    """The models of the configuration in force."""
    return tuple(store.current.models) if store.current is not None else ()


async def shows(store: Store, *models: str) -> Record:
    """Wait until the configuration in force has exactly these models; return the newest record."""
    async with asyncio.timeout(WAIT_SECONDS):
        await store.recorded(lambda _: names(store) == models)
    return store.records[-1]


async def record(store: Store, state: State, after: int = 0) -> Record:
    """Wait for an attempt that ended so, later than the attempt of number `after`."""
    async with asyncio.timeout(WAIT_SECONDS):
        return await store.recorded(lambda record: record.state == state and record.number > after)


def write_over(path: Path, text: str) -> None:
    """Save as most programs do: a new file, renamed over the old one."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def last(store: Store) -> int:
    """The number of the newest attempt."""
    return store.records[-1].number
