"""A text that tomllib refuses: each broken statement explained in our words, and what can be read of the rest.

TOML is a language of lines: a broken statement is blanked, the rest is read again. Offsets stay as they are.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

from agentoml.config.diagnostics.positions import Positions, positions
from agentoml.config.problems import dotted, quoted

MOST_FAULTS = 20
LONGEST_TO_RECOVER = 256_000
"""Characters; in a longer text only the first fault is told, since each costs one more reading of all of it."""

SECRET_KEY = re.compile(r"(?i)(api_?-?key|(^|[_-])token$|secret|passw|authorization|credential|private_?-?key)")
_TABLE_OF_SECRETS = re.compile(r"(^|[.\s])(headers|env)[\"'\s]*$")


class Fault(NamedTuple):
    """One broken statement: what is wrong between two offsets, an offset that has to do with it, and where reading
    goes on; 0 is after the line.
    """

    code: str
    message: str
    hint: str
    start: int
    end: int
    related: tuple[str, int] | None = None
    resume: int = 0


class Recovered(NamedTuple):
    """What could be read: the values, the text with its broken statements blanked, and what was wrong."""

    values: dict[str, Any]
    readable: str
    faults: tuple[Fault, ...]


def recover(source: str) -> Recovered:
    """Read a broken text as far as it goes; never raises. Without faults the text is not broken."""
    readable, faults = source, list[Fault]()
    while True:
        try:
            return Recovered(tomllib.loads(readable), readable, tuple(faults))
        except RecursionError:
            return Recovered({}, "", (*faults, Fault("AGT015", "values are nested too deeply", "", 0, 0)))
        except ValueError as error:
            scanned = positions(readable)
            offset = _offset(str(error), readable)
            begin = max((s.start for s in scanned.statements if s.start <= offset), default=0)
            if not scanned.whole and scanned.statements:
                begin = min(begin, scanned.statements[-1].start)
            fault = _explain(_Broken(readable, offset, begin, scanned), str(error))
            faults.append(fault)
            end = _end_of_broken(readable, begin, offset, fault)
            readable = _blanked(readable, begin, end)
            if len(faults) == MOST_FAULTS or len(source) > LONGEST_TO_RECOVER:
                return Recovered({}, " " * len(source), tuple(faults))


class _Broken(NamedTuple):
    """A text, where tomllib stopped, where the statement began that it stopped in, and what the scanner saw."""

    text: str
    offset: int
    begin: int
    scanned: Positions

    @property
    def rest(self) -> str:
        """What stands on this line from where tomllib stopped, without a comment."""
        line = self.text[self.offset : self.line_end]
        return re.sub(r"\s+#.*", "", line).rstrip()

    @property
    def line_end(self) -> int:
        return _line_end(self.text, self.offset)

    @property
    def value(self) -> int:
        """Where the value of the statement begins."""
        match = re.compile(r"[^\n]*?=[ \t]*").match(self.text, self.begin)
        return match.end() if match and match.end() <= max(self.offset, self.begin) else self.begin

    @property
    def is_header(self) -> bool:
        return self.text.startswith("[", self.begin)


def may_hold_secret(text: str, offset: int) -> bool:
    """Tell whether the statement on the line of an offset may give a secret; the text need not be TOML."""
    line = text[text.rfind("\n", 0, offset) + 1 : _line_end(text, offset)]
    key = line.split("=")[0].split(":")[0].strip(" \t\"'")
    headers = re.findall(r"^[ \t]*\[+([^\]\n]*)", text[:offset], re.MULTILINE)
    table = headers[-1].strip() if headers else ""
    return any(SECRET_KEY.search(name) or _TABLE_OF_SECRETS.search(name) for name in (key, table)) or bool(
        SECRET_KEY.search(line.partition("=")[2].replace("=", " "))
    )


def _offset(message: str, text: str) -> int:
    """Return where tomllib stopped; it says so at the end of its message."""
    match = re.search(r"\(at line (\d+), column (\d+)\)", message)
    if match is None:
        return len(text.rstrip("\n")) if "end of document" in message else 0
    start = 0
    for _ in range(int(match[1]) - 1):
        start = text.index("\n", start) + 1
    return min(start + int(match[2]) - 1, len(text))


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end == -1 else end


def _end_of_broken(text: str, begin: int, offset: int, fault: Fault) -> int:
    """Return where the statements that can't be used end: mostly with the line, so that nothing else is blamed."""
    if text.startswith("[", begin):
        header = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, _line_end(text, max(begin, offset)))
        return header.start() if header else len(text)
    return fault.resume or _line_end(text, max(begin, offset - 1))


def _begins_statement(text: str, offset: int) -> bool:
    start = text.rfind("\n", 0, offset) + 1
    return re.compile(r"[ \t]*(\[|[\w\"'.-]+[ \t]*=)").match(text, start) is not None


def _closing_brace(text: str, opening: int) -> int:
    """Return where the brace is closed, or -1."""
    depth = 0
    for match in re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[{}]').finditer(text, max(opening, 0)):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0 and match.group() == "}":
            return match.start()
    return -1


def _blanked(text: str, begin: int, end: int) -> str:
    end = max(end, min(begin + 1, len(text)))
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


# ------------------------------------------------------------------------------- what tomllib says, in our words


def _explain(broken: _Broken, message: str) -> Fault:
    carriage_return = re.compile(r"\r(?!\n)").search(broken.text, broken.begin, broken.line_end)
    if carriage_return:
        return _bad_character(broken._replace(offset=carriage_return.start()))
    if _glued(broken):
        return _invalid_value(broken._replace(offset=_word_start(broken)))
    for beginning, explain in _EXPLANATIONS:
        if message.startswith(beginning):
            return explain(broken)
    said = message.split(" (at ")[0]
    return Fault("AGT010", f"this is not TOML: {said[:1].lower()}{said[1:]}", "", broken.offset, broken.line_end)


def _glued(broken: _Broken) -> bool:
    """Tell whether tomllib stopped inside a word that begins like a number: 10s, 1.4.0."""
    around = broken.text[max(broken.offset - 1, 0) : broken.offset + 1]
    return bool(re.fullmatch(r"[0-9][\w.:-]", around)) and broken.value <= _word_start(broken)


def _word_start(broken: _Broken) -> int:
    before = re.compile(r"[\w.:+-]*\Z").search(broken.text[broken.begin : broken.offset])
    return broken.begin + before.start() if before else broken.offset


def _invalid_value(broken: _Broken) -> Fault:
    start, word = broken.offset, broken.rest
    word = re.split(r"[,\]}]", word)[0].rstrip() if broken.text[broken.value : broken.value + 1] in "[{" else word
    end = start + max(1, len(word))
    if not word:
        return Fault("AGT013", "a value is missing", "write a value after `=`, or leave the key out", start, end)
    if word.lower() in {"true", "false", "yes", "no", "on", "off"}:
        return Fault("AGT013", "this is not a TOML value", "write true or false", start, end)
    if word.lower() in {"none", "null", "nil", "undefined"}:
        return Fault("AGT013", "TOML has no null", "leave the key out", start, end)
    if word[0] in "\u201c\u201d\u2018\u2019\u00ab\u00bb":
        return Fault("AGT014", "these are typographic quotes", 'use straight ones: "..."', start, end)
    hint = "" if may_hold_secret(broken.text, start) else f"put it in quotes: {quoted(word)}"
    return Fault("AGT013", "a text stands in quotes, and this is nothing else that TOML knows", hint, start, end)


def _more_after_value(broken: _Broken) -> Fault:
    start, rest = broken.offset, broken.rest
    before = broken.text[start - 1 : start]
    if broken.is_header:
        return Fault("AGT010", "nothing may follow the table's name on its line", "", start, start + len(rest))
    if rest.startswith(","):
        return Fault("AGT010", "a comma after the value", "remove the comma", start, start + 1)
    hint = 'inside "..." a quote is written \\"' if before in "\"'" else "write each key on a line of its own"
    return Fault("AGT010", "something stands after the value", hint, start, start + max(1, len(rest)))


def _no_equals_sign(broken: _Broken) -> Fault:
    start, rest = broken.offset, broken.rest
    if rest.startswith(":") and "=" not in rest:
        return Fault("AGT010", "`=` is missing after the key", "write key = value, not key: value", start, start + 1)
    if "=" in rest:
        key = broken.text[broken.begin : broken.line_end].split("=")[0].strip()
        hint = f"put the key in quotes: {quoted(key)}"
        return Fault("AGT014", "a character that only a key in quotes may have", hint, start, start + 1)
    start = broken.begin if not rest else start
    return Fault("AGT010", "`=` is missing after the key", "", start, max(start + 1, start + len(rest)))


def _bad_header(broken: _Broken) -> Fault:
    name = re.compile(r"\[+([^\]\n]*)").match(broken.text, broken.begin)
    inside = name[1].strip() if name else ""
    if broken.rest and "]" in broken.text[broken.begin : broken.line_end] and inside:
        first, _, last = inside.partition(".")
        example = f"{first}.{quoted(last)}" if last else quoted(first)
        hint = f"put the name in quotes: [{example}]"
        return Fault(
            "AGT014", "a character that only a name in quotes may have", hint, broken.offset, broken.offset + 1
        )
    if "]" in broken.text[broken.begin : broken.line_end]:
        return Fault("AGT010", "a table needs a name", "", broken.begin, broken.line_end)
    return Fault("AGT012", "`]` is missing at the end of the table's name", "", broken.begin, broken.line_end)


def _bad_key(broken: _Broken) -> Fault:
    if broken.is_header:
        return _bad_header(broken)
    char = broken.text[broken.offset : broken.offset + 1]
    if char in {"\n", "\r", "}", "#", ""}:
        return _open_inline_table(broken)
    return Fault("AGT010", "a key is missing here", "", broken.offset, broken.offset + 1)


def _open_inline_table(broken: _Broken) -> Fault:
    text = broken.text
    headers = re.findall(r"^[ \t]*\[([^\[\]\n]*)\]", text[: broken.begin], re.MULTILINE)
    key = text[broken.begin : broken.value].rstrip("= \t")
    table = ".".join([*headers[-1:], key])
    start = min(broken.offset, broken.line_end - 1)
    message = "an inline table stands on one line, without a comma at its end"
    hint = f"write it on one line, or as a table of its own: [{table}]"
    closing = _closing_brace(text, text.find("{", broken.value))
    resume = _line_end(text, closing) if closing > 0 else 0
    return Fault("AGT012", message, hint, start, start + 1, resume=resume)


def _defined_twice(broken: _Broken) -> Fault:
    if broken.is_header and "]" not in broken.text[broken.begin : broken.line_end]:
        return _bad_header(broken)  # tomllib looks at the name before the bracket behind it
    repeated = [
        (path, where.key) for path, where in broken.scanned.repeated if where.key and broken.begin <= where.key.start
    ]
    if not repeated:
        hint = "an inline table or list is complete where it stands; write all of it in one place"
        edit = re.compile(r"([\w.\"'-]+)\.(add|remove)\s*=").match(broken.text, broken.begin)
        if edit:
            hint = f"`{edit[1]} = [...]` replaces, `.add` and `.remove` edit: keep one of them"
        return Fault("AGT011", "this adds to something that is complete already", hint, broken.begin, broken.line_end)
    path, key = min(repeated, key=lambda found: found[1].start)
    first = broken.scanned.places[path].key
    related = ("first defined here", first.start) if first else None
    hint = "put the keys of both tables into one" if broken.is_header else "keep one of the two"
    return Fault("AGT011", f"`{dotted(path)}` is defined twice in this file", hint, key.start, key.end, related)


def _not_closed(broken: _Broken) -> Fault:
    text = broken.text
    start = text.find("[", broken.value)
    start = broken.value if start == -1 else start
    hint = "close it with `]`; between two values stands a comma"
    resume = 0
    if "\n" in text[broken.begin : broken.offset]:
        resume = broken.line_end
        if _begins_statement(text, broken.offset):
            resume = text.rfind("\n", broken.begin, broken.offset)
    return Fault("AGT012", "this list is not closed", hint, start, start + 1, resume=resume)


def _inline_table_not_closed(broken: _Broken) -> Fault:
    if not broken.rest:
        return _open_inline_table(broken)
    hint = "between two keys stands a comma, at the end `}`"
    return Fault("AGT012", "this inline table is not closed", hint, broken.offset, broken.offset + 1)


def _string_not_closed(broken: _Broken) -> Fault:
    text, stop = broken.text, min(broken.offset, len(broken.text))
    line_start = text.rfind("\n", 0, stop) + 1
    triple = max(text.rfind('"""', broken.begin, stop), text.rfind("'''", broken.begin, stop))
    if triple != -1 and triple < line_start:
        start = max(broken.value, broken.begin)
        hint = f"close it with {text[start : start + 3]}"
        return Fault("AGT012", "this text is not closed", hint, start, start + 3, resume=len(text))
    quote = re.compile(r"[^\"'\n]*").match(text, max(line_start, broken.value))
    start = quote.end() if quote and quote.end() < stop else max(line_start, broken.begin)
    return Fault("AGT012", "this string is not closed", "close it on the same line", start, _line_end(text, start))


def _bad_character(broken: _Broken) -> Fault:
    char = broken.text[broken.offset : broken.offset + 1]
    start, end = broken.offset, broken.offset + 1
    if char in {"\n", ""}:
        return _string_not_closed(broken)
    if char == "\r":
        if broken.text.startswith("\r\n", start):
            return _string_not_closed(broken)
        return Fault("AGT014", "a carriage return without a line feed", "save with LF or CRLF line ends", start, end)
    if char == "\0":
        return Fault("AGT014", "a NUL byte: this is not a text file", "save the file as UTF-8 text", start, end)
    return Fault("AGT014", f"the control character U+{ord(char):04X} is not allowed", "remove it", start, end)


def _bad_escape(broken: _Broken) -> Fault:
    start = broken.text.rfind("\\", broken.begin, broken.offset + 1)
    hint = "write \\\\ for a backslash, or use single quotes: '...'"
    start = start if start != -1 else broken.offset
    return Fault("AGT010", "no such escape in a string", hint, start, start + 2)


def _bad_date(broken: _Broken) -> Fault:
    end = broken.offset + max(1, len(broken.rest))
    return Fault("AGT013", "there is no such date or time", "a text stands in quotes", broken.offset, end)


def _invalid_statement(broken: _Broken) -> Fault:
    end = broken.offset + max(1, len(broken.rest))
    hint = "a line is `key = value`, `[table]` or a comment after #"
    return Fault("AGT010", "this is neither a key nor a table", hint, broken.offset, end)


_EXPLANATIONS = (
    ("Invalid value", _invalid_value),
    ("Expected newline or end of document", _more_after_value),
    ("Expected '='", _no_equals_sign),
    ("Expected ']", _bad_header),
    ("Invalid initial character for a key", _bad_key),
    ("Cannot ", _defined_twice),
    ("Duplicate inline table key", _defined_twice),
    ("Unclosed array", _not_closed),
    ("Unclosed inline table", _inline_table_not_closed),
    ("Unterminated string", _string_not_closed),
    ("Expected \"'", _string_not_closed),
    ("Illegal character", _bad_character),
    ("Found invalid character", _bad_character),
    ("Unescaped", _bad_escape),
    ("Invalid hex value", _bad_escape),
    ("Escaped character", _bad_escape),
    ("Invalid date", _bad_date),
    ("Invalid statement", _invalid_statement),
)
"""How a message of tomllib begins -> what we say. Messages of later Pythons that are not here are passed on."""
