"""What a running agent answers on its socket: how it is, and what a reload did or would do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from attrs import define

from agentoml import __version__
from agentoml.config.problems import to_json
from agentoml.session.sessions import Sessions
from agentoml.snapshot.report import change_json, record_json
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.store import Record, Store


@define(eq=False)
class Answers:
    """Answers about one agent. `facts` gives what counts of its client under a snapshot."""

    store: Store
    sessions: Sessions
    facts: Callable[[Snapshot], ClientFacts]
    _reloading: asyncio.Task[Record] | None = None

    async def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer `{"command": "status"}`, or "reload" with `dryRun` or `wait`."""
        match question:
            case {"command": "status"}:
                return self.status()
            case {"command": "reload", "dryRun": True}:
                return await self.dry_run()
            case {"command": "reload", "wait": True}:
                return record_json(await self.store.reload("request"))
            case {"command": "reload"}:
                self._reloading = asyncio.create_task(self.store.reload("request"))
                return {"state": "begun"}
            case _:
                return {"error": "there are the commands status and reload"}

    def status(self) -> dict[str, Any]:
        """Return how the agent is. `loadedAt` is when what is in force was put in force."""
        store = self.store
        loaded = store.applied_at
        return {
            "pid": os.getpid(),
            "version": __version__,
            "config": str(store.config) if store.config is not None else None,
            "state": self._state(),
            "generation": store.generation,
            "fingerprint": store.digest,
            "loadedAt": datetime.fromtimestamp(loaded, UTC).isoformat(timespec="seconds") if loaded else None,
            "sessions": [
                {"id": session.id, "cwd": session.cwd, "turn": session.turn is not None} for session in self.sessions
            ],
            "problems": [to_json(problem) for problem in store.problems],
            "held": [change_json(change) for change in store.held.changes] if store.held is not None else [],
            "lastAttempt": record_json(store.records[-1]) if store.records else None,
        }

    def _state(self) -> str:
        if self.store.current is None:
            return "broken" if self.store.records else "starting"
        if self.store.problems:
            return "last good"
        return "held" if self.store.held is not None else "in force"

    async def dry_run(self) -> dict[str, Any]:
        """Return what a reload would do now: how it would end, what would change, and which sessions would see it."""
        built = await self.store.dry_run()
        sessions = []
        if built.snapshot is not None:
            facts = self.facts(built.snapshot)
            for session in self.sessions:
                seen = session.would_see(built.snapshot, facts)
                if seen:
                    sessions.append({"id": session.id, "cwd": session.cwd, "sees": list(seen)})
        return {
            "state": self.store.would_end(built),
            "problems": [to_json(problem) for problem in built.problems],
            "changes": [change_json(change) for change in built.changes],
            "restarts": [change.name for change in built.changes if change.restarts],
            "sessions": sessions,
            "sessionsOpen": len(tuple(self.sessions)),
        }
