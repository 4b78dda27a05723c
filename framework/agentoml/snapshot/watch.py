"""Saved files -> reloads: events are hints, a scan of fingerprints is the truth, a heartbeat stands behind both."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from agentoml.snapshot.fingerprint import fingerprint
from agentoml.snapshot.mounts import mounts_text, tells_nothing
from agentoml.threads import in_thread

if TYPE_CHECKING:
    from agentoml.snapshot.store import Store

logger = logging.getLogger("agentoml.watch")

HEARTBEAT_SECONDS = 1.0
DEAF_HEARTBEAT_SECONDS = 0.25
"""The heartbeat where events can't be had: it is all there is then."""

BACK_OFF_SECONDS = 5.0
"""How long a watcher that failed is left alone before it is started again."""

BREATH_SECONDS = 0.005
"""Between two scans: a directory that others write to all the time must not keep us busy."""

Hints = Callable[[tuple[Path, ...], Callable[[], None]], Awaitable[None]]
"""Calls back whenever something may have changed in these directories; returns or raises when it can't any more."""

Place = tuple[Path, int, int]
"""A directory, its device and its inode: one that was swapped is another place."""


async def watchfiles_hints(directories: tuple[Path, ...], hint: Callable[[], None]) -> None:
    """Call `hint` at each event in `directories`, themselves only; what happened is not looked at."""
    watchfiles = await in_thread(partial(importlib.import_module, "watchfiles"), "import watchfiles")
    events = watchfiles.awatch(*directories, step=5, debounce=50, rust_timeout=0, recursive=False, watch_filter=None)
    async for _ in events:
        hint()


async def system_hints(directories: tuple[Path, ...], hint: Callable[[], None]) -> None:
    """Call `hint` at each event: from the kernel itself on Linux, by watchfiles elsewhere."""
    if sys.platform == "linux":
        inotify = importlib.import_module("agentoml.snapshot.inotify")
        await inotify.inotify_hints(directories, hint)
    else:
        await watchfiles_hints(directories, hint)


async def watch(store: Store, hints: Hints = system_hints, mounts: Callable[[], str] = mounts_text) -> None:
    """Reload `store` whenever a file that its configuration read or looked for changes. Runs until cancelled."""
    changed = asyncio.Event()
    ears = _Ears(hints, changed, mounts)
    try:
        while True:
            await ears.listen_in(_places(store.files))
            with suppress(TimeoutError):
                async with asyncio.timeout(ears.heartbeat):  # `wait_for` may lose a cancellation (Python 3.11)
                    await changed.wait()
            changed.clear()
            seen = fingerprint(store.files)
            if seen != store.seen:
                await store.reload("file")
                changed.set()  # what is written right now is found by a scan, not by a heartbeat
            else:
                store.found_unchanged()
            await asyncio.sleep(BREATH_SECONDS)
    finally:
        await ears.close()


@define
class _Ears:
    """The watcher, kept alive: it is started anew for other directories, and a while after it went deaf."""

    hints: Hints
    changed: asyncio.Event
    mounts: Callable[[], str]
    places: tuple[Place, ...] = ()
    remote: bool = False
    task: asyncio.Task[None] | None = None
    again_at: float = 0.0

    @property
    def deaf(self) -> bool:
        return self.task is None or self.task.done()

    @property
    def heartbeat(self) -> float:
        return DEAF_HEARTBEAT_SECONDS if self.deaf or self.remote else HEARTBEAT_SECONDS

    async def listen_in(self, places: tuple[Place, ...]) -> None:
        now = asyncio.get_running_loop().time()
        if places == self.places and not (self.deaf and now >= self.again_at):
            return
        await self.close()
        self.places = places
        directories = tuple(place[0] for place in places)
        self.remote = tells_nothing(directories, self.mounts())
        self.task = asyncio.create_task(self._listen(directories))
        await asyncio.sleep(0)  # it listens from here on
        self.changed.set()  # what happened while nobody listened is found by a scan

    async def _listen(self, directories: tuple[Path, ...]) -> None:
        try:
            await self.hints(directories, self.changed.set)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # whatever a watcher dies of (a panic of Rust too), the heartbeat goes on
            reason = str(error) or type(error).__name__
            logger.warning("no file events (%s); files are looked at every %s s", reason, DEAF_HEARTBEAT_SECONDS)
        self.again_at = asyncio.get_running_loop().time() + BACK_OFF_SECONDS
        self.changed.set()

    async def close(self) -> None:
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait({self.task})


def _places(files: tuple[Path, ...]) -> tuple[Place, ...]:
    """Return where to listen: each file's directory, its parent and its target's; the nearest that exist."""
    found: dict[Path, Place] = {}
    for file in files:
        for wanted in (file.parent, file.parent.parent, _target(file).parent):
            place = _nearest(wanted)
            found[place[0]] = place
    return tuple(found.values())


def _target(file: Path) -> Path:
    """Return what is behind the symlinks of a path; of one that no file system has (a NUL), the path."""
    try:
        return Path(os.path.realpath(file))
    except (OSError, ValueError):
        return file


def _nearest(directory: Path) -> Place:
    for path in (directory, *directory.parents):
        with suppress(OSError):
            if path.is_dir():
                status = path.stat()
                return path, status.st_dev, status.st_ino
    return directory, 0, 0
