from __future__ import annotations

import pytest

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
        ("**", ["a", "a/b"], []),
        ("a.b+(c)", ["a.b+(c)"], ["aXb+(c)", "a.bb(c)"]),
    ],
)
def test_globs(pattern: str, matching: list[str], others: list[str]) -> None:
    regex = glob_regex(pattern)

    assert [path for path in [*matching, *others] if regex.match(path)] == matching


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
