"""Which files apply, weakest first: built-in, then the named file with what it extends directly beneath it.

The only module of this folder that reads files, beside catalogs.py. It never fails: what can't be read is a problem
of the text that names it, and a file that was looked for is among the files to watch, also when it is not there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agentoml import assets
from agentoml.config.parse import CatalogText, Layer, Text, document, text_files
from agentoml.config.problems import Problem, Related, closest, did_you_mean, quoted

LARGEST = 32 * 1024 * 1024
DEEPEST = 10
PRESET = "preset:"
OFFLINE = "preset:offline"


class Reading(NamedTuple):
    """The texts, weakest first, and every file that was read or looked for, also those that are not there.

    `catalogs` lie beneath all texts; catalogs.py reads them.
    """

    texts: tuple[Text, ...]
    files: tuple[Path, ...]
    catalogs: tuple[CatalogText, ...] = ()


def read(config: str | Path | None = None) -> Reading:
    """Read a configuration: a file, `preset:NAME`, or with None the user's own, else the preset `offline`."""
    reader = _Reader()
    reader.add("built-in", assets.folder("configs") / "built-in.toml", "built-in")
    if config is None:
        own = own_config()
        reader.look_for(own)
        config = own if os.path.lexists(own) else OFFLINE
    name = str(config)
    reader.expand(name, _preset(name) or _absolute(name), "named", ())
    return Reading(tuple(reader.texts), tuple(reader.files))


def read_one(name: str, path: Path) -> Reading:
    """Read one file that is no layer, with the text files that it names."""
    reader = _Reader()
    reader.add(name, path, "named")
    return Reading(tuple(reader.texts), tuple(reader.files))


def named(config: str) -> Path:
    """Return what a command line names: `preset:NAME` as it is, else a file's absolute path; a symlink stays one."""
    return Path(config) if config.startswith(PRESET) else _absolute(config)


def own_config() -> Path:
    """Return where the user's own configuration is, or would be."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(home) if Path(home).is_absolute() else _absolute("~/.config")
    return folder / "agentoml" / "agent.toml"


def presets() -> list[str]:
    """Return the names of the shipped presets."""
    return sorted(file.stem for file in assets.folder("configs").glob("*.toml") if file.stem != "built-in")


def _preset(name: str) -> Path | None:
    return assets.folder("configs") / f"{name.removeprefix(PRESET)}.toml" if name.startswith(PRESET) else None


class _Step(NamedTuple):
    """One `extends` on the way down: the text, which entry of `extends`, and the file behind the text."""

    text: Text
    entry: int
    real: Path


class _Reader:
    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.files: dict[Path, None] = {}
        self._seen: set[Path] = set()

    def look_for(self, path: Path) -> None:
        self.files[path] = None

    def add(self, name: str, path: Path, layer: Layer) -> None:
        self.texts.append(self._text(name, path, layer))

    def expand(self, name: str, path: Path, layer: Layer, chain: tuple[_Step, ...]) -> None:
        """Add a file, and directly beneath it what it extends, depth first; a file counts where it first stands."""
        real = _real(path)
        if real in self._seen:
            return
        self._seen.add(real)
        text = self._text(name, path, layer)
        problems = []
        for index, target in enumerate(_extends(text)):
            step = _Step(text, index, real)
            there = _preset(target) or _absolute(_beside(str(path), target))
            called = target if target.startswith(PRESET) else _called(name, target, there)
            problem = self._refused(called, there, (*chain, step))
            if problem:
                problems.append(problem)
            else:
                self.expand(called, there, layer, (*chain, step))
        self.texts.append(text._replace(problems=(*text.problems, *problems)))

    def _refused(self, name: str, there: Path, chain: tuple[_Step, ...]) -> Problem | None:
        """Return why the last step of the chain can't be taken, blaming the line that says `extends`."""
        self.look_for(there)
        step = chain[-1]
        unknown = _unknown_preset(name)
        if unknown:
            return _at(step, unknown)
        reason = unreadable(there)
        if reason:
            return _at(step, Problem("AGT301", f"{name} can't be extended: {reason}", hint=similar(there)))
        circle = [index for index, earlier in enumerate(chain) if earlier.real == _real(there)]
        if circle:
            notes = tuple(_note(earlier) for earlier in chain[circle[0] :])
            hint = "take one of them out"
            return _at(step, Problem("AGT302", "files extend each other in a circle", hint=hint, related=notes))
        if len(chain) > DEEPEST:
            notes = tuple(_note(earlier) for earlier in chain)
            message = f"files extend one another more than {DEEPEST} deep"
            return _at(step, Problem("AGT303", message, hint="extend fewer", related=notes))
        return None

    def _text(self, name: str, path: Path, layer: Layer) -> Text:
        """Read one file and the text files that it names."""
        self.look_for(path)
        unknown = _unknown_preset(name)
        content = "" if unknown else _content(path)
        if isinstance(content, str):
            message = f"the configuration can't be read: {content}"
            problem = unknown or Problem("AGT001", message, hint=_instead(path))
            return Text(name, b"", path, layer, problems=(problem._replace(file=name),))
        text = Text(name, content, path, layer)
        included: dict[str, str] = {}
        problems = []
        for key, file in text_files(document(content).values) if b"file" in content else ():
            there = _absolute(_beside(str(path), file))
            self.look_for(there)
            found = _included(there, _beside(name, file))
            if isinstance(found, Problem):
                problems.append(found._replace(path=key))
            else:
                included[file] = found
        return text._replace(included=included, problems=_placed(problems, text))


def _extends(text: Text) -> list[str]:
    values: Mapping[str, Any] = document(text.content).values if text.content else {}
    extends = values.get("extends")
    return [target for target in extends if isinstance(target, str) and target] if isinstance(extends, list) else []


def _absolute(name: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(name)))  # noqa: PTH100, PTH111 - these never fail


def _beside(file: str, name: str) -> str:
    """Return what a file calls `name`: relative names count from the file that writes them (L9)."""
    return os.path.normpath(os.path.join(os.path.dirname(file), os.path.expanduser(name)))  # noqa: PTH111, PTH118, PTH120


def _called(file: str, name: str, there: Path) -> str:
    """Return what users call a file that `file` extends; what is beside a preset has no name but its place."""
    return str(there) if file.startswith(PRESET) else _beside(file, name)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _unknown_preset(name: str) -> Problem | None:
    preset = name.removeprefix(PRESET)
    if preset == name or preset in presets():
        return None
    hint = did_you_mean(preset, presets()) or f"there are: {', '.join(presets())}"
    return Problem("AGT301", f"there is no preset {quoted(preset)}", hint=hint)


def _instead(path: Path) -> str:
    """Return a hint for a configuration that is not there: a preset of that name, or a file with almost this name."""
    return f"the preset is `{PRESET}{path.name}`" if path.name in presets() else similar(path)


def similar(path: Path) -> str:
    """Return a hint for a file that is not there: the one beside it that has almost this name."""
    try:
        beside = {file.stem: file.name for file in path.parent.iterdir() if file.suffix == path.suffix}
        nearest = None if path.exists() else closest(path.stem, beside)
    except (OSError, ValueError):
        return ""
    return f"did you mean `{beside[nearest]}`?" if nearest else ""


def _content(path: Path) -> bytes | str:
    """Return the bytes of a file, or in a few words why they can't be had."""
    reason = unreadable(path)
    if reason:
        return reason
    try:
        return path.read_bytes()
    except OSError as error:
        return _reason(error)


def unreadable(path: Path) -> str:
    """Return in a few words why a file can't be read, nothing where it can."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        return _reason(error)
    if stat.S_ISDIR(status.st_mode):
        return "it is a directory"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_size > LARGEST:
        return f"it has more than {LARGEST // 1024 // 1024} MiB"
    return ""


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (error.strerror or type(error).__name__).lower() if isinstance(error, OSError) else "no such name"


def _included(path: Path, name: str) -> str | Problem:
    content = _content(path)
    if isinstance(content, str):
        return Problem("AGT306", f"{name} can't be read: {content}", hint=similar(path))
    try:
        return content.decode()
    except UnicodeDecodeError:
        return Problem("AGT306", f"{name} is not UTF-8 text", hint="save the file as UTF-8")


def _at(step: _Step, problem: Problem) -> Problem:
    return _placed([problem._replace(path=("extends", step.entry))], step.text)[0]


def _note(step: _Step) -> Related:
    place = _at(step, Problem("", ""))
    message = f"{step.text.name} extends {_extends(step.text)[step.entry]}"
    return Related(message, place.path, place.file, place.line, place.column)


def _placed(problems: list[Problem], text: Text) -> tuple[Problem, ...]:
    if not problems:
        return ()
    from agentoml.config.locate import place

    return tuple(place(problems, text))
