"""A project under reloads: what its user agreed to stays until they answer, and their answer counts at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.config import layers, trust
from agentoml.config.layers import Chosen
from agentoml.snapshot.store import Store
from watched import agent, names, record, shows, watched

PROJECT = 'schema = 1\n[models.theirs]\nprovider = "offline"\n[mcp.x]\ncommand = ["x"]\n'


@pytest.fixture
def chosen(config: Path, tmp_path: Path) -> Chosen:
    root = tmp_path / "project"
    root.mkdir()
    (root / "agent.toml").write_text(PROJECT, encoding="utf-8")
    return Chosen(config, project=root)


def file(chosen: Chosen) -> Path:
    assert chosen.project is not None
    return chosen.project / "agent.toml"


def agree(store: Store) -> None:
    assert store.project is not None
    trust.record(store.project, granted=True)


async def test_an_agreement_counts_at_once_also_while_a_turn_runs(chosen: Chosen) -> None:
    store = Store(chosen)
    await store.reload("start")
    assert names(store) == ("one",)
    store.turn_began()
    agree(store)
    done = await store.reload("trust")
    assert (done.state, names(store), store.held) == ("applied", ("theirs", "one"), None)
    await store.close()


async def test_what_was_agreed_to_stays_until_the_user_answers(chosen: Chosen) -> None:
    async with watched(chosen) as store:
        agree(store)
        await shows(store, "theirs", "one")
        file(chosen).write_text(PROJECT.replace("theirs", "others").replace('["x"]', '["y"]'))
        await record(store, "held")
        assert store.current is not None and store.project is not None
        assert names(store) == ("theirs", "one")
        assert (store.current.servers["x"].command, store.held) == (("x",), None)
        assert store.project.status == "changed"

        file(chosen).write_text(PROJECT)
        await record(store, "unchanged")
        assert store.project.status == "trusted"


async def test_what_is_taken_back_is_gone_at_once(chosen: Chosen) -> None:
    async with watched(chosen) as store:
        agree(store)
        await shows(store, "theirs", "one")
        assert chosen.project is not None
        trust.forget(chosen.project)
        await shows(store, "one")


async def test_what_a_trusted_project_breaks_changes_nothing_and_is_told(chosen: Chosen) -> None:
    async with watched(chosen) as store:
        agree(store)
        await shows(store, "theirs", "one")
        file(chosen).write_text(PROJECT + "x = y\n")
        failed = await record(store, "rejected")
        assert [(Path(problem.file).name, problem.line) for problem in failed.problems] == [("agent.toml", 6)]
        assert names(store) == ("theirs", "one")


async def test_a_project_that_appears_is_found(chosen: Chosen) -> None:
    file(chosen).unlink()
    async with watched(chosen) as store:
        assert store.project is None
        file(chosen).write_text(PROJECT)
        await record(store, "unchanged")
        assert store.project is not None and store.project.status == "new"


WIDE = '[agent]\nauto_answers = "everything"\n'


async def test_an_agreement_to_a_project_lets_in_nothing_that_waits_beside_it(chosen: Chosen, config: Path) -> None:
    store = Store(chosen)
    await store.reload("start")
    store.turn_began()
    config.write_text(agent("one", more=WIDE), encoding="utf-8")
    assert (await store.reload("file")).state == "held"
    agree(store)
    assert (await store.reload("trust")).state == "held"
    assert store.current is not None and store.held is not None
    assert (store.current.base.auto_answers, names(store)) == ((), ("one",))
    assert await store.confirm(store.held) is not None
    assert (store.current.base.auto_answers, names(store)) == (("everything",), ("theirs", "one"))
    await store.close()


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_directory_of_another_project_is_no_way_around_what_waits(
    chosen: Chosen, config: Path, *, trusted: bool
) -> None:
    alone = Store(Chosen(config))
    await alone.reload("start")
    alone.turn_began()
    config.write_text(agent("one", more=WIDE), encoding="utf-8")
    beside = Store(chosen, beside=alone)
    if trusted:
        found = layers.read(chosen).project
        assert found is not None
        trust.record(found, granted=True)
    assert (await beside.reload("start")).state == "held"
    assert alone.held is not None and beside.current is not None and beside.held is not None
    assert (beside.current.base.auto_answers, "theirs" in names(beside)) == ((), trusted)
    assert await beside.confirm(beside.held) is not None
    assert (beside.current.base.auto_answers, "theirs" in names(beside)) == (("everything",), trusted)
    for store in (alone, beside):
        await store.close()


async def test_while_an_agreement_is_waited_for_the_users_own_files_count(chosen: Chosen, config: Path) -> None:
    store = Store(chosen)
    await store.reload("start")
    agree(store)
    await store.reload("trust")
    file(chosen).write_text(PROJECT.replace("theirs", "others").replace('["x"]', '["y"]'))
    assert (await store.reload("file")).state == "held"

    config.write_text(agent("one", "two", more='[permissions.standard]\nkinds.execute = "deny"\n'), encoding="utf-8")
    assert (await store.reload("file")).state == "applied"
    assert store.current is not None and store.project is not None
    assert store.current.permissions["standard"].kinds["execute"] == "deny"
    assert (names(store), store.current.servers["x"].command) == (("theirs", "one", "two"), ("x",))
    assert (store.project.status, (await store.reload("request")).state) == ("changed", "held")

    config.write_text("schema = ", encoding="utf-8")
    assert (await store.reload("file")).state == "rejected"
    config.write_text(agent("one"), encoding="utf-8")
    store.turn_began()
    assert ((await store.reload("file")).state, store.held is not None) == ("held", True), "the denial goes"
    store.turn_ended()
    agree(store)
    assert (await store.reload("trust")).state == "held"
    assert store.held is not None and await store.confirm(store.held) is not None
    assert (names(store), store.current.servers["x"].command) == (("others", "one"), ("y",))
    await store.close()


@pytest.mark.parametrize(("broken", "served"), [("config", ("theirs", "one")), ("project", ())])
async def test_a_project_that_is_opened_while_its_users_files_are_broken_goes_by_what_is_in_force_beside_it(
    chosen: Chosen, config: Path, broken: str, served: tuple[str, ...]
) -> None:
    alone = Store(Chosen(config))
    await alone.reload("start")
    found = layers.read(chosen).project
    assert found is not None
    trust.record(found, granted=True)
    (config if broken == "config" else file(chosen)).write_text("schema = ", encoding="utf-8")
    beside = Store(chosen, beside=alone)
    assert (await beside.reload("start")).state == "rejected"
    assert names(beside) == served
    for store in (alone, beside):
        await store.close()
