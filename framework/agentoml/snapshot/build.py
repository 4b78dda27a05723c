"""Files -> what they give at one moment: a snapshot, or problems, or neither where they say what they said before."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from agentoml.config import layers, merge, parse, trust
from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.diagnostics.locate import located
from agentoml.config.layers import Reading
from agentoml.config.policy import ceilings, policy_problems
from agentoml.config.problems import Problem, quoted
from agentoml.config.structure import Structured, structure
from agentoml.config.texts import Merged
from agentoml.errors import ConfigError
from agentoml.snapshot.ceiling import ceiling_of
from agentoml.snapshot.clip import under
from agentoml.snapshot.compile import compile_
from agentoml.snapshot.diff import Change, diff
from agentoml.snapshot.fingerprint import Fingerprint, fingerprint
from agentoml.snapshot.link import Linked, link
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.unit_tests import hold_gates
from agentoml.snapshot.widening import elsewhere

logger = logging.getLogger("agentoml.config")

TRIES = 20
"""How often files that change while they are read are read again at once."""

FAULT = Problem("AGT901", "this program failed over the configuration", hint="please report it; stderr tells more")

NOBODY_IS_ASKED = Change(
    "permissions", "reload.widening", "changed", "edits that allow more take effect unasked from now on", widens=True
)

NOTHING_READ = Reading((), ())


@frozen
class Built:
    """What the files give. `table` is what all of them say together; `snapshot` is None where `table` is in force
    already, or where there are `problems`. `changes` compare it with what is in force, what widens first. `linked` is
    what it was compiled from: what the next files say again is not worked out again.

    `applies_widening`: the user's own file says that nobody needs to be asked. `seen` is from before they were read.
    """

    reading: Reading = NOTHING_READ
    table: Mapping[str, Any] | None = None
    snapshot: Snapshot | None = None
    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()
    applies_widening: bool = False
    seen: Fingerprint = field(factory=dict)
    linked: Linked | None = None

    @property
    def widens(self) -> bool:
        """Whether more is allowed, run, reached or handed out than by what is in force."""
        return any(change.widens for change in self.changes)

    @property
    def structured(self) -> Structured | None:
        """What it was before names were linked."""
        return None if self.table is None or self.linked is None else Structured(self.table, self.linked.config)


NOTHING_YET = Built()


def build(config: layers.Configuration, files: tuple[Path, ...] = (), before: Built = NOTHING_YET) -> Built:
    """Read the files of `config` and compile them. Never raises: a fault of ours is a problem too.

    `before` is what is in force: the files may say the same, or else are compared with it.
    `files` are those that are likely to be read: marked before they are, so that a change meanwhile is noticed.
    """
    seen = fingerprint(files)
    try:
        for _ in range(TRIES):
            reading = with_catalogs(layers.read(config))
            unread, seen = seen, fingerprint(reading.files)
            if seen == unread:
                break
        with _no_collection():
            return evolve(build_reading(reading, before), seen=seen)
    except Exception:
        logger.exception("a fault of this program")
        return Built(problems=(FAULT,), seen=seen)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Search for no cycles meanwhile: what is built is there to stay, and a search stops the event loop too."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def build_reading(reading: Reading, before: Built = NOTHING_YET) -> Built:
    """Compile what was read; where it says what is in force, compile nothing."""
    merged = merge.merge(parse.parse_all(reading))
    table, applies_widening = merged.everything, _applies_widening(merged)
    nobody_is_asked_anew = applies_widening and not before.applies_widening
    if merge.says_the_same(table, before.table) and not merged.problems and not nobody_is_asked_anew:
        return Built(reading, table, applies_widening=applies_widening)
    try:
        with located(merged):
            linked = link(structure(merged, before.structured), before.linked)
            snapshot = compile_(linked)
            hold_gates(snapshot, linked.config.tests)
            snapshot = under(snapshot, ceiling_of(ceilings(merged)))
    except ConfigError as error:
        return Built(reading, problems=error.problems)
    changes: tuple[Change, ...] = ()
    if before.snapshot is not None:
        asked_about = (NOBODY_IS_ASKED,) if nobody_is_asked_anew else ()
        changes = (*asked_about, *_texts_from_elsewhere(before.reading, reading), *diff(before.snapshot, snapshot))
    return Built(reading, table, snapshot, changes, applies_widening=applies_widening, linked=linked)


def _texts_from_elsewhere(before: Reading, after: Reading) -> Iterator[Change]:
    """Yield the prompts that are read from files out of reach before: of what they say, models and providers learn."""
    known = {(text.name, file) for text in before.texts for file in text.included}
    named = [(text.name, file) for text in after.texts for file in elsewhere(text.included)]
    for name, file in named:
        if (name, file) not in known:
            text = f"the text file {quoted(file)} is read from elsewhere"
            yield Change("permissions", file, "added", text, widens=True)


def build_kept(reading: Reading, configuration: layers.Configuration) -> Built:
    """Compile texts that were kept, under their policies and under today's; nothing while an administrator's is broken.

    What the user's own file says today, where it can be understood, is a ceiling over what they had said before. Of a
    project that is not trusted any more nothing counts.
    """
    built = build_reading(_trusted_today(reading, configuration))
    policies = layers.read_policies()
    today = merge.merge(parse.parse_all(policies))
    wrong = (*today.problems, *policy_problems(today))
    if any(text.layer == "policy" for text in policies.texts) and wrong:  # broken, it may not even say [policy]
        return Built(reading, problems=wrong)
    if built.snapshot is None or wrong:
        return built
    return evolve(built, snapshot=under(built.snapshot, ceiling_of(ceilings(today))))


def _trusted_today(reading: Reading, configuration: layers.Configuration) -> Reading:
    root = configuration.project if isinstance(configuration, layers.Chosen) else None
    own = [text for text in reading.texts if text.layer == "project"]
    if root is None or not own:
        return reading
    project = trust.project(root, own[-1].path or root, own)
    texts = reading.texts if project.counts else tuple(text for text in reading.texts if text.layer != "project")
    return reading._replace(texts=texts, project=project)


def _applies_widening(merged: Merged) -> bool:
    """Return whether the user's own layer says `[reload] widening = "apply"`; no other may say so for them."""
    said = False
    for table in merged.tables:
        reload = table.values.get("reload")
        if isinstance(reload, dict) and reload.get("widening") == "apply":
            if table.text.layer == "user":
                said = True
            else:
                logger.warning("%s: [reload] widening counts only in %s", table.text.name, layers.own_config())
    return said
