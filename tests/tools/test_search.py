from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from agentoml.errors import ToolError
from agentoml.tools import search
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.search_process import LINE_CHARACTERS, MATCHES, found
from agentoml.tools.tool import ToolContext

search_files = built_in_tools()["search_files"].run


def write(directory: Path, **files: str) -> None:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)


def run(top: Path, pattern: str, glob: str | None = None, *, ignore_case: bool = False) -> list[list[object]]:
    return list(found({"top": str(top), "pattern": pattern, "glob": glob, "ignore_case": ignore_case}))


async def test_matches_are_listed_with_path_and_line(context: ToolContext, tmp_path: Path) -> None:
    write(tmp_path, **{"a.py": "import os\nimport re\n", "b/c.py": "x\r\nimport json", ".git/x.py": "import no"})
    (tmp_path / "b/bin").write_bytes(b"import\0")

    result = await search_files({"pattern": r"^import \w+$"}, context)

    assert result.text == "a.py:1: import os\na.py:2: import re\nb/c.py:2: import json"


async def test_nothing_found_and_wrong_patterns_are_said(context: ToolContext, tmp_path: Path) -> None:
    write(tmp_path, a="x")

    assert "Nothing in" in (await search_files({"pattern": "a.b(", "literal": True}, context)).text
    with pytest.raises(ToolError, match="no regular expression"):
        await search_files({"pattern": "a("}, context)
    with pytest.raises(ToolError, match="there is no"):
        await search_files({"pattern": "a", "path": "gone"}, context)


async def test_files_that_may_not_be_read_are_left_out(context: ToolContext, tmp_path: Path) -> None:
    write(tmp_path, **{".env": "TOKEN=1", "a.txt": "TOKEN"})

    result = await search_files({"pattern": "TOKEN"}, evolve(context, may_read=lambda path: ".env" not in path))

    assert result.text == "a.txt:1: TOKEN\n[Matches in 1 file that may not be read are left out.]"


async def test_a_pattern_that_backtracks_for_ever_is_stopped(
    context: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a="aaa", b="a" * 40 + "b")
    monkeypatch.setattr(search, "SEARCH_SECONDS", 0.7)

    result = await search_files({"pattern": "^(a+)+$"}, context)

    assert "[Stopped after 0.7 s" in result.text


def test_a_glob_letter_case_and_a_single_file_count(tmp_path: Path) -> None:
    write(tmp_path, **{"a.py": "Foo", "a.txt": "foo"})

    assert run(tmp_path, "foo", r"(?:[^/]+/)*[^/]*\.py\Z", ignore_case=True) == [
        ["match", f"{tmp_path}/a.py", 1, "Foo"]
    ]
    assert run(tmp_path / "a.txt", "o+") == [["match", f"{tmp_path}/a.txt", 1, "foo"]]


def test_many_matches_and_long_lines_are_bounded(tmp_path: Path) -> None:
    write(tmp_path, a="x\n" * (MATCHES + 1), b="." * 1_000 + "needle" + "." * 1_000)

    assert len(run(tmp_path / "a", "x")) == MATCHES + 1
    assert run(tmp_path / "a", "x")[-1] == ["full"]
    text = run(tmp_path, "needle")[0][3]
    assert isinstance(text, str)
    assert "needle" in text
    assert len(text) == LINE_CHARACTERS + 2
