from __future__ import annotations

from pathlib import Path

from agentoml.snapshot.build import build
from agentoml.snapshot.resolve import ClientFacts, RenderedOption, resolve
from agentoml.snapshot.selections import Selections, pick
from agentoml.snapshot.snapshot import Snapshot

AGENT = """
schema = 1
[providers.p]
adapter = "scripted"
[models.a]
provider = "p"
capabilities = ["tools"]
reasoning = { values = ["low", "high"] }
[models.b]
provider = "p"
capabilities = ["tools"]
reasoning = { values = ["low", "high"] }
[models.keen]
provider = "p"
capabilities = ["tools", "images"]
reasoning = { values = ["low", "high"], default = "high" }
[models.seeing]
provider = "p"
capabilities = ["tools", "images"]
reasoning = { values = ["low", "high"] }
[options.model]
values_from = "models"
[options.level]
values_from = "model.reasoning"
values.high = { when = { capability = "images" } }
[options.fast]
type = "boolean"
[options.tone]
values.plain = {}
values.bold = { when = { model = "b" } }
"""
CLIENT = ClientFacts()


def snapshot(tmp_path: Path) -> Snapshot:
    file = tmp_path / "agent.toml"
    file.write_text(AGENT, encoding="utf-8")
    found = build(file).snapshot
    assert found is not None
    return found


def options(at: Snapshot, client: ClientFacts = CLIENT, **picks: str) -> dict[str, RenderedOption]:
    selections = Selections()
    for option, value in picks.items():
        selections = pick(at, client, selections, option, value)
    return {option.id: option for option in resolve(at, client, selections).options}


def test_models_that_give_the_same_and_can_do_the_same_share_a_list(tmp_path: Path) -> None:
    at = snapshot(tmp_path)
    assert options(at, model="a")["level"] is options(at, model="b")["level"]


def test_a_list_that_depends_on_what_a_model_can_do_is_not_shared_with_one_that_cannot(tmp_path: Path) -> None:
    at = snapshot(tmp_path)
    assert [value.value for value in options(at, model="a")["level"].values] == ["low"]
    assert [value.value for value in options(at, model="seeing")["level"].values] == ["low", "high"]


def test_a_list_that_depends_on_the_picked_model_is_not_shared_with_another(tmp_path: Path) -> None:
    at = snapshot(tmp_path)
    assert [value.value for value in options(at, model="a")["tone"].values] == ["plain"]
    assert [value.value for value in options(at, model="b")["tone"].values] == ["plain", "bold"]


def test_models_with_the_same_levels_have_each_their_own_default(tmp_path: Path) -> None:
    at = snapshot(tmp_path)
    assert options(at, model="seeing")["level"].current == "low"
    assert options(at, model="keen")["level"].current == "high"


def test_each_client_is_shown_a_boolean_in_its_own_way(tmp_path: Path) -> None:
    at = snapshot(tmp_path)
    for _ in range(2):
        assert options(at)["fast"].kind == "boolean"
        assert options(at, ClientFacts(booleans=False))["fast"].kind == "select"
