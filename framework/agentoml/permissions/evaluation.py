"""What bash evaluates a second time: subscripts of names, numbers, variables that say what is run (E44, E45).

`read 'x[$(rm a)]'` runs `rm`, and so does `x='a[$(rm a)]'; echo $((x))`. Where a line evaluates something, and brings
values that are more than plain words, not all of it can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentoml.permissions.words import Word

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", re.ASCII)
_PLAIN_VALUE = re.compile(r"[\w./:@%+,~-]*\Z")
_NUMBER = re.compile(r"\$\(\([^$`]*?\)\)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMING = _words("unset read mapfile readarray declare typeset local export readonly printf wait getopts")
_DECLARING = _words("declare typeset local export readonly")
_EVALUATING_OPTION = re.compile(r"-[A-Za-z]*[in]")
_TESTS = _words("test [ [[")
_NAME_TESTS = _words("-v -R")
_NUMBER_TESTS = _words("-eq -ne -lt -le -gt -ge")
_READING = _words("read mapfile readarray getopts source . set")

RUNNING_VARIABLES = _words(
    """
    PS0 PS1 PS2 PS4 BASH_ENV ENV PROMPT_COMMAND PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR
    GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS LESSOPEN LESSCLOSE
    BROWSER LD_PRELOAD LD_AUDIT
    """
)
"""Variables whose value is a command line, or is evaluated like one."""


def evaluates(program: str, arguments: Sequence[Word]) -> bool:
    """Return whether a program of the shell evaluates subscripts or numbers in its arguments."""
    if program == "let":
        return True
    texts = {word.text for word in arguments}
    if program in _TESTS:
        names = not texts.isdisjoint(_NAME_TESTS) and any(map(_has_subscript, arguments))
        return names or (program == "[[" and not texts.isdisjoint(_NUMBER_TESTS))
    if program in _DECLARING and any(_EVALUATING_OPTION.match(text) for text in texts):
        return True
    return program in _NAMING and any(map(_has_subscript, arguments))


def _has_subscript(word: Word) -> bool:
    if word.literal:
        return "[" in word.text
    assigned = _ASSIGNMENT.match(word.start)
    return assigned is None or "[" in assigned[0]


def sets_unseen(program: str, arguments: Sequence[Word]) -> bool:
    """Return whether a program of the shell gives variables values that can't be seen."""
    return program in _READING or (program == "printf" and any(word.start.startswith("-v") for word in arguments))


def taints(word: Word) -> bool:
    """Return whether a word, or what it assigns, is more than plain text: it may be code where it is evaluated."""
    assigned = _ASSIGNMENT.match(word.text)
    value = word.text[assigned.end() :] if assigned else word.text
    if assigned and (_NUMBER.fullmatch(value) or (word.literal and _PLAIN_VALUE.match(value))):
        return False
    value = _NUMBER.sub("", value)
    return bool(assigned) or "$(" in value or "`" in value


def running_variable(word: Word) -> str | None:
    """Return the value where a word assigns a variable that says what is run, as written."""
    assigned = _ASSIGNMENT.match(word.text)
    return word.text[assigned.end() :] if assigned and assigned[1] in RUNNING_VARIABLES else None
