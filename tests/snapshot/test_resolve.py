from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import attrs
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.snapshot.build import build
from agentoml.snapshot.memo import Memo
from agentoml.snapshot.resolve import ClientFacts, RenderedOption, resolve
from agentoml.snapshot.selections import Refused, Selections, pick
from agentoml.snapshot.snapshot import Snapshot
from agentoml.snapshot.turns import end_turn, start_command, start_turn

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


def snapshot(tmp_path: Path, text: str = AGENT) -> Snapshot:
    file = tmp_path / "agent.toml"
    file.write_text(text, encoding="utf-8")
    built = build(file)
    assert built.snapshot is not None, [problem.one_line() for problem in built.problems]
    return built.snapshot


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


ENTANGLED = """
schema = 1
[providers.p]
adapter = "scripted"
[providers.q]
adapter = "scripted"
[models.a]
provider = "p"
reasoning = { values = ["low", "high"] }
variants.quick = {}
[models.b]
provider = "q"
capabilities = ["images"]
reasoning = { values = ["low", "high"], default = "high" }
hidden = { client = "plain" }
[models.c]
provider = "p"
when = { credentials = true }
preselect = { tone = "bold" }
[models.d]
provider = "p"
reasoning = { values = ["low", "high"], default = "high" }
[models.e]
provider = "p"
reasoning = { values = ["low"] }
[models.f]
provider = "p"
capabilities = ["tools"]
reasoning = { values = ["low", "high"], default = "high" }
[models."q/*"]
provider = "q"
when = { trusted = true }
[modes.plan]
preselect = { model = "b", level = "high" }
[modes.code]
[modes.audit]
set = { model = "a", params.tier = "slow" }
[options.provider]
values_from = "providers"
when = { client = "fine" }
[options.model]
values_from = "models"
open = true
filter.provider = "{provider}"
[options.level]
values_from = "model.reasoning"
values.high = { when = { fast = false } }
values.default = { set.instructions_append = "Think as you like." }
[options.variant]
values_from = "model.variants"
[options.fast]
type = "boolean"
if_unsupported = "omit"
hidden = { mode = "plan" }
on.set.params.tier = "priority"
[options.tone]
default = [{ value = "bold", when = { capability = "images" } }, "plain"]
values.plain = {}
values.bold = { when = { mode = "!code" }, forget = true, lasts = "turn" }
values.odd.preselect.pace = "slow"
[options.mood]
default = [{ value = "grim", when = { capability = "images" } }, "serene"]
values.serene = { hidden = { mode = "plan" } }
values.grim = {}
[options.depth]
when = { fast = true }
values.shallow = {}
[options.pace]
applies = "next_turn"
values.quick = {}
values.slow.set.params.tier = "slow"
[commands.go]
prompt = "Go."
set.model = "c"
preselect = { tone = "odd" }
[commands.switch]
switch_to = { mode = "audit" }
"""
CLIENTS = [
    ClientFacts(name, booleans, trusted, frozenset(credentials))
    for name, booleans, trusted, credentials in (
        ("plain", True, True, "p"),
        ("fine", False, True, "pq"),
        (None, True, False, "q"),
        ("fine", True, False, ""),
    )
]
Change = Callable[[Snapshot, ClientFacts, Selections], Selections]


def picked(number: int, other: int) -> Change:
    """A pick of one of the values that are offered at that moment, or of one that is not."""

    def change(at: Snapshot, client: ClientFacts, selections: Selections) -> Selections:
        offered = resolve(at, client, selections).options
        option = offered[number % len(offered)]
        value = (
            "q/new" if other > 9 else option.values[other % len(option.values)].value if option.values else other > 4
        )
        return pick(at, client, selections, option.id, value)

    return change


CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(picked, st.integers(0, 11), st.integers(0, 10)),
    st.sampled_from(["go", "switch"]).map(lambda name: partial(start_command, name=name)),
    st.sampled_from([end_turn, lambda _at, _client, selections: start_turn(selections)]),
)


@pytest.fixture(scope="module")
def entangled(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return snapshot(tmp_path_factory.mktemp("entangled"), ENTANGLED)


@given(st.lists(st.tuples(st.sampled_from(CLIENTS), CHANGES), max_size=25))
@settings(max_examples=60)
def test_what_is_remembered_is_what_would_be_worked_out(
    entangled: Snapshot, steps: list[tuple[ClientFacts, Change]]
) -> None:
    sessions = dict.fromkeys(CLIENTS, Selections())
    for client, change in steps:
        with contextlib.suppress(Refused):
            sessions[client] = change(entangled, client, sessions[client])
        found = resolve(entangled, client, sessions[client])
        forgetful = evolve(entangled, resolved=Memo(0), outcomes=Memo(0), listings=Memo(0))
        anew = resolve(forgetful, client, sessions[client])
        assert found.options == anew.options
        assert found.shown.missing == anew.shown.missing
        assert attrs.asdict(found.profile) == attrs.asdict(anew.profile)
        assert found.commands == anew.commands
