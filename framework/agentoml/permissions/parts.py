"""A call taken apart into what is judged by itself: the call, or each simple command and redirection of its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen

from agentoml.permissions.calls import Call, World
from agentoml.permissions.commands import CommandLine, Redirection, SimpleCommand, take_apart
from agentoml.permissions.evaluation import taints
from agentoml.permissions.path_words import Directories, directories, places_named, target
from agentoml.permissions.paths import Place, place
from agentoml.permissions.programs import Anatomy, Operand, anatomy
from agentoml.permissions.words import Word

COMMAND_LINES: Mapping[str, str] = {"shell": "command"}
"""Tool -> the argument that is a command line."""

NOT_JUDGED = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"))


@frozen
class Part:
    """One thing that is judged by itself.

    `tool` is None for a redirection: no tool's name is its own. `places`: the paths that it declares; `lost`: one of
    them can't be known. `words`: of a simple command, assignments first. `read`, `edited`: paths that its words name.
    `hidden`: what it does can't be seen in full (E45). `more_files`: not all files that its globs find are known.
    """

    text: str
    call: Call
    tool: str | None
    kind: str
    places: tuple[Place, ...] = ()
    lost: bool = False
    words: tuple[Word, ...] | None = None
    anatomy: Anatomy | None = None
    read: tuple[Place, ...] = ()
    edited: tuple[Place, ...] = ()
    hidden: bool = False
    more_files: bool = False
    evaluates: bool = False


def parts(call: Call, world: World) -> tuple[Part, ...]:
    """Return what is judged by itself in a call."""
    places = tuple(place(path, world) for path in call.paths)
    whole = Part(call.tool, call, call.tool, call.kind, places)
    if call.tool not in COMMAND_LINES:
        return (whole,)
    line = call.args.get(COMMAND_LINES[call.tool])
    taken = take_apart(line) if isinstance(line, str) else CommandLine(False)
    if not taken.parsed:
        return (evolve(whole, text=str(line), hidden=True),)
    return tuple(_line(taken, whole, world))


def _line(line: CommandLine, whole: Part, world: World) -> Iterator[Part]:
    commands = line.commands or (SimpleCommand(),)
    seen = [anatomy(command) for command in commands]
    where = directories([view for each in seen for view in each.views], world)
    listed = _named([Operand(word, reads=True) for word in line.listed], world, where)
    evaluates = line.evaluates or any(each.evaluates for each in seen)
    unseen = evaluates and (any(each.taints for each in seen) or any(map(taints, line.listed)))
    for command, known in zip(commands, seen, strict=True):
        named = _named(known.operands, world, where)
        yield evolve(
            whole,
            text=command.text,
            words=(*command.assignments, *command.words),
            anatomy=known,
            read=(*named.read, *listed.read),
            edited=named.edited,
            hidden=known.hidden or unseen,
            more_files=not (named.whole and listed.whole),
            evaluates=evaluates,
        )
        for redirection in (*command.redirections, *known.redirections):
            yield from _redirection(redirection, known, whole, world, where)
    for redirection in line.redirections:
        yield from _redirection(redirection, None, whole, world, where)


@frozen
class _Named:
    """The paths that words name: those that are only read, and those that may be written. `whole`: these are all."""

    read: tuple[Place, ...]
    edited: tuple[Place, ...]
    whole: bool


def _named(operands: Sequence[Operand], world: World, where: Directories) -> _Named:
    read: list[Place] = []
    edited: list[Place] = []
    whole = True
    for operand in operands:
        expanded = where.expand(operand.word, world)
        whole = whole and expanded.whole
        (read if operand.reads else edited).extend(places_named(operand.word, expanded.texts, world, where))
    return _Named(tuple(read), tuple(edited), whole)


def _redirection(
    redirection: Redirection, owner: Anatomy | None, whole: Part, world: World, where: Directories
) -> Iterator[Part]:
    word = redirection.target
    if word.literal and (word.text in NOT_JUDGED or word.text.startswith("/dev/fd/")):
        return
    found = target(word, world, where)
    lost = found is None or (where.unknown and not word.text.startswith(("/", "~")))
    yield evolve(
        whole,
        text=f"{'>' if redirection.writes else '<'} {word.text}",
        tool=None,
        kind="edit" if redirection.writes else "read",
        places=(found,) if found is not None else (),
        lost=lost,
        anatomy=owner,
        hidden=lost,
    )
