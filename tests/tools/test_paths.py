from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentoml.errors import ToolError
from agentoml.tools.paths import absolute, glob_regex, is_inside


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["srcs/a.py"]),
        ("./a?", ["ab"], ["a", "a/"]),
        ("[a-c]x", ["bx"], ["dx", "-x"]),
        ("[!a]x", ["bx"], ["ax"]),
        ("a[!b]x", ["acx"], ["a/x"]),
        ("a/**/*b*c/**/d*e*", ["a/bc/de", "a/x/b/yb_c/z/d_e_"], ["a/b/c/de", "a/bc/d/e"]),
        ("**", ["a", "a/b"], []),
        ("a.b+(c)", ["a.b+(c)"], ["aXb+(c)", "a.bb(c)"]),
    ],
)
def test_globs(pattern: str, matching: list[str], others: list[str]) -> None:
    regex = glob_regex(pattern)

    assert [path for path in [*matching, *others] if regex.match(path)] == matching


def plainly_matches(tokens: list[str], path: str) -> bool:
    """Try what a glob means in every way."""

    @cache
    def rest_matches(token: int, at: int) -> bool:
        if token == len(tokens):
            return at == len(path)
        here, character = tokens[token], path[at : at + 1]
        if here == "/**/":
            below = (end + 1 for end in range(at, len(path)) if path[end] == "/")
            return character == "/" and any(rest_matches(token + 1, end) for end in below)
        if here in ("*", "**"):
            goes_on = character != "" and (here == "**" or character != "/")
            return rest_matches(token + 1, at) or (goes_on and rest_matches(token, at + 1))
        fits = character not in ("", "/") if here == "?" else character == here
        return fits and rest_matches(token + 1, at + 1)

    return rest_matches(0, 0)


TOKENS = st.lists(st.sampled_from([("a",), ("*", "a"), ("*", "b"), ("**", "b"), ("?",), ("/",), ("/**/",)]), max_size=8)
PATHS = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@given(TOKENS, PATHS)
def test_a_glob_matches_what_it_means_however_its_stars_are_settled(groups: list[tuple[str, ...]], path: str) -> None:
    tokens = ["/", *(token for group in groups for token in group)]

    assert bool(glob_regex("".join(tokens)).match(f"/{path}")) == plainly_matches(tokens, f"/{path}")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 12 + "*b", "a" * 255), ("**/" * 30 + "x", "a/" * 200 + "y"), ("**a" * 20 + "**b", "a/" * 2000)],
)
@pytest.mark.timeout(20)
def test_many_stars_take_no_longer(pattern: str, path: str) -> None:
    assert not glob_regex(pattern).match(path)


def test_what_is_no_glob_or_no_path_is_an_error() -> None:
    with pytest.raises(ToolError, match="no glob"):
        glob_regex("[z-a]")
    with pytest.raises(ToolError, match="NUL"):
        absolute("a\0b", "/")


def test_inside_means_the_directory_or_beneath_it() -> None:
    assert is_inside("/w/a", ("/w",))
    assert is_inside("/w", ("/w/",)) or is_inside("/w", ("/w",))
    assert not is_inside("/ww", ("/w",))
    assert is_inside("/x", ("/",))
