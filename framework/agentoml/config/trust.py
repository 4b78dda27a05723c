"""What a project's own files would run, reach, read and allow, and whether their user agreed to exactly that.

Light, as it stands on the way of `initialize`; what writes is imported where it is used.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agentoml.config.documents import document
from agentoml.config.layering.directories import own_folder
from agentoml.config.layering.files import content_of, real
from agentoml.config.problems import Path as KeyPath
from agentoml.config.problems import dotted
from agentoml.config.texts import Text

Kind = Literal["runs", "reaches", "reads", "allows"]

KINDS: Mapping[Kind, str] = {
    "runs": "It would run",
    "reaches": "It would reach",
    "reads": "It would read secrets from",
    "allows": "It would change what is allowed and chosen",
}


class Claim(NamedTuple):
    """One thing that a project's files say and their user must agree to. `shown` is its value without secrets.

    Of an entry that may come to be what is chosen where nobody chooses there is only the path.
    """

    kind: Kind
    path: KeyPath
    value: Any
    shown: str

    def line(self) -> str:
        """Return it as TOML writes it, on one line."""
        return f"{dotted(self.path)} = {self.shown}" if self.shown else dotted(self.path)


class Record(NamedTuple):
    """What the user said about a project: yes or no, to what digest, and what that was."""

    granted: bool
    digest: str
    claims: tuple[tuple[str, str], ...]
    """(kind, line) of each claim, so that a later change can be told from it."""


class Project(NamedTuple):
    """The files of a project, what they claim, and what the user said about that."""

    root: Path
    file: Path
    texts: tuple[Text, ...]
    claims: tuple[Claim, ...]
    broken: bool
    record: Record | None

    @property
    def digest(self) -> str:
        """The digest of exactly what the user must agree to, in its order: the first of several values is chosen where
        nobody chooses, and of two files the last counts. In which order its tables stand does not matter.
        """
        claimed = map(_said, sorted(self.claims, key=lambda claim: str(claim.path[0])))
        return "sha256:" + hashlib.sha256("\n".join(claimed).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def status(self) -> Literal["trusted", "refused", "changed", "new"]:
        """Whether the user said yes or no to this, or yes to something else, or nothing yet."""
        if self.record is None:
            return "new"
        if self.record.digest != self.digest:
            return "changed" if self.record.granted else "new"
        return "trusted" if self.record.granted else "refused"

    @property
    def counts(self) -> bool:
        """Whether the files are a layer. Broken ones of a trusted project are: nothing of them gets into force."""
        return self.status == "trusted" or (self.broken and self.record is not None and self.record.granted)

    def wanted(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        """Return what the user must agree to: (title, (sign, line) ...).

        Where they agreed to something else before, only what is new ("+") and what is gone ("-").
        """
        said = [("", str(claim.kind), claim.line()) for claim in self.claims]
        if self.status == "changed":
            said = self._changes()
        lines = dict.fromkeys(said)  # two files may say the same
        groups = (
            (title, tuple((sign, line) for sign, its, line in lines if its == kind)) for kind, title in KINDS.items()
        )
        return tuple((title, lines) for title, lines in groups if lines)

    @property
    def silence(self) -> str:
        """Why nothing is wanted, where that is so."""
        if self.wanted():
            return ""
        if self.status == "changed":
            return "What changed is the order in which it stands, or a value that is not shown, as it may be a secret."
        return "It only says names and words."

    def _changes(self) -> list[tuple[str, str, str]]:
        before = self.record.claims if self.record is not None else ()
        now = [(claim.kind, claim.line()) for claim in self.claims]
        gone = [("-", *claim) for claim in before if claim not in now]
        return gone + [("+", *claim) for claim in now if claim not in before]


def project(root: Path, file: Path, texts: Sequence[Text]) -> Project:
    """Return the project that these texts are of."""
    broken = any(text.problems or not _is_whole(text) for text in texts)
    return Project(root, file, tuple(texts), tuple(claims(texts)), broken, recorded(root))


def _said(claim: Claim) -> str:
    return json.dumps([claim.path, claim.value], default=str)


def _is_whole(text: Text) -> bool:
    read = document(text.content)
    return not (read.faults or read.problems)


# ------------------------------------------------------------------------------------------- what is claimed

_SAID = frozenset({"instructions", "instructions_append", "reminder"})
_NAMED = frozenset({"name", "description", "group"})
_HARMLESS: Mapping[str, frozenset[str]] = {
    "agent": _SAID | {"name", "title", "version", "description", "option_order", "prompt"},
    "modes": _NAMED,
    "options": _NAMED | {"category", "group_by"},
    "commands": _NAMED | {"hint", "prompt"},
    "models": _NAMED
    | {"provider", "id", "limit", "cost", "capabilities", "reasoning", "released", "status", "aliases"},
    "permissions": _NAMED,
    "mcp": _NAMED,
    "tools": frozenset({"description", "title"}),
}
"""Table -> the keys of its entries that run, reach, read and allow nothing. Everything else must be agreed to."""

_SECRET_PLACES = frozenset({"env", "file", "keyring"})
_REACHING = frozenset({"providers", "mcp", "catalogs"})
_HIDDEN = "(not shown)"


def claims(texts: Sequence[Text]) -> Iterator[Claim]:
    """Yield what texts say beyond names and words: whatever can't be shown to be harmless is a claim."""
    for text in texts:
        said = document(text.content).values
        found = {_said(claim): claim for path, value in _leaves(said) for claim in _claims(path, value)}
        yield from found.values()


def _claims(path: KeyPath, value: Any) -> Iterator[Claim]:
    entry = _entry(path)
    if entry:
        yield Claim("allows", entry, None, "")
    if not _is_harmless(path, value):
        yield Claim(_kind(path), path, value, _shown(path, value))


def _leaves(table: Mapping[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _entry(path: KeyPath) -> KeyPath:
    """Return the mode or value of an option that something belongs to: the first of them is what is chosen."""
    if path[0] == "modes":
        return path[:2]
    return path[:4] if path[0] == "options" and path[2:3] == ("values",) else ()


def _is_harmless(path: KeyPath, value: Any) -> bool:
    if path[0] in ("schema", "extends"):
        return True
    keys = _HARMLESS.get(str(path[0]), frozenset())
    inner = path[1:] if path[0] == "agent" else path[2:]
    if path[0] == "options" and inner[:1] == ("values",):
        inner, keys = inner[2:], _NAMED
    elif path[0] == "options" and inner[:1] in (("on",), ("off",), ("other",)):
        inner, keys = inner[1:], _NAMED
    if inner[:1] == ("set",) and path[0] != "agent":
        inner, keys = inner[1:], _SAID
    return inner[0] in keys if inner else value == {}  # an entry without keys says nothing


def _kind(path: KeyPath) -> Kind:
    if "command" in path[2:] and path[0] in ("tools", "mcp", "providers"):
        return "runs"
    if path[-1] in _SECRET_PLACES and _is_secret(path[:-1]):
        return "reads"
    return "reaches" if path[0] in _REACHING else "allows"


def _is_secret(path: KeyPath) -> bool:
    return path[-1] == "api_key" or (len(path) > 1 and path[-2] in ("headers", "env"))


def _shown(path: KeyPath, value: Any) -> str:
    if isinstance(value, str) and (_is_secret(path) or "@" in value.partition("://")[2]):
        return _HIDDEN
    return _visible(json.dumps(value, ensure_ascii=False, default=str))


def _visible(text: str) -> str:
    """Return a text in which nothing can hide or turn around what stands beside it on a screen."""
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


# ------------------------------------------------------------------------------------------ what the user said


def record_file(root: Path) -> Path:
    """Return where it is kept what the user said about a project."""
    digest = hashlib.sha256(str(real(root)).encode("utf-8", "surrogateescape")).hexdigest()
    return own_folder("state") / "trust" / f"{digest[:32]}.toml"


def recorded(root: Path) -> Record | None:
    """Return what the user said, None where that is nothing or can't be read."""
    content = content_of(record_file(root))
    if isinstance(content, str):
        return None
    try:
        kept = tomllib.loads(content.decode())
        if kept["root"] != str(real(root)):
            return None
        claimed = tuple((str(claim["kind"]), str(claim["line"])) for claim in kept["claims"])
        return Record(kept["granted"] is True, str(kept["digest"]), claimed)
    except (ValueError, KeyError, TypeError):
        return None


def record(asked: Project, *, granted: bool) -> None:
    """Keep what the user said about a project as it was shown.

    Raises:
        OSError: the state directory can't be written.
    """
    import tomli_w

    from agentoml.config.write import write_own

    kept = {
        "root": str(real(asked.root)),
        "granted": granted,
        "digest": asked.digest,
        "claims": [{"kind": claim.kind, "line": claim.line()} for claim in asked.claims],
    }
    write_own(record_file(asked.root), tomli_w.dumps(kept))


def forget(root: Path) -> bool:
    """Forget what the user said about a project; return whether there was anything.

    Raises:
        OSError: the state directory can't be written.
    """
    file = record_file(root)
    if not file.exists():
        return False
    file.unlink()
    return True
