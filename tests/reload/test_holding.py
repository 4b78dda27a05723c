"""A reload that allows more while a turn runs waits for the user; one that does not waits for nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.snapshot.store import Store
from watched import agent, names

WIDE = agent("one", more='[agent]\nauto_answers = "everything"\n')
WIDER = agent("one", more='[agent]\nauto_answers = ["everything", "standard"]\n')
NARROW = agent("one", more='[permissions.standard]\nkinds.execute = "deny"\n')


async def loaded(config: Path) -> Store:
    store = Store(config)
    await store.reload("start")
    return store


async def saved(store: Store, config: Path, text: str) -> str:
    config.write_text(text, encoding="utf-8")
    return (await store.reload("file")).state


async def test_without_a_turn_everything_that_is_valid_takes_effect(config: Path) -> None:
    store = await loaded(config)
    assert await saved(store, config, WIDE) == "applied"
    await store.close()


async def test_in_a_turn_what_widens_is_held_and_what_narrows_takes_effect(config: Path) -> None:
    store = await loaded(config)
    store.turn_began()
    assert await saved(store, config, WIDE) == "held"
    assert store.generation == 1
    assert await saved(store, config, NARROW) == "applied"
    assert store.held is None
    assert await saved(store, config, agent("one", "two")) == "held", "the denial goes"
    await store.close()


async def test_what_is_found_after_the_turn_may_be_of_it(config: Path) -> None:
    store = await loaded(config)
    store.turn_began()
    store.turn_ended()
    assert await saved(store, config, WIDE) == "held"
    assert await saved(store, config, agent("one")) == "unchanged"
    store.found_unchanged()
    assert await saved(store, config, WIDE) == "applied"
    await store.close()


async def test_what_is_held_stays_so_when_it_is_saved_again_without_a_turn(config: Path) -> None:
    store = await loaded(config)
    store.turn_began()
    await saved(store, config, WIDE)
    store.turn_ended()
    store.found_unchanged()
    assert await saved(store, config, "# again\n" + WIDE) == "held"
    assert (await store.reload("request")).state == "held"
    await store.close()


async def test_only_what_was_shown_is_confirmed(config: Path) -> None:
    store = await loaded(config)
    store.turn_began()
    await saved(store, config, WIDE)
    shown = store.held
    assert shown is not None
    await saved(store, config, WIDER)
    assert await store.confirm(shown) is None
    assert store.generation == 1
    assert store.held is not None
    record = await store.confirm(store.held)
    assert record is not None
    assert (record.state, record.trigger, store.generation, store.held) == ("applied", "confirm", 2, None)
    assert (await store.reload("file")).state == "unchanged"
    await store.close()


async def test_listeners_hear_of_what_is_held_once_and_of_its_end(config: Path) -> None:
    store = await loaded(config)
    heard: list[bool] = []
    store.subscribe(lambda _before, _after: 0, lambda snapshot: heard.append(snapshot is not None))
    store.turn_began()
    await saved(store, config, WIDE)
    await saved(store, config, WIDE + "# the same\n")
    assert heard == [True]
    await saved(store, config, agent("one"))
    assert heard == [True, False]
    await store.close()


async def test_a_held_file_that_breaks_is_told_and_the_one_before_it_still_waits(config: Path) -> None:
    store = await loaded(config)
    store.turn_began()
    await saved(store, config, WIDE)
    assert await saved(store, config, "nonsense") == "rejected"
    assert names(store) == ("one",)
    assert store.generation == 1
    await store.close()


async def test_what_was_shown_can_be_confirmed_while_the_files_are_broken_and_becomes_the_last_good_one(
    config: Path,
) -> None:
    store = await loaded(config)
    store.turn_began()
    wide = agent("one", "two", more='[agent]\nauto_answers = "everything"\n')
    assert await saved(store, config, wide) == "held"
    assert await saved(store, config, "nonsense") == "rejected"
    assert store.held is not None
    record = await store.confirm(store.held)
    assert record is not None
    assert (record.state, names(store), store.held) == ("applied", ("one", "two"), None)
    assert store.problems, "the files are as broken as before"
    assert await saved(store, config, "nonsense, again") == "rejected"
    assert names(store) == ("one", "two")
    assert await saved(store, config, wide) == "unchanged"
    assert not store.problems
    await store.close()


async def test_a_user_may_turn_the_question_off_but_no_turn_may_do_it_for_them(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    own = tmp_path / "home" / "agentoml" / "agent.toml"
    own.parent.mkdir(parents=True)
    own.write_text('schema = 1\n[reload]\nwidening = "apply"\n', encoding="utf-8")
    store = await loaded(config)
    store.turn_began()
    assert await saved(store, config, WIDE) == "applied"
    await store.close()

    own.write_text("schema = 1\n", encoding="utf-8")
    config.write_text(agent("one"), encoding="utf-8")
    store = await loaded(config)
    store.turn_began()
    own.write_text('schema = 1\n[reload]\nwidening = "apply"\n', encoding="utf-8")
    assert (await store.reload("file")).state == "held"
    assert await saved(store, config, WIDE) == "held"
    await store.close()
