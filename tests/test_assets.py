from __future__ import annotations

from pathlib import Path

import pytest

from agentoml import assets


@pytest.mark.parametrize("name", ["configs", "templates"])
def test_what_is_shipped_is_found_from_a_checkout(name: str) -> None:
    assert assets.folder(name) == Path(__file__).parents[1] / name  # type: ignore[arg-type]


def test_what_is_packaged_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").mkdir()
    monkeypatch.setattr(assets, "__file__", str(tmp_path / "assets.py"))

    assert assets.folder("configs") == tmp_path / "configs"
