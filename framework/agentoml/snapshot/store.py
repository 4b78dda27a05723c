"""The current snapshot: built from files, swapped by one assignment, kept when the files turn bad."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

from attrs import define, evolve, field, frozen

from agentoml.config import layers
from agentoml.config.layers import Configuration, Reading
from agentoml.config.merge import says_the_same
from agentoml.config.problems import Problem
from agentoml.config.trust import Project
from agentoml.snapshot import last_good
from agentoml.snapshot.build import Built, build, build_kept, build_reading
from agentoml.snapshot.diff import Change
from agentoml.snapshot.fingerprint import Fingerprint, fingerprint, settles_in
from agentoml.snapshot.snapshot import Snapshot
from agentoml.threads import WRITE_SECONDS, in_thread

logger = logging.getLogger("agentoml.config")

PATIENCE_SECONDS = 0.15
"""A failure is published only when the files stay as they are for this long: an editor may be saving several."""

SETTLE_SECONDS = 2.0
"""How long a file that never stops being written is waited for."""

RECORDS_KEPT = 100

Trigger = Literal["start", "file", "signal", "request", "confirm", "trust"]
State = Literal["applied", "unchanged", "rejected", "held"]


@frozen
class Record:
    """What became of one attempt to load the configuration. `told` counts the sessions that were told something."""

    number: int
    trigger: Trigger
    state: State
    generation: int
    problems: tuple[Problem, ...] = ()
    changes: tuple[Change, ...] = ()
    told: int = 0
    milliseconds: float = 0.0


Listener = Callable[[Snapshot | None, Snapshot], int]
"""Called with the snapshots before and after a swap; returns how many sessions were told something."""

HeldListener = Callable[[Snapshot | None], None]
"""Called with the snapshot that waits for the user, None when none does any more."""

RecordListener = Callable[[Record], None]


@define(eq=False)
class Store:
    """One configuration in this process. `current` is None as long as it has never been valid.

    `held` is what the files say where it widens and the user has not confirmed it. `beside`: the one of the same
    configuration without the project; what that one has logged is not logged again.
    """

    config: Configuration
    beside: Store | None = None
    current: Snapshot | None = None
    generation: int = 0
    problems: tuple[Problem, ...] = ()
    seen: Fingerprint = field(factory=dict)
    records: list[Record] = field(factory=list)
    held: Built | None = None
    project: Project | None = None
    """The project as the last attempt found it, whether it counts or not."""
    applied_at: float | None = None
    """The time of the last swap, in seconds since 1970."""
    _in_force: Built = field(factory=Built)
    _attempts: int = 0
    _listeners: list[Listener] = field(factory=list)
    _held_listeners: list[HeldListener] = field(factory=list)
    _record_listeners: list[RecordListener] = field(factory=list)
    _turns: int = 0
    _turn_since_scan: bool = False
    _one_at_a_time: asyncio.Lock = field(factory=asyncio.Lock)
    _recorded: asyncio.Condition = field(factory=asyncio.Condition)
    _next: asyncio.Task[Record] | None = None
    _to_keep: Reading | None = None
    _keeping: asyncio.Task[None] | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the last attempt read or looked for."""
        return tuple(self.seen)

    @property
    def trusted(self) -> bool:
        """Whether nothing of a project is left out of what is in force."""
        project = self._in_force.reading.project
        return project is None or project.counts

    @property
    def digest(self) -> str:
        """What tells the configuration in force from any other: the same files give it again, in every process."""
        said = json.dumps(self._in_force.table, default=str)
        return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def subscribe(
        self, swapped: Listener, held: HeldListener | None = None, recorded: RecordListener | None = None
    ) -> None:
        """Have listeners called: at each swap, when something is held or no more, and after each attempt."""
        self._listeners.append(swapped)
        if held is not None:
            self._held_listeners.append(held)
        if recorded is not None:
            self._record_listeners.append(recorded)

    # --------------------------------------------------------------------------------------------- attempts

    async def reload(self, trigger: Trigger) -> Record:
        """Build a snapshot from the files as they are now and put it in force if all of it is valid.

        Calls that come while another one waits for its turn share its attempt.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._attempt(trigger))
        return await asyncio.shield(self._next)

    async def confirm(self, shown: Built) -> Record | None:
        """Put in force what the user was shown; None where that is not what is held any more.

        Files that are not valid any more do not take the question back: what was shown compiled whole, so it becomes
        the last good one, and the files stay reported as broken until they are repaired.
        """
        async with self._one_at_a_time:
            started, held = time.perf_counter(), self.held
            if held is None or held is not shown:
                return None
            held = evolve(held, seen=self.seen)
            record = await self._publish(self._record("confirm", "applied", held, self._swap(held), started))
            self._keep_soon(held.reading)
            return record

    async def dry_run(self) -> Built:
        """Return what the files give now, compared with what is in force, and change nothing."""
        return await self._build()

    def would_end(self, built: Built) -> State:
        """Return how an attempt that gave this would end now."""
        if built.problems:
            return "rejected"
        if built.snapshot is None:
            return "unchanged"
        return "held" if self._awaits_trust(built) or self._must_be_confirmed(built) else "applied"

    async def recorded(self, matches: Callable[[Record], bool]) -> Record:
        """Wait for an attempt that `matches` (also one already made) and return its record."""
        async with self._recorded:
            while True:
                for record in self.records:
                    if matches(record):
                        return record
                await self._recorded.wait()

    async def close(self) -> None:
        """Wait until the last good configuration is on disk, within bounds."""
        if self._keeping is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._keeping, WRITE_SECONDS)

    @property
    def _before(self) -> Built:
        return evolve(self._in_force, snapshot=self.current)

    async def _attempt(self, trigger: Trigger) -> Record:
        async with self._one_at_a_time:
            self._next = None  # who asks from now on means the files as they are from now on
            started = time.perf_counter()
            if self.current is None and self.beside is not None:
                await self._begin_with_what_counts(self.beside)
            built = await self._build_from_quiet_files(patient=trigger == "file")
            if built.problems and self.beside is not None:
                async with self.beside._one_at_a_time:
                    pass  # what that one is about to log is not news
            self.project = built.reading.project
            if self._awaits_trust(built):
                built = await self._as_agreed(built)
            record = await self._publish(self._take(built, trigger, started))
            if record.state == "applied":
                self._keep_soon(built.reading)
            return record

    async def _build(self) -> Built:
        return await in_thread(partial(build, self.config, self.files, self._before), "build")

    async def _begin_with_what_counts(self, beside: Store) -> None:
        """Put in force what the configuration says beside this project, where the user has not agreed to its files.

        What they say is compared with that, so it is held here, too: another directory is no way around the question.
        """
        if beside._turn_since_scan:
            await beside.reload("file")
        if beside.held is None:
            return
        reading = await in_thread(partial(layers.read, self.config), "read")
        for own in (True, False):
            counts = _with_texts_of(reading if own else beside._in_force.reading, beside._in_force.reading)
            counts = counts._replace(project=reading.project)
            built = await in_thread(partial(build_reading, counts), "build")
            if built.snapshot is not None:
                self._swap(built)
                self._turn_since_scan = True
                return

    async def _build_from_quiet_files(self, *, patient: bool) -> Built:
        """Build while the files settle; what was written meanwhile is built again, once it is quiet."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            built = await self._build()
            if built.problems and patient:
                await asyncio.sleep(PATIENCE_SECONDS)
            await _settled(built.seen, deadline)
            now = fingerprint(built.seen)
            if now == built.seen or time.monotonic() > deadline:
                return built
            await _settled(now, deadline)

    def _take(self, built: Built, trigger: Trigger, started: float) -> Record:
        state, told = self.would_end(built), 0
        self.seen, self.problems = built.seen, built.problems
        if state == "held" and trigger == "trust" and self._only_trust_changed(built):
            state = "applied"  # the user has just agreed to it
        match state:
            case "rejected":
                self._reject(built)
            case "unchanged":
                self._hold(None)
                self._in_force = evolve(self._in_force, reading=built.reading, applies_widening=built.applies_widening)
            case "held":
                self._hold(built)
            case _:
                told = self._swap(built)
        if state == "unchanged" and built.reading.project is not self.project:
            state = "held"  # until the user answers
        return self._record(trigger, state, built, told, started)

    async def _as_agreed(self, built: Built) -> Built:
        """Build once more, with what the user agreed to of the project: their own files count meanwhile."""
        before, now = self._in_force.reading, built.reading
        names = {catalog.catalog for catalog in now.catalogs}
        catalogs = (*now.catalogs, *(catalog for catalog in before.catalogs if catalog.catalog not in names))
        agreed = _with_texts_of(before, now)._replace(project=before.project, catalogs=catalogs)
        return evolve(await in_thread(partial(build_reading, agreed, self._before), "build"), seen=built.seen)

    def _awaits_trust(self, built: Built) -> bool:
        """Return whether a trusted project says something else now: what its user agreed to stays until they answer."""
        was, now = self._in_force.reading.project, built.reading.project
        return was is not None and was.counts and now is not None and now.status == "changed" and not now.broken

    def _only_trust_changed(self, built: Built) -> bool:
        """Return whether the files say what is in force, but for those of the project."""
        was, now = self._in_force.reading, built.reading
        others = ([text for text in one.texts if text.layer != "project"] for one in (was, now))
        return next(others) == next(others) and all(catalog in now.catalogs for catalog in was.catalogs)

    def _must_be_confirmed(self, built: Built) -> bool:
        asks = self.current is not None and not self._in_force.applies_widening
        return asks and built.widens and (self._turn_since_scan or self.held is not None)

    def _record(self, trigger: Trigger, state: State, built: Built, told: int, started: float) -> Record:
        self._attempts += 1
        milliseconds = (time.perf_counter() - started) * 1000
        return Record(
            self._attempts, trigger, state, self.generation, built.problems, built.changes, told, milliseconds
        )

    async def _publish(self, record: Record) -> Record:
        async with self._recorded:
            self.records = [*self.records[1 - RECORDS_KEPT :], record]
            self._recorded.notify_all()
        for listener in self._record_listeners:
            listener(record)
        return record

    # ------------------------------------------------------------------------------- what is in force, and held

    def _swap(self, built: Built) -> int:
        assert built.snapshot is not None
        before, self.current = self.current, built.snapshot
        self._in_force = evolve(built, snapshot=None, changes=())
        self.generation += 1
        self.applied_at = time.time()
        told = sum(listener(before, built.snapshot) for listener in self._listeners)
        self._hold(None)
        return told

    def _hold(self, built: Built | None) -> None:
        if built is not None and self.held is not None and says_the_same(built.table, self.held.table):
            return  # the user was asked about exactly this
        if built is not self.held:
            self.held = built
            for listener in self._held_listeners:
                listener(built.snapshot if built is not None else None)

    def _reject(self, built: Built) -> None:
        """Go on with the last good configuration: the one in force; after a start the one kept on disk, else what is in
        force beside this project.
        """
        logged = self.beside.problems if self.beside is not None else ()
        news = [problem for problem in built.problems if problem not in logged]
        for problem in news:
            logger.error("%s", problem.one_line())
        if self.current is None:
            reading = last_good.recall(self.config)
            recalled = build_kept(reading, self.config) if reading is not None else None
            if recalled is None and self.beside is not None and self.beside.current is not None:
                counts = _with_texts_of(built.reading, self.beside._in_force.reading)
                recalled = build_reading(counts._replace(project=built.reading.project))
            if recalled is not None and recalled.snapshot is not None:
                self._swap(recalled)
        if not news and self.beside is not None and (self.current is None) == (self.beside.current is None):
            return
        if self.current is not None:
            logger.error("the last good configuration stays in force until the files are repaired")
        else:
            logger.error("no session can be opened until the files are repaired")

    # ------------------------------------------------------------------------------- turns, and what they wrote

    def turn_began(self) -> None:
        """A turn runs: what its tools write can't be told from what the user writes."""
        self._turns += 1
        self._turn_since_scan = True

    def turn_ended(self) -> None:
        """A turn is over. What is found changed before a scan found nothing new may still be of it."""
        self._turns -= 1

    def found_unchanged(self) -> None:
        """A scan right now found the files as they were. What a turn may have broken is still there: whoever repairs it
        may not have seen all that it says.
        """
        broken = bool(self.problems)
        self._turn_since_scan = self._turns > 0 or (self._turn_since_scan and broken)

    # -------------------------------------------------------------------------------------- the last good one

    def _keep_soon(self, reading: Reading) -> None:
        """Write the last good configuration to disk, one after the other; of several that wait the newest."""
        self._to_keep = reading
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        while self._to_keep is not None:
            reading, self._to_keep = self._to_keep, None
            try:
                await in_thread(partial(last_good.keep, self.config, reading), "keep")
            except OSError as error:
                logger.warning("the last good configuration can't be kept on disk: %s", error)


def _with_texts_of(project: Reading, others: Reading) -> Reading:
    """Return the texts of a project that one reading has, in their place among the others of another reading."""
    beneath = tuple(text for text in others.texts if text.layer in ("built-in", "user"))
    own = tuple(text for text in project.texts if text.layer == "project")
    above = tuple(text for text in others.texts if text.layer not in ("built-in", "user", "project"))
    return others._replace(texts=(*beneath, *own, *above))


async def _settled(seen: Fingerprint, deadline: float) -> None:
    """Wait until no file is so young that its writer may not be done, or until the deadline."""
    seconds = min(settles_in(seen), deadline - time.monotonic())
    if seconds > 0:
        await asyncio.sleep(seconds + 0.0005)  # the clock of the loop and that of the files may differ a little
