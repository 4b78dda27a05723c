"""Files of our own are replaced as a whole, or stay as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.config.write import GENERATED, replace_file, write_own


def test_a_symlink_stays_one_and_the_file_behind_it_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "real.toml", tmp_path / "link.toml"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    replace_file(link, b"new")
    assert link.is_symlink() and target.read_text(encoding="utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_what_is_private_is_for_its_owner_alone_even_if_it_was_not(tmp_path: Path) -> None:
    file = tmp_path / "state" / "own.toml"
    write_own(file, "x = 1\n")
    assert file.read_text(encoding="utf-8") == f"{GENERATED}x = 1\n"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    file.chmod(0o644)
    replace_file(file, b"", private=True)
    assert file.stat().st_mode & 0o777 == 0o600


def test_where_nothing_can_be_put_in_its_place_nothing_is_left_behind(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    (taken / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        replace_file(taken, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
