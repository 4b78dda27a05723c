"""Whether a rule speaks about a part of a call: one that allows must be certain, one that restricts sees more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agentoml.config.globs import EXCLUDES, selects
from agentoml.permissions.calls import World
from agentoml.permissions.commands import SimpleCommand
from agentoml.permissions.parts import Part
from agentoml.permissions.paths import holds, is_inside, only_excludes, touches
from agentoml.permissions.patterns import ANY_WORDS, covers, may_cover, pattern_words
from agentoml.permissions.programs import anatomy
from agentoml.permissions.sets import ReadyRule, selects_tool
from agentoml.permissions.words import Word

Match = Literal["no", "maybe", "yes"]


def allows(rule: ReadyRule, part: Part, world: World, *, answering: bool) -> bool:
    """Return whether a rule that allows speaks about a part. `answering`: it stands among `auto_answers`."""
    if part.call.shadows or not _names_tool(rule, part) or not _fits(rule, part):
        return False
    if rule.kind is not None and not selects(rule.kind, part.kind):
        return False
    if part.hidden and (rule.path is not None or rule.command is not None or rule.args or rule.host is not None):
        return False
    if rule.path is not None and not holds(rule.path, part.places, world):
        return False
    if rule.path is None and not answering and not within_roots(part, world):
        return False
    return rule.command is None or _covered(rule.command, part)


def within_roots(part: Part, world: World) -> bool:
    """Return whether no path that a part declares is outside the roots (E47)."""
    return not part.lost and all(is_inside(place, world) for place in part.places)


def restricts(rule: ReadyRule, part: Part, world: World) -> Match:
    """Return whether a rule that asks, always asks or denies speaks about a part; "maybe" hangs on an expansion."""
    if not _fits(rule, part):
        return "no"
    if rule.path is not None:
        unknown = part.words is not None and part.anatomy is not None and part.anatomy.unknown
        meant = not unknown and _touched(rule, rule.path, part, world)
    else:
        meant = rule.tool is None or selects_tool(rule.tool, part.tool or "", part.kind)
        meant = meant and _any_kind(rule, {part.kind})
    if not meant:
        return "no"
    if rule.command is None:
        return "yes"
    return _seen(rule.command, part) if part.tool is not None or rule.path is not None else "no"


# ------------------------------------------------------------------------------------------ tools and arguments


def _names_tool(rule: ReadyRule, part: Part) -> bool:
    """Return whether an allow is meant for this tool. A redirection has no tool's name: only `kind:` covers it."""
    if rule.tool is None:
        return True
    if part.tool is None and not all(selector.lstrip(EXCLUDES).startswith("kind:") for selector in rule.tool):
        return False
    return selects_tool(rule.tool, part.tool or "", part.kind)


def _fits(rule: ReadyRule, part: Part) -> bool:
    """Return whether arguments and host are what a rule says (E49)."""
    return all(_argument(part, name, patterns) for name, patterns in rule.args) and (
        rule.host is None or (part.call.host is not None and _host(rule, part.call.host))
    )


def _argument(part: Part, name: str, patterns: Sequence[str]) -> bool:
    value = part.call.args.get(name)
    if isinstance(value, bool):
        return selects(patterns, "true" if value else "false")
    return isinstance(value, str | int | float) and selects(patterns, str(value))


def _host(rule: ReadyRule, host: str) -> bool:
    """Return whether a host is one of the rule's. A number that stands for an address is read as that, too."""
    readings = {host.lower().rstrip("."), _address(host)} if rule.action != "allow" else {host.lower().rstrip(".")}
    return any(selects(rule.host or (), reading, ignore_case=True) for reading in readings)


def _address(host: str) -> str:
    """Return the usual form of an address however it is written: IPv4 in decimal, octal, hexadecimal, in 1 to 4 parts
    or inside IPv6; IPv6 with its zeros or without.
    """
    import socket
    from ipaddress import IPv6Address

    name = host.lower().rstrip(".")
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, ValueError):
        pass
    try:
        address = IPv6Address(name)
    except ValueError:
        return name
    return str(address.ipv4_mapped or address)


# ------------------------------------------------------------------------------------------ paths


def _touched(rule: ReadyRule, patterns: Sequence[str], part: Part, world: World) -> bool:
    """Return whether a part touches a path of a rule that restricts (E42, E46, E48)."""
    named = part.tool is None or rule.tool is None or selects_tool(rule.tool, part.tool, part.kind)
    kinds = {part.kind, part.call.kind} if part.tool is None else {part.kind}
    if named and _any_kind(rule, kinds) and touches(patterns, part.places, world):
        return True
    if only_excludes(patterns):
        return False
    own = _any_kind(rule, {part.kind}) and rule.kind is not None
    read = part.read if own or _any_kind(rule, {"read"}) else ()
    edited = part.edited if own or _any_kind(rule, {"read", "edit"}) else ()
    return touches(patterns, (*read, *edited), world)


def _any_kind(rule: ReadyRule, kinds: set[str]) -> bool:
    return rule.kind is None or any(selects(rule.kind, kind) for kind in kinds)


# ------------------------------------------------------------------------------------------ commands


def _covered(patterns: Sequence[str], part: Part) -> bool:
    """Return whether patterns of an allow cover a simple command (E43), and none that they exclude could be it."""
    if part.words is None or part.anatomy is None or part.hidden or part.evaluates:
        return False
    chosen, excluded = _divided(patterns)
    if not any(covers(pattern, part.words, part.anatomy.needs) for pattern in chosen):
        return False
    return not any(may_cover(pattern, view) for pattern in excluded for view in part.anatomy.views)


def _seen(patterns: Sequence[str], part: Part) -> Match:
    """Return whether patterns of a rule that restricts see a simple command, or what it runs (E44)."""
    if part.anatomy is None or part.anatomy.unknown:
        return "no"
    chosen, excluded = _divided(patterns)
    found: Match = "no"
    for view in part.anatomy.views or ((),):
        if any(_certainly(pattern, view) for pattern in excluded):
            continue
        if any(covers(pattern, view) for pattern in chosen):
            return "yes"
        if any(may_cover(pattern, view) for pattern in chosen):
            found = "maybe"
    return found


def _certainly(pattern: Sequence[str], view: tuple[Word, ...]) -> bool:
    """Return whether an exclusion holds for a command: it names what it runs or writes as an allow must."""
    return covers(pattern, view, anatomy(SimpleCommand((), view)).needs)


def _divided(patterns: Sequence[str]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    chosen = [pattern_words(pattern) for pattern in patterns if not pattern.startswith(EXCLUDES)]
    excluded = [pattern_words(pattern[len(EXCLUDES) :]) for pattern in patterns if pattern.startswith(EXCLUDES)]
    return (chosen or [(ANY_WORDS,)] if patterns else []), excluded
