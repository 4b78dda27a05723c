"""Random command lines, and what bash really does with them: the programs it runs, the files it reads and writes.

The lines are put together from tests/data/bash/: «list», «word», «path» and the like are filled in, ␤ is a newline.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

from attrs import frozen

DATA = Path(__file__).parents[0] / "data" / "bash"
MARKER = "marker-in-the-secret-file"
SECONDS = 5.0

STUBS = ("danger", "git", "rm", "cp", "npm", "make", "pytest", "tool")
"""Programs that only note how they were called, and echo their input."""

REAL = (
    *("bash", "sh", "cat", "head", "tail", "grep", "ls", "wc", "sort", "tr", "env", "xargs", "find", "timeout", "nice"),
    *("nohup", "setsid", "stdbuf", "sleep", "true", "false", "mkdir", "basename", "dirname", "tee", "flock", "cut"),
)
"""Programs that are there as they are: they read, or run others."""

_STUB = """#!/bin/sh
{ printf 'CALL'; printf '\\037%s' "$@"; printf '\\036'; } >> "$(dirname "$0")/../calls.$(basename "$0")"
while IFS= read -r line; do printf '%s\\n' "$line"; done < /dev/stdin
"""


@frozen
class Done:
    """What a line did. `calls`: argv of the stubs. `said`: all output. `written`: files that are new or other."""

    calls: tuple[tuple[str, ...], ...]
    said: str
    written: frozenset[str]


class Ground:
    """A folder in which lines are run: files, a home and a PATH of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.cwd = folder / "home" / "one" / "two" / "three" / "work"
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.cwd.mkdir(parents=True)
        for name in STUBS:
            (self.bin / name).write_text(_STUB, encoding="utf-8")
            (self.bin / name).chmod(0o755)
        for name in REAL:
            found = next((place for place in (f"/usr/bin/{name}", f"/bin/{name}") if os.access(place, os.X_OK)), None)
            if found is not None:
                (self.bin / name).symlink_to(found)
        self._files = {
            self.cwd / "secret.txt": MARKER,
            self.cwd / "sub" / "secret.key": MARKER,
            self.cwd / ".secret": MARKER,
            self.home / ".secret": MARKER,
            self.cwd / "notes.txt": "notes",
            self.cwd / "sub" / "more.txt": "more",
            self.cwd / "danger": "",
        }
        self._lay_out()

    def run(self, line: str) -> Done:
        """Run a line with bash, as the tool `shell` does."""
        environment = {"PATH": str(self.bin), "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen(
            ("/bin/bash", "-c", line),
            cwd=self.cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, _ = process.communicate()
        done = Done(tuple(self._calls()), output.decode("utf-8", "replace"), frozenset(self._written()))
        if done.written:
            self._lay_out()
        return done

    def _calls(self) -> Iterator[tuple[str, ...]]:
        for log in self.folder.glob("calls.*"):
            for entry in log.read_bytes().decode("utf-8", "replace").split("\x1e")[:-1]:
                yield (log.name.removeprefix("calls."), *entry.split("\x1f")[1:])
            log.unlink()

    def _written(self) -> Iterator[str]:
        there = {place for place in self.home.rglob("*") if place.is_file() and not place.is_symlink()}
        for place in there | self._files.keys():
            if place not in there or self._files.get(place) != place.read_text(encoding="utf-8", errors="replace"):
                yield str(place)

    def _lay_out(self) -> None:
        for place in sorted(self.home.rglob("*"), reverse=True):
            if place.is_symlink() or not place.is_dir():
                place.unlink()
            elif not any(place.iterdir()) and place != self.cwd:
                place.rmdir()
        for place, text in self._files.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        (self.cwd / "danger").chmod(0o755)
        (self.cwd / "link").symlink_to("secret.txt")


def _templates(name: str) -> tuple[str, ...]:
    lines = (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.replace("␤", "\n") for line in lines)


PROGRAMS, COMPOUNDS, WORDS, PATHS = map(_templates, ("programs", "compounds", "words", "paths"))
SEPARATORS = (" ; ", ";", " && ", " || ", " | ", " |& ", "\n", " & ", "&")
BLANKS = (" ", " ", " ", "  ", "\t", " \\\n")
HIDDEN = ("danger", "git push", "tool", "cat secret.txt")
PLAIN = ("danger", "git", "echo", "cat", "tool", "ls", "true", "git push", "cd sub")
OPTIONS = ("-n", "-x", "--", "-i", "-u", "-0", "-a", "")
ASSIGNMENTS = (
    "x=1",
    "X=$(danger)",
    "PATH=/nowhere",
    "GIT_PAGER=danger",
    "a[1]=2",
    "x+=1",
    "LD_X=1",
    "x=(a)",
    "x=«word»",
)
OPERATORS = ("<", ">", ">>", "2>", "<>", ">|", "&>", ">&", "<&", "&>>", "<<<", "0<", "1>&2 <", "3<", "{x}<")
DOCUMENTS = (
    "<<EOF\n$(danger)\nEOF\n",
    "<<'EOF'\n$(danger)\nEOF\n",
    "<<-EOF\n\tdanger\n\tEOF\n",
    '<<E"O"F\n`danger`\nEOF\n',
    "<< \\EOF\ndanger\nEOF\ndanger\n",
)
BREAKS = (
    *(
        "'",
        '"',
        "\\",
        "$",
        "`",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "*",
        "~",
        "#",
        "&",
        "|",
        ";",
        "\n",
        "<",
        ">",
        "=",
        "!",
        " ",
    ),
    *(
        "danger",
        " danger ",
        ";danger;",
        "\\\n",
        "$(",
        "#\n",
        "\t",
        "<<EOF\n",
        "EOF\n",
        "((",
        "))",
        "$((",
        "-c ",
        "${",
        ",",
    ),
)
_PLACE = re.compile("«(\\w+)»")


class Lines:
    """Random command lines that would hide a program or a file in them, some of them broken."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._depth = 0

    def line(self) -> str:
        """Return one."""
        text = self._list()
        while self._chance(0.25):
            at, length = self._random.randrange(len(text) + 1), self._random.choice((0, 0, 1, 2))
            text = text[:at] + self._random.choice(BREAKS) + text[at + length :]
        return text

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _filled(self, *templates: str) -> str:
        """Return one of the templates with its places filled in; deep down a plain word."""
        if self._depth > 4:
            return "danger"
        self._depth += 1
        text = _PLACE.sub(lambda found: getattr(self, f"_{found[1]}")(), self._random.choice(templates))
        self._depth -= 1
        return text

    def _list(self) -> str:
        text = self._command()
        while self._chance(0.35):
            text += self._random.choice(SEPARATORS) + self._command()
        return text

    def _command(self) -> str:
        return self._filled(*COMPOUNDS) if self._chance(0.25) else self._simple()

    def _simple(self) -> str:
        words = [self._filled(*ASSIGNMENTS) for _ in range(self._random.choice((0, 0, 0, 1, 2)))]
        words += [self._filled(*PROGRAMS) if self._chance(0.4) else self._disguised(self._random.choice(PLAIN))]
        words += [self._word() for _ in range(self._random.choice((0, 1, 1, 2, 3)))]
        if self._chance(0.25):
            words.insert(self._random.randrange(len(words) + 1), self._redirection())
        return self._random.choice(BLANKS).join(words)

    def _inner(self) -> str:
        return self._disguised(self._random.choice(HIDDEN))

    def _line(self) -> str:
        text = self._list() if self._depth < 3 else "danger now"
        double = text.replace("\\", "\\\\").replace('"', '\\"')
        return self._random.choice((
            "'" + text.replace("'", "'\\''") + "'",
            '"' + double.replace("$", "\\$").replace("`", "\\`") + '"',
            '"' + text.replace('"', '\\"') + '"',
            "$'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'",
            text,
        ))  # fmt: skip

    def _option(self) -> str:
        return self._random.choice(OPTIONS)

    def _word(self) -> str:
        return self._path() if self._chance(0.4) else self._filled(*WORDS)

    def _path(self) -> str:
        return self._random.choice(PATHS)

    def _redirection(self) -> str:
        if self._chance(0.1):
            return self._random.choice(DOCUMENTS)
        return f"{self._random.choice(OPERATORS)}{self._random.choice(('', ' '))}{self._path()}"

    def _disguised(self, words: str) -> str:
        return " ".join(self._disguise(word) if self._chance(0.6) else word for word in words.split())

    def _disguise(self, word: str) -> str:
        at = self._random.randrange(1, len(word))
        first, rest = word[:at], word[at:]
        quoted = (f"{first}''{rest}", f'{first}""{rest}', f"{first}\\{rest}", f"'{word}'", f'"{word}"', f"\\{word}")
        ansi = (f"$'{word}'", f"$'\\x{ord(word[0]):02x}{word[1:]}'", f'$"{word}"', f"{first}\\\n{rest}")
        substituted = (f"$(echo {word})", f"`echo {word}`", f"{first}$()'{rest}'", f"${{x:-{word}}}")
        variables = (f"{first}${{x}}{rest}", f"{first}$x'{rest}'", f"{first}$@{rest}", f"{first}$*'{rest}'")
        expanded = (
            f"{first}{{{rest},a}}",
            f"{{{word},now}}",
            f"{first}?{rest[1:]}",
            f"{first}*",
            f"{first}[{rest[0]}]{rest[1:]}",
        )
        paths = (f"../../../../../bin/{word}", f"~/../bin/{word}", f"$HOME/../bin/{word}")
        return self._random.choice((*quoted, *ansi, *substituted, *variables, *expanded, *paths))
