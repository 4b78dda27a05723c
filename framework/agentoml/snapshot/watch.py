"""Saved files -> reloads: events are hints, a scan of fingerprints is the truth, a heartbeat stands behind both."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from agentoml.snapshot.fingerprint import YOUNG_SECONDS, fingerprint, is_young

if TYPE_CHECKING:
    from agentoml.snapshot.store import Store

logger = logging.getLogger("agentoml.watch")

HEARTBEAT_SECONDS = 1.0
DEAF_HEARTBEAT_SECONDS = 0.25
"""The heartbeat where events can't be had: it is all there is then."""

SETTLE_SECONDS = 2.0
"""How long a file that never stops being written is waited for."""

BACK_OFF_SECONDS = 5.0
"""How long a watcher that failed is left alone before it is started again."""

Hints = Callable[[tuple[Path, ...], Callable[[], None]], Awaitable[None]]
"""Calls back whenever something may have changed in these directories; returns or raises when it can't any more."""


async def watchfiles_hints(directories: tuple[Path, ...], hint: Callable[[], None]) -> None:
    """Call `hint` at each event in `directories`, themselves only; what happened is not looked at."""
    watchfiles = await asyncio.to_thread(importlib.import_module, "watchfiles")
    events = watchfiles.awatch(*directories, step=5, debounce=50, rust_timeout=0, recursive=False, watch_filter=None)
    async for _ in events:
        hint()


async def watch(store: Store, hints: Hints = watchfiles_hints) -> None:
    """Reload `store` whenever a file that its configuration read or looked for changes. Runs until cancelled."""
    changed = asyncio.Event()
    ears = _Ears(hints, changed)
    try:
        while True:
            await ears.listen_in(_directories(store.files))
            with suppress(TimeoutError):  # `wait_for` may swallow a cancellation (Python 3.11), this does not
                async with asyncio.timeout(DEAF_HEARTBEAT_SECONDS if ears.deaf else HEARTBEAT_SECONDS):
                    await changed.wait()
            changed.clear()
            if fingerprint(store.files) != store.seen:
                await _settled(store)
                await store.reload("file")
    finally:
        await ears.close()


@define
class _Ears:
    """The watcher, kept alive: it is started anew for other directories, and a while after it went deaf."""

    hints: Hints
    changed: asyncio.Event
    directories: tuple[Path, ...] = ()
    task: asyncio.Task[None] | None = None
    again_at: float = 0.0

    @property
    def deaf(self) -> bool:
        return self.task is None or self.task.done()

    async def listen_in(self, directories: tuple[Path, ...]) -> None:
        now = asyncio.get_running_loop().time()
        if directories == self.directories and not (self.deaf and now >= self.again_at):
            return
        await self.close()
        self.directories = directories
        self.task = asyncio.create_task(self._listen(directories))
        self.changed.set()  # what happened while nobody listened is found by a scan

    async def _listen(self, directories: tuple[Path, ...]) -> None:
        try:
            await self.hints(directories, self.changed.set)
        except Exception as error:  # whatever a watcher dies of, the heartbeat goes on
            logger.warning("no file events (%s); files are looked at every %s s", error, DEAF_HEARTBEAT_SECONDS)
        self.again_at = asyncio.get_running_loop().time() + BACK_OFF_SECONDS
        self.changed.set()

    async def close(self) -> None:
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait({self.task})


async def _settled(store: Store) -> None:
    """Wait until no file is so young that its writer may not be done, or for two seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SETTLE_SECONDS):
            while is_young(fingerprint(store.files)):  # noqa: ASYNC110 - nothing tells when a writer is done
                await asyncio.sleep(YOUNG_SECONDS)


def _directories(files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the directories to listen in: each file's, its parent's and its target's; the nearest that exist."""
    found: dict[Path, None] = {}
    for file in files:
        for directory in (file.parent, file.parent.parent, Path(os.path.realpath(file)).parent):
            while not directory.is_dir():
                directory = directory.parent
            found[directory] = None
    return tuple(found)
