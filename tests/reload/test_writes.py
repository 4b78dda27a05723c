"""R01 to R09: however a file is written, what it says in the end is in force, and nothing that it never said."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agentoml.config.layering.files import LARGEST
from agentoml.snapshot.store import Store
from watched import agent, last, names, record, shows, watched, write_over


async def test_r01_a_file_written_in_place_is_in_force(config: Path) -> None:
    async with watched(config) as store:
        config.write_text(agent("one", "two"))
        done = await shows(store, "one", "two")
        assert (done.trigger, done.state, done.generation) == ("file", "applied", 2)


async def test_r02_a_file_renamed_over_it_is_in_force_each_time(config: Path) -> None:
    async with watched(config) as store:
        for number in range(5):
            write_over(config, agent("one", f"m{number}"))
            await shows(store, "one", f"m{number}")


async def test_r03_a_save_by_vim_is_in_force(config: Path) -> None:
    async with watched(config) as store:
        backup = config.with_name("agent.toml~")
        config.rename(backup)
        config.write_text(agent("one", "two"))
        backup.unlink()
        await shows(store, "one", "two")
        assert all(one.state != "rejected" for one in store.records)


async def test_r04_a_file_written_in_pieces_is_never_seen_in_part(config: Path) -> None:
    text = agent(*(f"m{number}" for number in range(40)))
    seen: set[int] = set()
    async with watched(config) as store:
        store.subscribe(lambda _before, after: seen.add(len(after.models)) or 0)
        with config.open("w") as stream:
            for start in range(0, len(text), 60):
                stream.write(text[start : start + 60])
                stream.flush()
                os.fsync(stream.fileno())
                await asyncio.sleep(0)
        await shows(store, *(f"m{number}" for number in range(40)))
        assert seen == {40}
        assert all(one.state != "rejected" for one in store.records)


async def test_r05_a_file_that_is_empty_for_a_moment_takes_nothing_away(config: Path) -> None:
    async with watched(config) as store:
        config.write_text("")
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")
        config.write_text("")
        failed = await record(store, "rejected", after=last(store))
        assert "empty" in failed.problems[0].message
        assert names(store) == ("one", "two")


async def test_r06_of_a_thousand_saves_the_last_is_in_force_and_few_are_compiled(config: Path) -> None:
    async with watched(config) as store:
        for number in range(1000):
            config.write_text(agent("one", f"m{number}"))
            if number % 10 == 0:
                await asyncio.sleep(0)
        await shows(store, "one", "m999")
        applied = [one for one in store.records if one.state == "applied"]
        assert len(applied) < 50
        assert store.generation == len(applied)


@pytest.mark.parametrize("how", ["touched", "chmod", "written again", "a comment"])
async def test_r07_a_file_that_says_the_same_changes_nothing(config: Path, how: str) -> None:
    async with watched(config) as store:
        before = store.current
        match how:
            case "touched":
                os.utime(config)
            case "chmod":
                config.chmod(0o600)
            case "written again":
                config.write_text(config.read_text())
            case _:
                config.write_text("# the same\n" + config.read_text())
        done = await record(store, "unchanged")
        assert (done.generation, done.told, done.changes) == (1, 0, ())
        assert store.current is before


async def test_r08_an_edit_is_seen_though_size_and_time_are_as_before(config: Path) -> None:
    os.utime(config, (1_000_000_000, 1_000_000_000))
    async with watched(config) as store:
        config.write_text(agent("two"))
        os.utime(config, (1_000_000_000, 1_000_000_000))
        await shows(store, "two")
        config.write_text(agent("six"))
        os.utime(config, (900_000_000, 900_000_000))
        await shows(store, "six")


async def test_r09_crlf_is_as_good_as_lf(config: Path) -> None:
    async with watched(config) as store:
        config.write_bytes(agent("one", "two").replace("\n", "\r\n").encode())
        await shows(store, "one", "two")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xef\xbb\xbf" + agent("two").encode(), "byte order mark"),
        (agent("two").encode("utf-16"), "UTF-16"),
        (agent("two").encode() + b"# \xff\n", "0xff"),
        (agent("two").encode() + b"# \x00\n", ""),
        (b"", "empty"),
    ],
    ids=["byte order mark", "utf-16", "invalid utf-8", "nul", "zero bytes"],
)
async def test_r09_bytes_that_are_no_text_are_explained_and_change_nothing(
    config: Path, content: bytes, said: str
) -> None:
    async with watched(config) as store:
        config.write_bytes(content)
        failed = await record(store, "rejected")
        assert said in failed.problems[0].message
        assert failed.problems[0].file.endswith("agent.toml")
        assert names(store) == ("one",)


async def test_r09_a_file_of_64_mib_is_refused_unread(config: Path) -> None:
    async with watched(config) as store:
        with config.open("r+b") as stream:
            stream.truncate(2 * LARGEST)
        failed = await record(store, "rejected")
        assert "MiB" in failed.problems[0].message
        assert names(store) == ("one",)


async def test_a_store_without_a_watcher_reads_when_it_is_asked_to(config: Path) -> None:
    store = Store(config)
    await store.reload("start")
    config.write_text(agent("one", "two"))
    done = await store.reload("request")
    assert (done.trigger, done.state, names(store)) == ("request", "applied", ("one", "two"))
    await store.close()
