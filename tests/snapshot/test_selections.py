from __future__ import annotations

from pathlib import Path

from attrs import evolve

from agentoml.snapshot.build import build
from agentoml.snapshot.resolve import ClientFacts, resolve
from agentoml.snapshot.selections import Selections, pick, reconcile
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.turns import end_turn, pick_for_the_turn, start_turn

AGENT = """
schema = 1
[providers.p]
adapter = "scripted"
[models.a]
provider = "p"
aliases = ["old"]
[models.b]
provider = "p"
[options.model]
values_from = "models"
[options.tone]
applies = "next_turn"
values.short = {}
values.long = {}
"""
CLIENT = ClientFacts()


def snapshot(tmp_path: Path, text: str = AGENT) -> Snapshot:
    file = tmp_path / "agent.toml"
    file.write_text(text, encoding="utf-8")
    found = build(file).snapshot
    assert found is not None
    return found


def shown(at: Snapshot, selections: Selections) -> dict[str, str | bool]:
    return {option.id: option.current for option in resolve(at, CLIENT, selections).options}


def test_what_waited_binds_where_a_reload_has_the_option_wait_no_more(tmp_path: Path) -> None:
    old = snapshot(tmp_path)
    selections = pick(old, CLIENT, start_turn(Selections()), "tone", "long")
    new = snapshot(tmp_path, AGENT.replace('applies = "next_turn"', ""))
    selections = reconcile(old, new, CLIENT, selections)
    assert shown(new, selections)["tone"] == "long"
    selections = pick(new, CLIENT, selections, "tone", "short")
    assert shown(new, selections)["tone"] == shown(new, end_turn(new, CLIENT, selections))["tone"] == "short"


def test_a_model_for_the_turn_goes_with_it_and_gives_way_to_a_pick(tmp_path: Path) -> None:
    at = snapshot(tmp_path)
    first = pick(at, CLIENT, start_turn(Selections()), "model", "a")
    fallen_back = pick_for_the_turn(first, evolve(first.picks[0], value="b"))
    assert shown(at, fallen_back)["model"] == "b"
    assert shown(at, end_turn(at, CLIENT, fallen_back))["model"] == "a"
    picked = pick(at, CLIENT, fallen_back, "model", "a")
    assert shown(at, picked)["model"] == "a"


def test_a_pick_moves_on_to_what_its_name_is_an_alias_of(tmp_path: Path) -> None:
    old = snapshot(tmp_path, AGENT.replace('aliases = ["old"]', "").replace("[models.b]", "[models.old]"))
    new = snapshot(tmp_path)
    selections = pick(old, CLIENT, Selections(), "model", "old")
    assert shown(new, reconcile(old, new, CLIENT, selections))["model"] == "a"
    assert reconcile(new, new, CLIENT, selections) is selections
