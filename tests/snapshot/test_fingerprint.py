from __future__ import annotations

import os
from pathlib import Path

from agentoml.snapshot.fingerprint import fingerprint, settles_in


def aged(file: Path) -> None:
    os.utime(file, ns=(1_000_000_000, 1_000_000_000))


def test_the_same_files_have_the_same_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text("a = 1")
    assert fingerprint([file]) == fingerprint([file])


def test_an_edit_of_the_same_size_with_its_old_time_restored_is_seen(tmp_path: Path) -> None:
    """R08: the change time can't be restored."""
    file = tmp_path / "agent.toml"
    file.write_text("a = 1")
    aged(file)
    before = fingerprint([file])
    file.write_text("a = 2")
    aged(file)
    assert fingerprint([file]) != before


def test_a_file_that_appears_or_goes_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    absent = fingerprint([file])
    assert absent == {file: None}
    file.write_text("")
    assert fingerprint([file]) != absent


def test_a_swapped_symlink_is_seen_though_its_targets_look_alike(tmp_path: Path) -> None:
    """R14: the real path is part of the mark."""
    for name in ("one", "two"):
        (tmp_path / name).write_text("a = 1")
        aged(tmp_path / name)
    link = tmp_path / "agent.toml"
    link.symlink_to("one")
    before = fingerprint([link])
    link.unlink()
    link.symlink_to("two")
    assert fingerprint([link]) != before


def test_a_symlink_loop_is_a_file_that_is_not_there(tmp_path: Path) -> None:
    """R18."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert fingerprint([tmp_path / "a"]) == {tmp_path / "a": None}


def test_only_a_fresh_file_has_to_settle(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text("")
    os.utime(file)
    assert 0 < settles_in(fingerprint([file])) <= 0.02
    aged(file)
    assert settles_in(fingerprint([file])) == 0
