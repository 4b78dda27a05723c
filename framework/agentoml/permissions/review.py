"""What rules say and hardly mean: those that never take effect, and those that leave open what they seem to close."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from attrs import frozen

from agentoml.config.globs import EXCLUDES, matches, selects
from agentoml.permissions.parts import COMMAND_LINES
from agentoml.permissions.patterns import ANY_WORDS, pattern_words
from agentoml.permissions.sets import ReadyRule, ReadySet, selects_tool, strictness

SHELL = next(iter(COMMAND_LINES))
FETCH = "fetch_url"

EVERYTHING = frozenset(("*", "**"))


class KnownTools(Protocol):
    """What a configuration tells of tools."""

    def names(self) -> Collection[str]:
        """Return the names of all tools that are known."""
        ...

    def kind(self, tool: str) -> str:
        """Return the kind of a tool."""
        ...

    def locations(self, tool: str) -> Collection[str]:
        """Return the arguments of a tool that are paths."""
        ...


@frozen
class Finding:
    """What is odd about a rule: the key to blame, one sentence, and what to write instead."""

    key: str
    message: str
    hint: str


# ---------------------------------------------------------------------------------------- never takes effect


def covering(rule: ReadyRule, beside: Sequence[ReadySet]) -> ReadyRule | None:
    """Return a stricter rule of the same list that matches whatever this rule does: so this one never counts."""
    others = (other for ready in beside for other in ready.rules)
    return next((other for other in others if _stricter(other, rule) and _matches_all_of(other, rule)), None)


def _stricter(other: ReadyRule, rule: ReadyRule) -> bool:
    return strictness(other.action) > strictness(rule.action)


def _matches_all_of(wide: ReadyRule, narrow: ReadyRule) -> bool:
    if not (_covers(wide.tool, narrow.tool) and _covers(wide.kind, narrow.kind)):
        return False
    said = dict(narrow.args)
    others = ((wide.path, narrow.path), (wide.command, narrow.command), (wide.host, narrow.host))
    arguments = ((patterns, said.get(name)) for name, patterns in wide.args)
    return all(_covers(each, other, always=False) for each, other in (*others, *arguments))


def _covers(wide: tuple[str, ...] | None, narrow: tuple[str, ...] | None, *, always: bool = True) -> bool:
    """Return whether patterns certainly match all that others match. Exclusions are only compared.

    `always`: every call has what these patterns are about.
    """
    if wide is None or wide == narrow:
        return True
    if any(pattern.startswith(EXCLUDES) for pattern in (*wide, *(narrow or ()))):
        return False
    if narrow is None:
        return always and not EVERYTHING.isdisjoint(wide)
    return all(any(_is_within(pattern, each) for each in wide) for pattern in narrow)


def _is_within(pattern: str, wide: str) -> bool:
    if pattern == wide or wide in EVERYTHING:
        return True
    if wide.endswith(f" {ANY_WORDS}") and "*" not in wide[:-2]:
        return pattern == wide[:-2] or pattern.startswith(wide[:-1])
    if pattern.startswith("kind:") and not wide.startswith("kind:"):
        return False
    return not any(char in pattern for char in "*?") and " " not in wide and matches(wide, pattern)


def without_effect(rule: ReadyRule, tools: KnownTools) -> Iterator[Finding]:
    """Yield why a rule can match no call at all."""
    selected = [tool for tool in tools.names() if rule.tool is None or selects_tool(rule.tool, tool, tools.kind(tool))]
    if rule.tool is not None and rule.command is not None and SHELL not in selected:
        yield Finding(
            "command", f"only {SHELL} has a command line, and this rule is about other tools", _ABOUT_COMMANDS
        )
    if rule.tool is not None and rule.host is not None and FETCH not in selected:
        yield Finding("host", f"only {FETCH} asks a host, and this rule is about other tools", "use `args`")
    named = rule.tool if rule.tool is not None and not any(map(_is_open, rule.tool)) else None
    if named and rule.kind is not None and not any(selects(rule.kind, tools.kind(tool)) for tool in named):
        kinds = ", ".join(sorted({tools.kind(tool) for tool in named}))
        yield Finding("kind", f"the tools of this rule are of kind {kinds}", "leave `tool` or `kind` out")
    if rule.action == "allow" and rule.path is not None and named and not any(map(tools.locations, named)):
        yield Finding("path", f"{', '.join(named)} declares no locations: an allow with `path` never holds", _LOCATIONS)


_ABOUT_COMMANDS = f'leave `tool` out, or write tool = "{SHELL}"'
_LOCATIONS = "say in [tool_kinds] which arguments are paths: locations = [...]"


def _is_open(selector: str) -> bool:
    return selector.startswith((EXCLUDES, "kind:")) or any(char in selector for char in "*?")


# ---------------------------------------------------------------------------------------- holes


def holes(rule: ReadyRule, tools: KnownTools) -> Iterator[Finding]:
    """Yield what a rule that asks, always asks or denies seems to close and does not."""
    if rule.action == "allow":
        return
    yield from _holes_in_commands(rule)
    yield from _holes_in_arguments(rule, tools)
    if rule.path is not None and rule.tool is not None:
        yield from _holes_in_paths(rule, rule.tool, tools)


def _holes_in_commands(rule: ReadyRule) -> Iterator[Finding]:
    patterns = [pattern for pattern in rule.command or () if not pattern.startswith(EXCLUDES)]
    for pattern in patterns:
        words = pattern_words(pattern)
        if words and words[-1] != ANY_WORDS and not any(_is_within(f"{pattern} x", other) for other in patterns):
            message = f"`{pattern}` is exactly that: with one more argument it passes"
            yield Finding("command", message, f'write "{pattern} {ANY_WORDS}"')
        at = next(
            (at for at, word in enumerate(words) if at and word.startswith("-") and words[at - 1] != ANY_WORDS), 0
        )
        if at:
            message = f"`{words[at]}` is looked for just there: behind another word it passes"
            there = " ".join((*words[:at], ANY_WORDS, words[at], ANY_WORDS))
            yield Finding("command", message, f'look for it anywhere, "{there}", or match whatever its options')


def _holes_in_arguments(rule: ReadyRule, tools: KnownTools) -> Iterator[Finding]:
    selected = [tool for tool in tools.names() if rule.tool is None or selects_tool(rule.tool, tool, tools.kind(tool))]
    paths = {name for tool in selected for name in tools.locations(tool)}
    for name, _ in rule.args:
        key = f"args.{name}"
        if name == COMMAND_LINES[SHELL] and SHELL in selected:
            yield Finding(key, "the text of a command line can be written in many ways", "use `command`")
        elif name in paths:
            yield Finding(key, "this is the text of a path: `./x`, `a/../x` and a symlink pass", "use `path`")
        elif name == "url" and FETCH in selected:
            yield Finding(key, "this is the text of a URL: redirects and other spellings pass", "use `host`")


def _holes_in_paths(rule: ReadyRule, selectors: tuple[str, ...], tools: KnownTools) -> Iterator[Finding]:
    blind = [each for each in selectors if not _is_open(each) and each != SHELL and not tools.locations(each)]
    if blind:
        message = f"{', '.join(blind)} declares no locations: none of its paths is judged"
        yield Finding("path", message, _LOCATIONS)
    located = [tool for tool in tools.names() if tools.locations(tool)]
    chosen = [tool for tool in located if selects_tool(selectors, tool, tools.kind(tool))]
    kinds = {tools.kind(tool) for tool in chosen} & {"read", "edit"}
    left = [tool for tool in located if tools.kind(tool) in kinds and tool not in chosen]
    if left:
        message = f"it says nothing of {', '.join(left)}, which can do the same to these paths"
        yield Finding("tool", message, f"leave `tool` out, or write kind = {_written(kinds)}")


def _written(kinds: Collection[str]) -> str:
    quoted = [f'"{kind}"' for kind in sorted(kinds)]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


# ---------------------------------------------------------------------------------------- looser than the base


def looser(sets: Sequence[ReadySet], base: Sequence[ReadySet]) -> str | None:
    """Return what a list of sets says that is looser than what the base's kinds and defaults say without it (E41)."""
    for ready in sets:
        for kind, action in ready.kinds.items():
            if strictness(action) < strictness(_of_kind(base, kind)):
                return f"{ready.name}.kinds.{kind} says {action}"
        if ready.default is not None and strictness(ready.default) < strictness(_of_kind(base, "")):
            return f"{ready.name}.default says {ready.default}"
        for rule in ready.rules:
            kinds = rule.kind if rule.kind and not any(map(_is_open, rule.kind)) else ("",)
            if all(strictness(rule.action) < strictness(_of_kind(base, kind)) for kind in kinds):
                return f"{ready.name}.rules.{rule.name} says {rule.action}"
    return None


def _of_kind(base: Sequence[ReadySet], kind: str) -> str:
    spoken = [ready.kinds[kind] for ready in base if kind in ready.kinds]
    spoken = spoken or [ready.default for ready in base if ready.default is not None]
    return max(spoken, key=strictness, default="ask")
