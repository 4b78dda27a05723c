"""The current snapshot: built from files, swapped by one assignment, kept when the files turn bad."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import define, evolve, field, frozen

from agentoml.config import layers, merge, parse, structure
from agentoml.config.locate import located
from agentoml.config.problems import Problem
from agentoml.errors import ConfigError
from agentoml.snapshot import last_good
from agentoml.snapshot.compile import compile_
from agentoml.snapshot.fingerprint import Fingerprint, fingerprint
from agentoml.snapshot.link import link
from agentoml.snapshot.snapshot import Snapshot

logger = logging.getLogger("agentoml.config")

PATIENCE_SECONDS = 0.15
"""A failure is published only when the files stay as they are for this long: an editor may be saving several."""

RECORDS_KEPT = 100

Trigger = Literal["start", "file", "signal", "request"]
State = Literal["applied", "unchanged", "rejected", "held"]


@frozen
class Record:
    """What became of one attempt to load the configuration."""

    number: int
    trigger: Trigger
    state: State
    generation: int
    problems: tuple[Problem, ...]
    told: int
    milliseconds: float


Listener = Callable[[Snapshot | None, Snapshot], int]
"""Called with the snapshots before and after a swap; returns how many sessions were told something."""


@frozen
class Built:
    """What the files give at one moment: a snapshot, or problems, or neither where they say what they said before."""

    reading: layers.Reading
    table: Mapping[str, Any] | None = None
    snapshot: Snapshot | None = None
    problems: tuple[Problem, ...] = ()
    seen: Fingerprint = field(factory=dict)


@define(eq=False)
class Store:
    """One configuration in this process. `current` is None as long as it has never been valid."""

    config: Path | None
    current: Snapshot | None = None
    generation: int = 0
    problems: tuple[Problem, ...] = ()
    seen: Fingerprint = field(factory=dict)
    records: list[Record] = field(factory=list)
    _table: Mapping[str, Any] | None = None
    _attempts: int = 0
    _listeners: list[Listener] = field(factory=list)
    _one_at_a_time: asyncio.Lock = field(factory=asyncio.Lock)
    _recorded: asyncio.Condition = field(factory=asyncio.Condition)

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the last attempt read or looked for."""
        return tuple(self.seen)

    def subscribe(self, listener: Listener) -> None:
        """Have `listener` called at each swap."""
        self._listeners.append(listener)

    async def reload(self, trigger: Trigger) -> Record:
        """Build a snapshot from the files as they are now and put it in force if all of it is valid."""
        async with self._one_at_a_time:
            started = time.perf_counter()
            built = await self._build_from_quiet_files(patient=trigger == "file")
            record = self._take(built, trigger, started)
            async with self._recorded:
                self.records = [*self.records[1 - RECORDS_KEPT :], record]
                self._recorded.notify_all()
            if record.state == "applied":
                await asyncio.to_thread(self._keep, built)
        return record

    async def recorded(self, matches: Callable[[Record], bool]) -> Record:
        """Wait for an attempt that `matches` (also one already made) and return its record."""
        async with self._recorded:
            while True:
                for record in self.records:
                    if matches(record):
                        return record
                await self._recorded.wait()

    async def _build_from_quiet_files(self, *, patient: bool) -> Built:
        while True:
            built = await asyncio.to_thread(build, self.config, self.files, self._table)
            if built.problems and patient:
                await asyncio.sleep(PATIENCE_SECONDS)
            if fingerprint(built.seen) == built.seen:
                return built

    def _take(self, built: Built, trigger: Trigger, started: float) -> Record:
        self._attempts += 1
        self.seen = built.seen
        self.problems = built.problems
        told = 0
        if built.snapshot is not None:
            told = self._swap(built)
        for problem in built.problems:
            logger.error("%s", problem.one_line())
        if built.problems:
            self._fall_back()
        state: State = "rejected" if built.problems else "unchanged" if built.snapshot is None else "applied"
        milliseconds = (time.perf_counter() - started) * 1000
        return Record(self._attempts, trigger, state, self.generation, built.problems, told, milliseconds)

    def _swap(self, built: Built) -> int:
        assert built.snapshot is not None
        before, self.current = self.current, built.snapshot
        self._table = built.table
        self.generation += 1
        return sum(listener(before, built.snapshot) for listener in self._listeners)

    def _fall_back(self) -> None:
        """Go on with the last good configuration: the one in force, or after a start the one kept on disk."""
        if self.current is None:
            reading = last_good.recall(self.config)
            recalled = compile_reading(reading) if reading is not None else None
            if recalled is not None and recalled.snapshot is not None:
                self._swap(recalled)
        if self.current is not None:
            logger.error("the last good configuration stays in force until the files are repaired")
        else:
            logger.error("no session can be opened until the files are repaired")

    def _keep(self, built: Built) -> None:
        try:
            last_good.keep(self.config, built.reading)
        except OSError as error:
            logger.warning("the last good configuration can't be kept on disk: %s", error)


def build(config: Path | None, files: tuple[Path, ...] = (), before: Mapping[str, Any] | None = None) -> Built:
    """Read the files of `config` and compile them; where they say the same as `before`, compile nothing.

    `files` are those that are likely to be read: marked before they are, so that a change meanwhile is noticed.
    """
    while True:
        seen = fingerprint(files)
        reading = layers.read(config)
        files = reading.files
        if fingerprint(files) == seen:
            return evolve(compile_reading(reading, before), seen=seen)


def compile_reading(reading: layers.Reading, before: Mapping[str, Any] | None = None) -> Built:
    """Compile what was read; where it says the same as `before`, compile nothing."""
    merged = merge.merge(parse.parse_all(reading))
    if merged.table == before and not merged.problems:
        return Built(reading)
    try:
        with located(merged):
            snapshot = compile_(link(structure.structure(merged)))
    except ConfigError as error:
        return Built(reading, problems=error.problems)
    return Built(reading, merged.table, snapshot)
