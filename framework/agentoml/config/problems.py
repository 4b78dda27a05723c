"""What is wrong with a configuration: stable codes, the place in the user's own text, the remedy; and how it is shown.

A stage finds a problem by its key path; `locate` adds file, line and column from the texts it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]
Path = tuple[str | int, ...]
"""Where something stands in a TOML document: keys, and indexes of list items."""

CODES: dict[str, str] = {
    "AGT001": "A file that is named can't be read.",
    "AGT002": "A file is not UTF-8 text.",
    "AGT003": "A file is empty or too large to be a configuration.",
    "AGT010": "A line is not TOML.",
    "AGT011": "A key or table is defined twice in one file.",
    "AGT012": "A string, list or inline table is not closed.",
    "AGT013": "A value is not a TOML value: mostly a text without quotes.",
    "AGT014": "A character that TOML does not allow here.",
    "AGT015": "Values are nested too deeply.",
    "AGT101": "A key that does not exist here.",
    "AGT102": 'A value of the wrong type. Nothing is converted: "3" is not 3, and a string is not a list.',
    "AGT103": "A word that is not one of those allowed here.",
    "AGT104": "A key that must be given is missing.",
    "AGT105": "Of several keys exactly one must be given.",
    "AGT106": "A duration without a number and a unit: ms, s, m, h or d.",
    "AGT107": "A name that is empty, or begins or ends with a space, or can't be printed.",
    "AGT108": "A key or word that is reserved, or not supported yet.",
    "AGT109": "A number that is out of range.",
    "AGT110": "A text that does not have the form asked for here.",
    "AGT111": "A key that has no effect beside the other keys of its table.",
    "AGT112": "A schema version that this program does not know.",
    "AGT113": "A secret must not stand in a file: name the place where it is to be had.",
    "AGT201": "A name that names nothing in this configuration.",
    "AGT202": "Options depend on each other in a circle.",
    "AGT203": "Two options set the same key of the profile.",
    "AGT204": "An example of a permission set does not come out as it says.",
    "AGT205": "A default that names nothing to choose from.",
    "AGT206": "An option that takes any value must say what an unlisted one does.",
    "AGT207": "A provider that can't say which models it has.",
    "AGT208": "A test of the configuration that does not hold.",
    "AGT209": "Request parameters that would lead requests elsewhere than their provider is declared.",
    "AGT251": "A value of the base that none of its option's values sets.",
    "AGT252": "A value sets what no value of the option that owns it sets: meanwhile that option is not there.",
    "AGT253": "A permission rule that never takes effect.",
    "AGT254": "A value beside the modes that is looser than what is in force without it.",
    "AGT255": "A permission rule that seems to close a hole and does not.",
    "AGT256": "A provider whose list of models is read has not been asked for it yet.",
    "AGT257": "A place of a tool that no parameter fills.",
    "AGT258": "A parameter of a tool that never reaches its command.",
    "AGT301": "A file or preset that is extended can't be found.",
    "AGT302": "Files extend each other in a circle.",
    "AGT303": "Files extend each other more than ten deep.",
    "AGT304": "An entry is removed that is not inherited.",
    "AGT305": "`remove = true` stands alone in its table.",
    "AGT306": "A text file that is named can't be read.",
    "AGT307": "A catalog that is named can't be read.",
    "AGT308": "A setting of the command line that is not KEY=VALUE.",
    "AGT309": "A file names one outside of what it may take files from: its project, its package.",
    "AGT310": "A policy that stands where it does not count.",
    "AGT311": "What is extended from elsewhere is not here, or is not what agentoml.lock says.",
    "AGT351": "Two files that are extended side by side say different things, and nothing above decides.",
    "AGT352": "A policy leaves out something that is configured.",
    "AGT353": "A secret that does not go along to another destination.",
    "AGT901": "A fault of this program: please report it.",
}
"""code -> what it means, in one sentence. 0xx reading and TOML, 1xx shape, 2xx names, 3xx layers, 9xx ours."""


class Related(NamedTuple):
    """Another place that has to do with a problem; like the problem itself it is located by its path."""

    message: str
    path: Path = ()
    file: str = ""
    line: int = 0
    column: int = 0


class Problem(NamedTuple):
    """One thing that is wrong. Lines and columns count from 1; `line` is 0 until the place is known.

    `message` is one sentence without the place and without a full stop, `hint` says what to do. `at` tells
    whether the key or its value is to blame. Neither ever holds a secret.
    """

    code: str
    message: str
    path: Path = ()
    hint: str = ""
    at: Literal["key", "value"] = "value"
    severity: Severity = "error"
    file: str = ""
    line: int = 0
    column: int = 0
    end_column: int = 0
    source_line: str = ""
    related: tuple[Related, ...] = ()

    @property
    def key(self) -> str:
        """The path as TOML writes it: `models."acme/big".limit.context`, `steps[0]`."""
        return dotted(self.path)

    @property
    def place(self) -> str:
        """`file:line:column`, or as much of it as is known."""
        if not self.line:
            return self.file or "configuration"
        return f"{self.file}:{self.line}:{self.column}"

    def one_line(self) -> str:
        """Return it on one line: `file:line:column: error[AGT102]: message (hint)`."""
        hint = f" ({self.hint})" if self.hint else ""
        key = f" [{self.key}]" if self.path and not self.line else ""
        return _printable(f"{self.place}: {self.severity}[{self.code}]: {self.message}{hint}{key}")


_BARE = re.compile(r"[A-Za-z0-9_-]+\Z", re.ASCII)


def dotted(path: Path) -> str:
    """Return a key path as TOML writes it, whole."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _BARE.match(part) else _string(part))
    return text


def shown(name: str) -> str:
    """Return a key in backticks, for a message: cut where it is long."""
    return f"`{name if _BARE.match(name) else quoted(name)}`"


def quoted(text: str) -> str:
    """Return a text in double quotes, as TOML writes it, cut where it is long."""
    return _string(text if len(text) <= 60 else text[:57] + "...")


def _string(text: str) -> str:
    escaped = "".join(_ESCAPES.get(char, char) if char.isprintable() else _escape(char) for char in text)
    return f'"{escaped}"'


_ESCAPES = {"\\": "\\\\", '"': '\\"'}


def _escape(char: str) -> str:
    code = ord(char)
    return {10: "\\n", 9: "\\t", 13: "\\r"}.get(code) or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


LONGEST_LINE = 200
"""How much of a source line is shown, in characters."""


def render_text(problems: Iterable[Problem]) -> str:
    """Return problems for a terminal: each with its source line and a caret under what is wrong."""
    return "\n\n".join("\n".join(map(_printable, _lines(problem))) for problem in problems)


def _printable(line: str) -> str:
    """Return a line that does nothing to a terminal but show itself."""
    return "".join(char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in line)


def _lines(problem: Problem) -> list[str]:
    margin = " " * len(str(problem.line or ""))
    key = f" ({problem.key})" if problem.path else ""
    lines = [f"{problem.severity}[{problem.code}]: {problem.message}", f"{margin}--> {problem.place}{key}"]
    if problem.source_line:
        before, marked, after = _around(problem)
        lines += [
            f"{margin} |",
            f"{problem.line} | {before}{marked}{after}".rstrip(),
            f"{margin} | {_blanks(before)}{'^' * max(1, _width(marked))}",
        ]
    if problem.hint:
        lines.append(f"{margin} = help: {problem.hint}")
    notes = [f"{place.message}: {place.file}:{place.line}:{place.column}" for place in problem.related]
    return lines + [f"{margin} = note: {note}" for note in notes]


def _around(problem: Problem) -> tuple[str, str, str]:
    """Return the source line as what stands before, under and behind the caret; of a long one what is near."""
    line, start, end = problem.source_line, problem.column - 1, problem.end_column - 1
    before, marked, after = line[:start], line[start:end], line[max(start, end) :]
    if len(line) <= LONGEST_LINE:
        return before, marked, after
    near = LONGEST_LINE // 4
    before = before if len(before) <= near else f"…{before[-near:]}"
    left = LONGEST_LINE - len(before)
    if len(marked) > left:
        return before, marked[:left], "…"
    left -= len(marked)
    return before, marked, after if len(after) <= left else f"{after[:left]}…"


def _blanks(text: str) -> str:
    """Return white space that is as wide as the text on a terminal; tabs stay."""
    return "".join("\t" if char == "\t" else " " * _width(char) for char in text)


def _width(text: str) -> int:
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def to_json(problem: Problem) -> dict[str, str | int]:
    """Return one entry of `--format json`. Unknown lines and columns are 0."""
    return {
        "code": problem.code,
        "severity": problem.severity,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "key": problem.key,
        "message": problem.message,
        "hint": problem.hint,
    }


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return "did you mean `x`?" for the candidate that is nearest, or an empty string."""
    nearest = closest(name, candidates)
    return f"did you mean `{nearest}`?" if nearest else ""


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is nearest to a name, or None where none is near.

    Near is: one typing error in four letters, three at most, or one begins with the other. Only what could be nearer
    than the nearest so far is compared in full, which keeps 10,000 candidates within a few hundredths of a second.
    """
    wanted = _plain(name)
    letters = set(wanted)
    most = max(1, min(3, len(wanted) // 4))
    best = (most + 2, 0, 0)
    found = None
    for candidate in candidates:
        plain = _plain(candidate)
        if plain == wanted:
            return candidate
        longer = abs(len(plain) - len(wanted))
        start = _common_start(plain, wanted)
        begins = start == min(len(plain), len(wanted)) > 2
        rank = (most + 1, longer, 0) if begins else best
        limit = min(best[0], most)
        if longer <= limit < len(wanted) and len(letters ^ set(plain)) <= 2 * limit:
            rank = min(rank, (_distance(wanted[start:], plain[start:], limit), 0 if begins else longer, -start))
        if rank < best:
            best, found = rank, candidate
    return found


def _plain(name: str) -> str:
    return name.casefold().translate(_LINKS)


_LINKS = {ord(char): None for char in "-_ "}


def _common_start(one: str, other: str) -> int:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _distance(one: str, other: str, limit: int) -> int:
    """Return how many letters must be put in, left out, exchanged, or swapped with their neighbour; a large number
    where there are more than `limit`.
    """
    end = _common_start(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    if abs(len(one) - len(other)) > limit or min(len(one), len(other)) > 4 * (limit + 1):
        return 1000
    older: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b)))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                row[j] = min(row[j], older[j - 2] + 1)
        if min(row) > limit:
            return 1000
        older = above
    return row[-1]
