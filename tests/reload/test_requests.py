"""R60 to R65: reloads on request, and a process that ends in the middle of one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentoml.snapshot import last_good
from agentoml.snapshot.store import Store
from watched import agent, names


async def test_r60_a_reload_that_is_waited_for_is_in_force_when_it_returns(config: Path) -> None:
    store = Store(config)
    await store.reload("start")
    config.write_text(agent("one", "two"))
    done = await store.reload("request")
    assert (done.state, names(store), done.milliseconds > 0) == ("applied", ("one", "two"), True)
    config.write_text("nonsense")
    failed = await store.reload("request")
    assert (failed.state, names(store)) == ("rejected", ("one", "two"))
    await store.close()


async def test_r61_a_dry_run_changes_nothing(config: Path, state_home: Path) -> None:
    store = Store(config)
    await store.reload("start")
    await store.close()
    kept = [path.read_bytes() for path in sorted(state_home.rglob("*.json"))]
    before = store.current
    config.write_text(agent("two", more='[agent]\nauto_answers = "everything"\n'))
    built = await store.dry_run()
    assert [(change.area, change.what, change.widens) for change in built.changes][:2] == [
        ("permissions", "changed", True),
        ("models", "removed", False),
    ]
    assert (store.current, store.generation, len(store.records)) == (before, 1, 1)
    assert [path.read_bytes() for path in sorted(state_home.rglob("*.json"))] == kept


async def test_r62_reloads_asked_for_at_once_share_an_attempt(config: Path) -> None:
    store = Store(config)
    await store.reload("start")
    config.write_text(agent("one", "two"))
    first = asyncio.create_task(store.reload("request"))
    await asyncio.sleep(0)
    records = await asyncio.gather(first, *(store.reload("request") for _ in range(50)))
    assert len({record.number for record in records}) <= 2
    assert names(store) == ("one", "two")
    await store.close()


async def test_r65_a_crash_while_the_last_good_one_is_written_leaves_the_one_before(
    config: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(config)
    await store.reload("start")
    await store.close()

    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", crash)
        config.write_text(agent("two"))
        await store.reload("request")
        with pytest.raises(Crash):
            await store.close()
    assert names(store) == ("two",)
    reading = last_good.recall(config)
    assert reading is not None
    assert b"[models.one]" in reading.texts[-1].content
    (half_written,) = (state_home / "agentoml" / "last-good").glob("*.json")
    half_written.write_text(half_written.read_text()[:50])
    assert last_good.recall(config) is None


async def test_a_second_store_of_the_same_file_sees_it_too(config: Path) -> None:
    stores = Store(config), Store(config)
    for store in stores:
        await store.reload("start")
    config.write_text(agent("one", "two"))
    for store in stores:
        await store.reload("file")
    assert [names(store) for store in stores] == [("one", "two")] * 2
    for store in stores:
        await store.close()


async def test_the_fingerprint_of_what_is_in_force_is_the_same_in_every_process_and_another_in_another_order(
    config: Path,
) -> None:
    stores = Store(config), Store(config)
    found: list[set[str]] = []
    for models in (("one", "two"), ("two", "one")):
        config.write_text(agent(*models))
        for store in stores:
            await store.reload("request")
        found.append({store.digest for store in stores})
    assert [len(digests) for digests in found] == [1, 1]
    assert found[0] != found[1]
    for store in stores:
        await store.close()
