"""Permissions that are allowed to stand and hardly meant so (DESIGN section 3, item 3): told by `check`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from attrs import frozen

from agentoml.config.problems import Path, Problem, Related, quoted
from agentoml.config.schema import Config
from agentoml.permissions.review import Finding, covering, holes, looser, without_effect
from agentoml.permissions.sets import ReadyRule, ReadySet, compile_sets
from agentoml.snapshot.linking.option_tables import OptionTable
from agentoml.snapshot.linking.places import place_of
from agentoml.snapshot.patches import Patch
from agentoml.snapshot.snapshot import Option
from agentoml.snapshot.tool_names import BUILT_IN_KINDS, ToolTables, tool_kinds

MODE = "mode"

Sets = Mapping[str, ReadySet]


@frozen
class _Tools:
    """The tools that are known without any server: built-in ones, those without code, those that have a kind."""

    tables: ToolTables

    def names(self) -> Collection[str]:
        named = (name for name, _ in self.tables.kinds if not any(char in name for char in "*?"))
        return tuple(dict.fromkeys((*BUILT_IN_KINDS, *self.tables.tools, *named)))

    def kind(self, tool: str) -> str:
        return self.tables.kind(tool)

    def locations(self, tool: str) -> Collection[str]:
        return () if tool == "shell" else self.tables.locations(tool)


def permission_warnings(
    config: Config,
    base: Sequence[str],
    tables: Mapping[str, OptionTable],
    options: Mapping[str, Option],
    commands: Mapping[str, Patch],
) -> Iterator[Problem]:
    """Yield rules that never take effect, holes that rules leave, and values beside the modes that loosen the base.

    `base` are the names of the base's sets, `commands` is what each slash command sets.
    """
    sets = compile_sets(config.permissions)
    tools = _Tools(ToolTables(config.tools, tool_kinds(config.tool_kinds)))
    lists = _lists(config, base, [*(patch for _, _, patch in _patches(options)), *commands.values()])
    for ready in sets.values():
        for rule in ready.rules:
            yield from _covered(rule, ready, lists, sets)
            yield from (_told("AGT253", rule, finding) for finding in without_effect(rule, tools))
            yield from (_told("AGT255", rule, finding) for finding in holes(rule, tools))
    for patch, place in _beside_the_modes(config, tables, options, commands):
        yield from _looser(patch, place, base, sets)


def _lists(config: Config, base: Sequence[str], patches: Sequence[Patch]) -> list[tuple[str, ...]]:
    """Return the lists of sets that may be in force as one."""
    answers = config.agent.auto_answers.apply(()) if config.agent.auto_answers else ()
    edited = [edit.apply(answers) for patch in patches for edit in patch.auto_answers]
    return [tuple(base), answers, *(names for patch in patches for names in patch.permissions), *edited]


def _patches(options: Mapping[str, Option]) -> Iterator[tuple[Option, str, Patch]]:
    """Yield what written values set: option, value, patch."""
    for option in options.values():
        others = (option.other,) if option.other is not None else ()
        for value in (*option.values.values(), *others):
            if value.patch.permissions or value.patch.auto_answers:
                yield option, value.id, value.patch


def _covered(rule: ReadyRule, ready: ReadySet, lists: Sequence[tuple[str, ...]], sets: Sets) -> Iterator[Problem]:
    """Yield a rule that a stricter one covers in whatever list its set stands."""
    standing = [names for names in lists if ready.name in names] or [(ready.name,)]
    by = [covering(rule, [sets[name] for name in names if name in sets]) for names in standing]
    if by and all(other is not None for other in by) and by[0] is not None:
        other = by[0]
        yield Problem(
            "AGT253",
            f"the rule {quoted(rule.name)} never takes effect: {other.set_name}.rules.{other.name} says"
            f" {other.action} of whatever it matches",
            _place(rule),
            hint="the strictest rule of a list counts; take what is meant out of the other one by `!`",
            at="key",
            severity="warning",
            related=(Related("covered by this rule", _place(other)),),
        )


def _told(code: str, rule: ReadyRule, finding: Finding) -> Problem:
    path = (*_place(rule), *finding.key.split(".", 1))
    return Problem(code, finding.message, path, hint=finding.hint, severity="warning")


def _place(rule: ReadyRule) -> Path:
    return ("permissions", rule.set_name, "rules", rule.name)


def _beside_the_modes(
    config: Config,
    tables: Mapping[str, OptionTable],
    options: Mapping[str, Option],
    commands: Mapping[str, Patch],
) -> Iterator[tuple[Patch, Path]]:
    """Yield what is set by values that are no modes, slash commands among them, and where they set permissions."""
    said = ("set", "permissions")
    for option, value, patch in _patches(options):
        if option.id != MODE:
            yield patch, place_of(config, tables[option.id], value, said)
    for name, patch in commands.items():
        yield patch, ("commands", name, *said)


def _looser(patch: Patch, place: Path, base: Sequence[str], sets: Sets) -> Iterator[Problem]:
    """Yield what a patch says that is looser than the base's kinds and defaults."""
    of_base = [sets[name] for name in base if name in sets]
    for names in patch.permissions:
        said = looser([sets[name] for name in names if name in sets], of_base)
        if said is not None:
            yield Problem(
                "AGT254",
                f"this loosens what is in force without it: {said}",
                place,
                hint="only a mode should have rules of its own; to ask less, write set.auto_answers.add",
                severity="warning",
            )
