"""R10 to R20: files and directories that are deleted, moved, swapped, or reached by symbolic links."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from watched import agent, last, names, record, shows, watched


async def test_r10_a_file_that_is_deleted_and_comes_back_is_followed(config: Path) -> None:
    async with watched(config) as store:
        for number in range(3):
            config.unlink()
            gone = await record(store, "rejected", after=last(store))
            assert "no such file" in gone.problems[0].message
            config.write_text(agent("one", f"m{number}"))
            await shows(store, "one", f"m{number}")


async def test_r11_a_directory_that_is_deleted_and_comes_back_is_followed(config: Path) -> None:
    async with watched(config) as store:
        for number in range(2):
            shutil.rmtree(config.parent)
            await record(store, "rejected", after=last(store))
            config.parent.mkdir()
            config.write_text(agent("one", f"m{number}"))
            await shows(store, "one", f"m{number}")
            config.write_text(agent("one", f"again{number}"))
            await shows(store, "one", f"again{number}")


async def test_r12_a_directory_that_was_moved_away_counts_no_more(config: Path) -> None:
    async with watched(config) as store:
        moved = config.parent.with_name("moved")
        config.parent.rename(moved)
        config.parent.mkdir()
        config.write_text(agent("new"))
        await shows(store, "new")
        attempts = last(store)
        (moved / "agent.toml").write_text(agent("old"))
        config.write_text(agent("newer"))
        await shows(store, "newer")
        assert all("old" not in change.name for one in store.records[attempts:] for change in one.changes)


async def test_r13_a_directory_behind_a_swapped_link_is_followed(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        release = tmp_path / "releases" / str(number)
        release.mkdir(parents=True)
        (release / "agent.toml").write_text(agent(f"m{number}"))
    current = tmp_path / "current"
    current.symlink_to("releases/1")
    async with watched(current / "agent.toml") as store:
        for number in (2, 3):
            swap(current, f"releases/{number}")
            await shows(store, f"m{number}")
        (tmp_path / "releases" / "3" / "agent.toml").write_text(agent("edited"))
        await shows(store, "edited")


async def test_r14_a_swapped_link_is_seen_though_all_files_have_the_same_times(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(agent(name))
        os.utime(tmp_path / f"{name}.toml", (0, 0))
    link = tmp_path / "agent.toml"
    link.symlink_to("one.toml")
    async with watched(link) as store:
        swap(link, "two.toml")
        await shows(store, "two")
        swap(link, "one.toml")
        await shows(store, "one")


async def test_r15_an_edit_of_the_target_of_a_link_is_seen(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "deep" / "agent.toml"
    target.parent.mkdir(parents=True)
    target.write_text(agent("one"))
    link = tmp_path / "home" / "agent.toml"
    link.parent.mkdir()
    link.symlink_to(target)
    async with watched(link) as store:
        target.write_text(agent("two"))
        await shows(store, "two")


async def test_r16_a_link_turned_to_a_directory_nobody_watched_is_followed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "agent.toml").write_text(agent(name))
    link = tmp_path / "home" / "agent.toml"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "one" / "agent.toml")
    async with watched(link) as store:
        swap(link, str(tmp_path / "two" / "agent.toml"))
        await shows(store, "two")
        (tmp_path / "two" / "agent.toml").write_text(agent("edited"))
        await shows(store, "edited")


async def test_r17_a_kubernetes_volume_is_followed_through_swap_after_swap(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    publish(volume, 1)
    (volume / "agent.toml").symlink_to("..data/agent.toml")
    async with watched(volume / "agent.toml") as store:
        for number in (2, 3):
            publish(volume, number)
            await shows(store, f"m{number}")
            shutil.rmtree(volume / f"..{number - 1}")
        (volume / "..data").unlink()
        await record(store, "rejected", after=last(store))
        publish(volume, 4)
        await shows(store, "m4")


async def test_r18_a_circle_of_links_is_a_problem_and_its_end_is_seen(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.symlink_to("other.toml")
    (tmp_path / "other.toml").symlink_to("agent.toml")
    async with watched(config) as store:
        assert store.records[0].state == "rejected"
        (tmp_path / "other.toml").unlink()
        (tmp_path / "other.toml").write_text(agent("one"))
        await shows(store, "one")


async def test_r19_a_directory_that_is_not_there_at_the_start_is_waited_for(tmp_path: Path) -> None:
    config = tmp_path / "not" / "yet" / "there" / "agent.toml"
    async with watched(config) as store:
        assert (store.records[0].state, store.current) == ("rejected", None)
        config.parent.mkdir(parents=True)
        config.write_text(agent("one"))
        await shows(store, "one")


async def test_r20_a_name_that_changes_in_its_letter_case_alone_is_another_file(config: Path) -> None:
    async with watched(config) as store:
        other = config.with_name("Agent.toml")
        config.rename(other)
        gone = await record(store, "rejected", after=last(store))
        assert "did you mean" in gone.problems[0].hint.lower()
        other.rename(config)
        await record(store, "unchanged", after=gone.number)
        assert names(store) == ("one",)


def swap(link: Path, target: str) -> None:
    """Turn a link to another target at once."""
    new = link.with_name(f"{link.name}.new")
    new.symlink_to(target)
    new.replace(link)


def publish(volume: Path, number: int) -> None:
    """Publish files as Kubernetes does: a new directory, and the link `..data` swapped."""
    folder = volume / f"..{number}"
    folder.mkdir()
    (folder / "agent.toml").write_text(agent(f"m{number}"))
    swap(volume / "..data", folder.name)
