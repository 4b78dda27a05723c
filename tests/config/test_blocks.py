"""Texts that are parsed table by table."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentoml.config.blocks import loads
from toml_documents import documents

DEEPEST = 8

READ = (
    "",
    "# a comment",
    "schema = 1\nagent.name = 'x'\n",
    "[a]\nb = 1",
    "[a] # one\nb = 1\n\n[e]\n",
    """[a."b'c".'d"e']\nc = 1\n["a b".""]\n""",
    """["a.b".'c'."\\u0041"]\nd = 1\n["" . x]\n""",
    "[a.b]\nc = 1\r\n[a.d]\r\n\r\n[e.f]\n",
    "[a]\nb.c = [\n1,\n 2]\n[ d ]\n",
    "[models.'a.b']\nx = 1\n[models.'a.b'.limit]\ny = 2\n[models.'a.b'.cost]\n[models.c]\n",
    "[tools.ask]\nkind = 'other'\n[[tools.ask.choices]]\nid = 1\n[[tools.ask.choices]]\nid = 2\n[tools.b]\n",
    'x = """\nthe end"""\n["a]"]\n[b."c d"]\n',
)

LEFT_TO_A_PARSER_OF_THE_WHOLE = (
    "[a\n[b]\n",
    "[a]\n[a]\n",
    "[a]\n[b]\n[a]\n",
    "[a.b]\n[a]\n",
    "[a]\n[b]\n[a.c]\n",
    "a.b = 1\n[a]\n",
    "a = 1\n[a.b]\n",
    "a = {}\n[a.b]\n",
    "[[a]]\n[b]\n[[a]]\n",
    "x = '''\n[a]\n'''\n",
    "x = [\n[1],\n[2]]\n",
    "[a]\nx = [\n[1],\n[2]]\n",
    "[a]\n  [b]\n",
    "[a] b = 1\n",
    "[a] # ]\n[a.c]\n",
    "[a]\n[ a . d ]\n",
    "[a]\rb = 1\n",
    "[a]\r\r\n",
    "[a.b.c.d.e.f.g.h.i]\n",
    "[a.b.c]\nx = [[[[[[1]]]]]]\n",
    "x = [[[[[[[[[1]]]]]]]]]\n",
)


def parsed(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


@pytest.mark.parametrize("text", READ)
def test_tables_each_in_its_place_say_what_the_whole_says(text: str) -> None:
    assert repr(loads(text, DEEPEST)) == repr(tomllib.loads(text))


@pytest.mark.parametrize("text", LEFT_TO_A_PARSER_OF_THE_WHOLE)
def test_what_cannot_be_told_table_by_table_is_not(text: str) -> None:
    assert loads(text, DEEPEST) is None


def in_any_order(pieces: Iterable[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(sorted(pieces)), max_size=8).map("".join)


LINES = {
    "[a]\n",
    "[a.b]\n",
    "[a.b]\r\n",
    "[b] # [a]\n",
    '["a".b]\n',
    "['a'.'\"b'.\"'\"]\n",
    '["\\u0061".b]\n',
    "[[a]]\n",
    "[[a.b]]\n",
    " [b]\n",
    "b = 1\n",
    "b.c = {}\n",
    "a.b.c = 2\n",
    "c = [\n",
    "[1],\n",
    "]\n",
    'd = """\n',
    '"""\n',
    "e = '''\n",
    "'''\n",
    "# '''\n",
    "\r",
    "\n",
}


@given(documents() | in_any_order(LINES))
@example("[a]\nb = nan\n[c]\n")
def test_nothing_is_said_that_the_whole_does_not_say(text: str) -> None:
    found = loads(text, 64)
    assert found is None or repr(found) == repr(parsed(text))


def test_what_an_edit_left_as_it_was_is_the_same_object() -> None:
    before = loads("[models.a]\nid = 'one'\n[models.b]\nid = 'two'\n[models.b.limit]\noutput = 1\n", DEEPEST)
    after = loads("[models.a]\nid = 'new'\n\n[models.b]\nid = 'two'\n[models.b.limit]\noutput = 1\n", DEEPEST)
    assert before is not None and after is not None
    assert after["models"]["b"] is before["models"]["b"]
    assert after["models"]["a"] == {"id": "new"}


def test_a_configuration_of_usual_length_is_read_without_it() -> None:
    code = (
        "import sys\n"
        "from agentoml.config import layers, merge, parse\n"
        "merge.merge(parse.parse_all(layers.read('preset:offline')))\n"
        "print('agentoml.config.blocks' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
