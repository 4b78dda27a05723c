"""What a running agent answers on its socket: how it is, and what a reload did or would do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from attrs import define

from agentoml import __version__
from agentoml.config.layers import Chosen
from agentoml.config.problems import to_json
from agentoml.session.serving import Serving
from agentoml.snapshot.report import change_json, record_json
from agentoml.snapshot.store import Record, Store

Json = dict[str, Any]


@define(eq=False)
class Answers:
    """Answers about one agent. `servings` gives what it serves: one for each project with files of its own, and one
    for all other directories.
    """

    config: Chosen
    servings: Callable[[], Iterable[Serving]]
    _reloading: asyncio.Task[list[Record]] | None = None

    async def answer(self, question: Json) -> Json:
        """Answer `{"command": "status"}`, or "reload" with `dryRun` or `wait`."""
        match question:
            case {"command": "status"}:
                served: Iterable[Json] = map(_status, self.servings())
            case {"command": "reload", "dryRun": True}:
                served = [await _dry_run(serving) for serving in self.servings()]
            case {"command": "reload", "wait": True}:
                served = map(record_json, await self._reload())
            case {"command": "reload"}:
                self._reloading = asyncio.create_task(self._reload())
                served = ({"state": "begun"} for _ in self.servings())
            case _:
                return {"error": "there are the commands status and reload"}
        projects = [_project(serving.store) for serving in self.servings()]
        return {
            "pid": os.getpid(),
            "version": __version__,
            "config": str(self.config.named) if self.config.named is not None else None,
            "settings": list(self.config.settings),
            "served": [{"project": project, **one} for project, one in zip(projects, served, strict=False)],
        }

    async def _reload(self) -> list[Record]:
        return await asyncio.gather(*(serving.store.reload("request") for serving in self.servings()))


def _project(store: Store) -> str | None:
    project = store.config.project if isinstance(store.config, Chosen) else None
    return str(project) if project is not None else None


def _status(serving: Serving) -> Json:
    """Return how a configuration is served. `loadedAt` is when what is in force was put in force."""
    store, loaded = serving.store, serving.store.applied_at
    return {
        "state": _state(store),
        "generation": store.generation,
        "fingerprint": store.digest,
        "loadedAt": datetime.fromtimestamp(loaded, UTC).isoformat(timespec="seconds") if loaded else None,
        "sessions": [
            {"id": session.id, "cwd": session.cwd, "turn": session.turn is not None} for session in serving.sessions
        ],
        "problems": [to_json(problem) for problem in store.problems],
        "held": [change_json(change) for change in store.held.changes] if store.held is not None else [],
        "lastAttempt": record_json(store.records[-1]) if store.records else None,
    }


def _state(store: Store) -> str:
    if store.current is None:
        return "broken" if store.records else "starting"
    if store.problems:
        return "last good"
    return "held" if store.held is not None else "in force"


async def _dry_run(serving: Serving) -> Json:
    """Return what a reload would do now: how it would end, what would change, and which sessions would see it."""
    built = await serving.store.dry_run()
    sessions = []
    if built.snapshot is not None:
        facts = serving.facts(built.snapshot)
        for session in serving.sessions:
            seen = session.would_see(built.snapshot, facts)
            if seen:
                sessions.append({"id": session.id, "cwd": session.cwd, "sees": list(seen)})
    return {
        "state": serving.store.would_end(built),
        "problems": [to_json(problem) for problem in built.problems],
        "changes": [change_json(change) for change in built.changes],
        "restarts": [change.name for change in built.changes if change.restarts],
        "sessions": sessions,
        "sessionsOpen": len(tuple(serving.sessions)),
    }
