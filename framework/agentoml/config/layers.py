"""Which files apply, weakest first: built-in, the user's own, the trusted project's, the named one, `--set` (L8).

What a file extends stands directly beneath it (L6). The administrator's policy comes last: it is no layer, but a
ceiling. This module never fails: what can't be read is a problem of the text that names it, and a file that was
looked for is among the files to watch, also when it is not there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentoml import assets
from agentoml.config.documents import document, text_files
from agentoml.config.layering.directories import own_folder
from agentoml.config.layering.files import (
    absolute,
    beside,
    configuration_file,
    content_of,
    real,
    similar,
    text_of,
    unreadable,
)
from agentoml.config.layering.projects import FILES, is_within, project_file, project_root
from agentoml.config.problems import Problem, Related, did_you_mean, quoted
from agentoml.config.texts import CatalogText, Layer, Text

if TYPE_CHECKING:
    from agentoml.config.layering.sources import Found, Source
    from agentoml.config.trust import Project

DEEPEST = 10
PRESET = "preset:"
OFFLINE = "preset:offline"
PACKAGE = "package:"
REMOTE = ("https://", "http://", "git+")
"""How targets of `extends` begin that lie elsewhere: in an installed package, or where `agentoml fetch` gets them."""
EXTEND = "name it in the `extends` of a file of yours; `agentoml fetch` gets what is on the net"
"""What helps where such a target is named in the place of a file."""
BEGIN = "`agentoml init minimal DIRECTORY` writes one to begin with"
POLICY = "AGENTOML_POLICY"
"""The environment variable by which an administrator names a file with a `[policy]`."""


class Chosen(NamedTuple):
    """Which configuration is wanted.

    `named` is a file, a directory with an agent.toml, or `preset:NAME`; None: the user's own, else the preset
    `offline`. `settings` are the KEY=VALUE of `--set`. `project` is the root of the project that is worked in.
    """

    named: str | Path | None = None
    settings: tuple[str, ...] = ()
    project: Path | None = None

    def __str__(self) -> str:
        """Return what users call it."""
        name = str(self.named if self.named is not None else own_config())
        return " ".join((name, *(f"--set {setting}" for setting in self.settings)))


Configuration = Chosen | str | Path | None
"""What `read` takes: a choice, or its `named` alone."""


class Reading(NamedTuple):
    """The texts, weakest first, and every file that was read or looked for, also those that are not there.

    `catalogs` lie beneath all texts; catalogs.py reads them. `project` is set where the project has a file, also one
    that is not among the texts because it is not trusted. `sources` are what has to be fetched, and whether it is.
    """

    texts: tuple[Text, ...]
    files: tuple[Path, ...]
    catalogs: tuple[CatalogText, ...] = ()
    project: Project | None = None
    sources: tuple[Source, ...] = ()


def read(configuration: Configuration = None) -> Reading:
    """Read a configuration."""
    chosen = configuration if isinstance(configuration, Chosen) else Chosen(configuration)
    reader = _Reader()
    reader.texts.append(reader.text("built-in", assets.folder("configs") / "built-in.toml", "built-in"))
    own = own_config()
    reader.look_for(own)
    if os.path.lexists(own):
        reader.layer(str(own), "user")
    project = reader.project(chosen.project) if chosen.project else None
    if chosen.named is not None and not _is_same(chosen.named, own):
        reader.layer(str(chosen.named), "named")
    elif reader.only_built_in:
        reader.layer(OFFLINE, "named")
    if chosen.settings:
        from agentoml.config.layering.settings import setting_texts

        for text in setting_texts(chosen.settings, absolute(".")):
            reader.expand(text, ())
    if os.environ.get(POLICY):
        reader.layer(os.environ[POLICY], "policy")
    return Reading(tuple(reader.texts), tuple(reader.files), project=project, sources=tuple(reader.sources))


def in_directory(chosen: Chosen, cwd: Path) -> Chosen:
    """Return the choice as it counts for sessions in a directory: with its project, if that has files of its own."""
    root = project_root(cwd)
    file = project_file(root) if root is not None else None
    known = file is not None and any(real(file) == real(layer) for layer in (own_config(), *_file_of(chosen.named)))
    return chosen._replace(project=None if known else root)


def read_one(name: str, path: Path) -> Reading:
    """Read one file that is no layer, with the text files that it names."""
    reader = _Reader()
    return Reading((reader.text(name, path, "named"),), tuple(reader.files))


def read_policies() -> Reading:
    """Read what today's policies are made of: the built-in sets, the user's own layer, the administrator's file."""
    reading = read(OFFLINE)
    return reading._replace(texts=tuple(text for text in reading.texts if text.layer != "named"))


def named(config: str) -> Path:
    """Return what a command line names: `preset:NAME` as it is, else a file's absolute path; a symlink stays one."""
    return Path(config) if config.startswith(PRESET) else absolute(config)


def own_config() -> Path:
    """Return where the user's own configuration is, or would be."""
    return own_folder("config") / "agent.toml"


def presets() -> list[str]:
    """Return the names of the shipped presets."""
    return sorted(file.stem for file in assets.folder("configs").glob("*.toml") if file.stem != "built-in")


def _preset(name: str) -> Path | None:
    return assets.folder("configs") / f"{name.removeprefix(PRESET)}.toml" if name.startswith(PRESET) else None


def _file_of(name: str | Path | None) -> tuple[Path, ...]:
    return () if name is None or str(name).startswith(PRESET) else (configuration_file(absolute(str(name))),)


def _is_same(name: str | Path, own: Path) -> bool:
    return os.path.lexists(own) and any(real(file) == real(own) for file in _file_of(name))


class _Target(NamedTuple):
    """What an entry of `extends` stands for: what users call it, the file, and where its other files must lie."""

    name: str
    path: Path
    root: Path | None


class _Step(NamedTuple):
    """One `extends` on the way down: the text, which entry of `extends`, and the file behind the text."""

    text: Text
    entry: int
    real: Path


class _Reader:
    """Collects the texts of all layers, and every file that was looked for."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.files: dict[Path, None] = {}
        self.sources: dict[Source, None] = {}
        self._seen: set[Path] = set()

    @property
    def only_built_in(self) -> bool:
        return len(self.texts) == 1

    def look_for(self, path: Path) -> None:
        self.files[path] = None

    def layer(self, name: str, layer: Layer, root: Path | None = None) -> None:
        """Add a file, or the agent.toml of a directory, and what it extends. `root`: of the project it is in."""
        preset = _preset(name)
        path = preset or configuration_file(absolute(name))
        called = name if preset or path == absolute(name) else beside(f"{name}/", path.name)
        if called != name and not os.path.lexists(path):
            self.look_for(path.parent)  # a file may come in the place of an empty directory
        self.expand(self.text(called, path, layer, root=root), (), root)

    def project(self, root: Path) -> Project | None:
        """Add the files of a project if they are trusted."""
        for name in FILES:
            self.look_for(root / name)
        file = project_file(root)
        if file is None:
            return None
        from agentoml.config import trust

        self.look_for(trust.record_file(root))
        inner = _Reader()
        inner.layer(str(file), "project", root)
        self.files.update(inner.files)
        found = trust.project(root, file, inner.texts)
        if found.counts:
            self.texts += inner.texts
            self.sources.update(inner.sources)
        return found

    def expand(self, text: Text, chain: tuple[_Step, ...], root: Path | None = None) -> None:
        """Add a text, and directly beneath it what it extends, depth first.

        In each layer a file counts where it first stands.
        """
        path = text.path or absolute(text.name)
        if not chain:
            self._seen = set()
        if real(path) in self._seen:
            return
        self._seen.add(real(path))
        problems = []
        for index, target in enumerate(_extends(text)):
            steps = (*chain, _Step(text, index, real(path)))
            found = self._target(target, text, steps, root)
            problem = _at(steps[-1], found) if isinstance(found, Problem) else self._refused(found, steps)
            if isinstance(found, Problem) or problem is not None:
                problems += [problem] if problem is not None else []
                continue
            lineage = tuple((step.text.name, step.entry) for step in steps)
            inner = self.text(found.name, found.path, text.layer, root=found.root)
            self.expand(inner._replace(lineage=lineage), steps, found.root)
        self.texts.append(text._replace(problems=(*text.problems, *problems)))

    def _target(self, target: str, text: Text, chain: tuple[_Step, ...], root: Path | None) -> _Target | Problem:
        """Return what an entry of `extends` stands for. What has a `root` takes no other file from outside of it."""
        if target.startswith(PRESET):
            return _unknown_preset(target) or _Target(target, _preset(target) or Path(), None)
        if not _is_elsewhere(target):
            there = configuration_file(absolute(beside(str(text.path or ""), target)))
            called = _called(text, target, there, root)
            return _Target(called, there, root) if root is None or is_within(there, root) else _outside(called)
        from agentoml.config.layering.sources import fetched, in_package

        found: Found | Problem
        if target.startswith(PACKAGE):
            found = in_package(target)
        else:
            top = chain[0].text
            source, found = fetched(target, (top.path or absolute(".")).parent, "" if top.layer == "user" else top.name)
            self.look_for(source.lock)
            self.sources[source] = None
        if isinstance(found, Problem):
            return found
        return _Target(found.name, found.file, found.root)

    def _refused(self, target: _Target, chain: tuple[_Step, ...]) -> Problem | None:
        """Return why the last step of the chain can't be taken, blaming the line that says `extends`."""
        name, there, step = target.name, target.path, chain[-1]
        self.look_for(there)
        reason = unreadable(there)
        if reason:
            return _at(step, Problem("AGT301", f"{name} can't be extended: {reason}", hint=_instead(name, there)))
        circle = [index for index, earlier in enumerate(chain) if earlier.real == real(there)]
        if circle:
            notes = tuple(_note(earlier) for earlier in chain[circle[0] :])
            hint = "take one of them out"
            return _at(step, Problem("AGT302", "files extend each other in a circle", hint=hint, related=notes))
        if len(chain) > DEEPEST:
            notes = tuple(_note(earlier) for earlier in chain)
            message = f"files extend one another more than {DEEPEST} deep"
            return _at(step, Problem("AGT303", message, hint="extend fewer", related=notes))
        return None

    def text(self, name: str, path: Path, layer: Layer, *, root: Path | None = None) -> Text:
        """Read one file and the text files that it names; those of a project lie in it."""
        self.look_for(path)
        unknown = _unknown_preset(name)
        content = "" if unknown else content_of(path)
        if isinstance(content, str):
            message = f"the configuration can't be read: {content}"
            hint = EXTEND if _is_elsewhere(name) else _instead(name, path) or ("" if os.path.lexists(path) else BEGIN)
            problem = unknown or Problem("AGT001", message, hint=hint)
            return Text(name, b"", path, layer, problems=(problem._replace(file=name),))
        text = Text(name, content, path, layer)
        included: dict[str, str] = {}
        problems = []
        for key, file in text_files(document(content).values) if text.may_have_key(b"file") else ():
            there = absolute(beside(str(path), file))
            if root is not None and not is_within(there, root):
                problems.append(_outside(beside(name, file))._replace(path=key))
                continue
            self.look_for(there)
            found = text_of(there, beside(name, file))
            if isinstance(found, Problem):
                problems.append(found._replace(path=key))
            else:
                included[file] = found
        return text._replace(included=included, problems=_placed(problems, text))


def _is_elsewhere(target: str) -> bool:
    return target.startswith((PACKAGE, *REMOTE))


def _outside(name: str) -> Problem:
    hint = "projects, packages and what is fetched take only files of their own, and presets"
    return Problem("AGT309", f"{name} lies outside", hint=hint)


def _extends(text: Text) -> list[str]:
    values: Mapping[str, Any] = document(text.content).values if text.content else {}
    extends = values.get("extends")
    return [target for target in extends if isinstance(target, str) and target] if isinstance(extends, list) else []


def _called(text: Text, target: str, there: Path, root: Path | None) -> str:
    """Return what users call a file that a text extends; what is beside a preset has no name but its place."""
    if text.name.startswith(PRESET):
        return str(there)
    if text.layer == "set":
        return target
    if root is not None and _is_elsewhere(text.name):
        inner = os.path.relpath(there, root)
        return text.name.replace(os.path.relpath(text.path or root, root), inner)
    called = beside(text.name, target)
    return called if there.name == Path(called).name else f"{called}/{there.name}"


def _unknown_preset(name: str) -> Problem | None:
    preset = name.removeprefix(PRESET)
    if preset == name or preset in presets():
        return None
    hint = did_you_mean(preset, presets()) or f"there are: {', '.join(presets())}"
    return Problem("AGT301", f"there is no preset {quoted(preset)}", hint=hint)


def _instead(name: str, path: Path) -> str:
    """Return a hint for a configuration that is not there: a preset of that name, or a file with almost this name."""
    if path.name in presets() and not path.exists():
        return f"the preset is `{PRESET}{path.name}`"
    return similar(path)


def _at(step: _Step, problem: Problem) -> Problem:
    return _placed([problem._replace(path=("extends", step.entry))], step.text)[0]


def _note(step: _Step) -> Related:
    place = _at(step, Problem("", ""))
    message = f"{step.text.name} extends {_extends(step.text)[step.entry]}"
    return Related(message, place.path, place.file, place.line, place.column)


def _placed(problems: list[Problem], text: Text) -> tuple[Problem, ...]:
    if not problems:
        return ()
    from agentoml.config.diagnostics.locate import place

    return tuple(place(problems, text))
