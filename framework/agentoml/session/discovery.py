"""The lists of models that providers give, asked for again while an agent runs (`discover`)."""

from __future__ import annotations

import asyncio
import datetime
import importlib
import logging
from functools import partial
from pathlib import Path

from attrs import define, field

from agentoml.config.catalogs.lists import fetched_at, list_file_of
from agentoml.config.schema import Provider
from agentoml.config.secrets import resolve_secret
from agentoml.errors import ModelError
from agentoml.models.settings import SecretResolver
from agentoml.snapshot.snapshot import Snapshot
from agentoml.threads import in_thread

logger = logging.getLogger("agentoml.catalogs")

FRESH_SECONDS = 600.0
"""How old a list may be before it is asked for again."""

AGAIN_SECONDS = 60.0
"""How long after a failure the provider is asked again."""


@define(eq=False)
class Discovery:
    """Keeps the lists on disk fresh that catalogs read; whoever watches the files of a configuration finds them.

    It begins with the first `follow`, and nothing waits for it. A list goes to the provider's own place on disk and
    its credential to that provider alone.
    """

    fresh_seconds: float = FRESH_SECONDS
    again_seconds: float = AGAIN_SECONDS
    began: bool = False
    resolve: SecretResolver = resolve_secret
    _asked: dict[str, tuple[Provider, asyncio.Task[None]]] = field(factory=dict)

    def follow(self, snapshot: Snapshot) -> None:
        """Keep the lists fresh that this configuration reads, and no others. Those that are as before go on."""
        self.began = True
        wanted = {name: snapshot.providers[name] for name in snapshot.discover if name in snapshot.providers}
        for name, (provider, task) in tuple(self._asked.items()):
            if wanted.get(name) != provider:
                task.cancel()
                del self._asked[name]
        for name, provider in wanted.items():
            if name not in self._asked:
                task = asyncio.create_task(self._keep_fresh(name, provider), name=f"models of {name}")
                self._asked[name] = provider, task

    async def close(self) -> None:
        """Ask nobody any more."""
        tasks = [task for _, task in self._asked.values()]
        self._asked.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _keep_fresh(self, name: str, provider: Provider) -> None:
        listing = await in_thread(lambda: importlib.import_module("agentoml.models.listing"), "import listing")
        file = list_file_of(name, provider)
        told = ""
        while True:
            await asyncio.sleep(self.fresh_seconds - await in_thread(partial(_age, file), "age of a list"))
            try:
                await listing.refresh_list(name, provider, self.resolve)
                told = ""
            except (ModelError, OSError) as error:
                if str(error) != told:
                    told = str(error)
                    kept = "the last list stays" if file.is_file() else "there is no list yet"
                    logger.warning("the models of provider %s can't be listed (%s): %s", name, kept, error)
                await asyncio.sleep(self.again_seconds)


def _age(file: Path) -> float:
    """Return how many seconds ago a list was fetched; infinity where there is none."""
    try:
        fetched = fetched_at(file.read_bytes())
    except OSError:
        fetched = None
    if fetched is None or fetched.tzinfo is None:
        return float("inf")
    age = (datetime.datetime.now(tz=datetime.UTC) - fetched).total_seconds()
    return age if age >= 0 else float("inf")
