from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.session.context_files import read_context_files


def read(tmp_path: Path, pattern: str) -> list[str]:
    for name in ("AGENTS.md", "docs/one.md", "docs/deep/two.md", "docs/three.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("words", encoding="utf-8")
    return [paragraph.split('"')[1] for paragraph in read_context_files([pattern], str(tmp_path))]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("AGENTS.md", ["AGENTS.md"]),
        ("./AGENTS.md", ["AGENTS.md"]),
        ("docs/*.md", ["docs/one.md"]),
        ("docs/**/*.md", ["docs/deep/two.md", "docs/one.md"]),
        ("docs/**.md", ["docs/deep/two.md", "docs/one.md"]),
        ("**.txt", ["docs/three.txt"]),
        ("~/AGENTS.md", ["AGENTS.md"]),
    ],
)
def test_a_context_file_is_found_by_name_or_by_glob(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, found: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read(tmp_path, pattern) == found


@pytest.mark.parametrize("pattern", [".", "..", "/", "//", "docs", "docs/", "a\0b", "long" * 2000, "[a", "AGENTS.md/x"])
def test_what_finds_no_file_stops_no_turn(tmp_path: Path, pattern: str) -> None:
    assert read(tmp_path, pattern) == []
