from __future__ import annotations

import tomllib

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentoml.config.diagnostics.positions import positions
from toml_documents import documents, paths, same


@settings(max_examples=50)
@given(documents())
def test_it_agrees_with_tomllib_on_every_path_and_value(source: str) -> None:
    expected = paths(tomllib.loads(source))
    found = positions(source)

    assert found.whole
    assert set(found.places) == set(expected)
    for path, value in expected.items():
        place = found.places[path]
        if not isinstance(value, dict | list):
            assert place.value is not None
            text = source[place.value.start : place.value.end]
            assert same(tomllib.loads(f"x = {text}")["x"], value)
        if isinstance(path[-1], str):
            assert place.key is not None
            written = source[place.key.start : place.key.end]
            assert list(tomllib.loads(f"{written} = 1")) == [path[-1]]
        for span in (place.key, place.value):
            if span is not None:
                line = source.split("\n")[span.line - 1]
                first = source[span.start : span.end].split("\n")[0]
                assert line[span.column - 1 : span.end_column - 1] == first


@settings(max_examples=50)
@given(documents(), st.integers(0, 400), st.text("[]{}\"'=.#\n\\ a1", max_size=3))
def test_it_never_fails_and_finds_where_a_broken_statement_begins(source: str, at: int, junk: str) -> None:
    broken = source[: at % (len(source) + 1)] + junk + source[at % (len(source) + 1) :]
    found = positions(broken)

    assert [span.start for span in found.statements] == sorted(span.start for span in found.statements)
    try:
        tomllib.loads(broken)
    except ValueError:
        assume(False)
    assert found.whole


def test_a_key_written_twice_is_found_with_its_first_place() -> None:
    found = positions("[a]\nx = 1\ny = 2\nx = 3\n")

    ((path, again),) = found.repeated
    assert path == ("a", "x")
    assert again.key is not None
    assert again.key.line == 4
    first = found.places[path].key
    assert first is not None
    assert first.line == 2


def test_a_text_without_end_stops_the_scanner_at_its_statement() -> None:
    found = positions('a = 1\nb = """\n[c]\n')

    assert not found.whole
    assert found.statements[-1].line == 2
