"""R21 to R29: whatever becomes of the watcher, edits are seen.

What a shared machine can't be made to do (its limits used up, a network file system) is a fault at the watch call.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentoml.snapshot.mounts import tells_nothing
from agentoml.snapshot.watch import Hints, system_hints, watchfiles_hints
from watched import agent, record, shows, watched

Hint = Callable[[], None]


def dying(error: BaseException) -> Hints:
    """A watcher that can't be had."""

    async def hints(_directories: tuple[Path, ...], _hint: Hint) -> None:
        raise error

    return hints


async def deaf(_directories: tuple[Path, ...], _hint: Hint) -> None:
    """A watcher whose queue ran over, on a kernel that says nothing of it."""
    await asyncio.Event().wait()


async def test_r21_an_edit_whose_event_got_lost_is_seen_by_the_heartbeat(config: Path) -> None:
    async with watched(config, deaf) as store:
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")


async def test_r21_an_overflow_of_the_kernels_queue_is_an_event_too(config: Path) -> None:
    async with watched(config) as store:
        for number in range(9000):  # two events each; the queue holds 16,384, and nobody reads meanwhile
            os.close(os.open(config.parent / f"noise{number % 50}", os.O_CREAT | os.O_WRONLY))
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(OSError(28, "No space left on device"), id="r22 the limit of watches is reached"),
        pytest.param(OSError(24, "Too many open files"), id="r23 the limit of instances is reached"),
        pytest.param(RuntimeError("error in underlying watcher"), id="r28 the watcher fails"),
        pytest.param(type("PanicException", (BaseException,), {})("in Rust"), id="r28 the watcher panics"),
    ],
)
async def test_r22_r23_r28_without_a_watcher_files_are_looked_at(config: Path, error: BaseException) -> None:
    async with watched(config, dying(error)) as store:
        config.write_text(agent("one", "two"))
        done = await shows(store, "one", "two")
        assert done.trigger == "file"


async def test_r24_a_name_that_is_no_text_does_no_harm(config: Path) -> None:
    async with watched(config) as store:
        Path(os.fsdecode(os.fsencode(config.parent) + b"/caf\xe9")).write_text("")
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")


async def test_a_path_that_no_file_system_has_is_a_problem_and_its_repair_is_seen(config: Path) -> None:
    async with watched(config) as store:
        config.write_text(agent("one", "two", more='[agent]\ninstructions = { file = "a\\u0000b.md" }\n'))
        await record(store, "rejected")
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")


async def test_a_directory_in_the_place_of_the_file_is_a_problem_and_its_repair_is_seen(config: Path) -> None:
    async with watched(config, deaf) as store:
        config.unlink()
        config.mkdir()
        await record(store, "rejected")
        while config / "agent.toml" not in store.files:  # between the two there was nothing at all
            await store.reload("file")
        config.rmdir()
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")


async def test_r25_files_in_directories_made_all_at_once_are_seen(tmp_path: Path) -> None:
    config = tmp_path / "d199" / "agent.toml"
    async with watched(config) as store:
        for number in range(200):
            (tmp_path / f"d{number}").mkdir()
            (tmp_path / f"d{number}" / "agent.toml").write_text(agent(f"m{number}"))
        await shows(store, "m199")


@pytest.mark.parametrize("folder", ["node_modules", ".venv", ".git"])
async def test_r26_no_directory_is_passed_over_for_its_name(tmp_path: Path, folder: str) -> None:
    config = tmp_path / folder / "agent.toml"
    config.parent.mkdir()
    config.write_text(agent("one"))
    async with watched(config) as store:
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")


NFS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:45 / /net\\040home rw,relatime shared:2 master:3 - nfs4 server:/home rw
41 40 8:2 / /net\\040home/local rw - ext4 /dev/sdb1 rw
42 22 0:46 / /mnt/remote rw - fuse.sshfs user@host: rw
"""


@pytest.mark.parametrize(
    ("directory", "expected"),
    [("/home/a", False), ("/net home/a", True), ("/net home/local/a", False), ("/mnt/remote/x", True), ("/mnt", False)],
)
def test_r27_a_network_file_system_is_known_by_its_type(directory: str, expected: bool) -> None:
    assert tells_nothing([Path("/"), Path(directory)], NFS) is expected


async def test_r27_on_a_network_file_system_files_are_looked_at_more_often(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentoml.snapshot.watch.HEARTBEAT_SECONDS", 3600.0)
    everything_is_nfs = "1 0 0:45 / / rw - nfs4 server:/ rw"
    async with watched(config, deaf, lambda: everything_is_nfs) as store:
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")


async def test_r28_a_watcher_that_died_is_started_again(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentoml.snapshot.watch.BACK_OFF_SECONDS", 0.0)
    lives = 0
    alive = asyncio.Event()

    async def hints(directories: tuple[Path, ...], hint: Hint) -> None:
        nonlocal lives
        lives += 1
        if lives < 3:
            raise RuntimeError("dead")
        alive.set()
        await system_hints(directories, hint)

    async with watched(config, hints) as store:
        await alive.wait()
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")
        assert lives == 3


async def test_r29_only_the_directories_of_the_files_are_watched(tmp_path: Path) -> None:
    """A generation of a package store is a link into a directory with everything in it."""
    store_folder = tmp_path / "store"
    (store_folder / "many" / "deep").mkdir(parents=True)
    (store_folder / "abc-agent.toml").write_text(agent("one"))
    link = tmp_path / "home" / "agent.toml"
    link.parent.mkdir()
    link.symlink_to(store_folder / "abc-agent.toml")
    asked: list[Path] = []

    async def hints(directories: tuple[Path, ...], hint: Hint) -> None:
        asked.extend(directories)
        await system_hints(directories, hint)

    async with watched(link, hints) as store:
        link.unlink()
        await record(store, "rejected")
    ours = {path for path in asked if path.is_relative_to(tmp_path)}
    assert ours == {tmp_path, link.parent, store_folder}


async def test_the_watcher_of_other_systems_serves_too(config: Path) -> None:
    async with watched(config, watchfiles_hints) as store:
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")
