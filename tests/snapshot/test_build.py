"""What was worked out before is not worked out again, and nothing comes of it but what a fresh start gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.config.layers import Chosen
from agentoml.snapshot.build import Built, build
from agentoml.snapshot.diff import diff
from agentoml.snapshot.resolve import resolve
from agentoml.snapshot.resolving.state import ClientFacts
from agentoml.snapshot.selections import Selections

AGENT = """schema = 1
[providers.offline]
adapter = "scripted"
[providers.other]
adapter = "scripted"
name = "Other"
[options.model]
values_from = "models"
group_by = "provider"
[options.effort]
values_from = "model.reasoning"
[options.style]
values.short = { set = { model = "nick" } }
values.long = {}
[catalogs.team]
file = "team.toml"
"""

FIRST, SECOND = '[models.first]\nprovider = "offline"\n', '[models.second]\nprovider = "offline"\n'
NICK = 'aliases = ["nick"]\n'
MANY = "".join(f'[models.m{number}]\nprovider = "offline"\nname = "Model {number}"\n' for number in range(160))
"""So many that the text is read table by table."""

CATALOGS = {
    "as it is": FIRST + NICK + SECOND + MANY,
    "an alias moves": FIRST + SECOND + NICK + MANY,
    "another order": SECOND + FIRST + NICK + MANY,
    "a provider's name": FIRST + NICK + SECOND.replace("offline", "other") + MANY,
    "names that change places": (FIRST + NICK + SECOND + MANY).replace("Model 7", "Model 8", 1),
    "levels": FIRST + NICK + SECOND + '[models.second.reasoning]\nvalues = ["low", "high"]\n' + MANY,
    "a condition": FIRST + NICK + SECOND + 'when = { style = "short" }\n' + MANY,
    "what it sets": FIRST + NICK + SECOND + 'set = { summary_model = "nick" }\n' + MANY,
    "hidden": FIRST + NICK + SECOND + 'status = "hidden"\n' + MANY,
    "a star": FIRST + NICK + SECOND + '[models."x/*"]\nprovider = "other"\n' + MANY,
    "less": FIRST + NICK + MANY[: MANY.index("[models.m150]")],
    "a name that names nothing": FIRST + SECOND + MANY,
    "a model without a provider": FIRST + NICK + "[models.second]\n" + MANY,
    "another type": FIRST + NICK + SECOND + "name = 1\n" + MANY,
}


AGENTS = {
    "as it is": AGENT,
    "another name of a provider": AGENT.replace('"Other"', '"New"'),
    "a model decorated": AGENT + '[models.second]\nname = "Decorated"\nvariants.fast = {}\n',
    "a condition from elsewhere": AGENT + '[models.m7]\nwhen = { style = "short" }\n',
    "a model that forces": AGENT + "[models.first]\nset = { params = { seed = 1 } }\n",
    "an option that is forced": AGENT + "[options.seed]\nvalues.one.set.params.seed = 1\nvalues.none = {}\n",
    "fewer options": AGENT[: AGENT.index("[options.model]")] + AGENT[AGENT.index("[catalogs") :],
    "another option": AGENT.replace('"provider"\n', '"provider"\norder = "name"\nfilter.provider = "o*"\n'),
    "models left out": AGENT.replace('"team.toml"', '"team.toml"\nexclude = ["m1*"]'),
    "one model less": AGENT + "[models.m9]\nremove = true\n",
    "a value of another type": AGENT.replace("group_by", "open = 1\ngroup_by"),
}

NAMED = AGENT + '[options.sum]\nvalues_from = "models"\nsets = "summary_model"\n[models.bound]\nprovider = "offline"\n'
AGENTS |= {
    "what it preselects by an alias": NAMED + 'preselect = { sum = "nick" }\n',
    "what it sets by an alias": NAMED + 'set = { summary_model = "nick" }\n',
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "agent.toml"
    file.write_text(AGENT, encoding="utf-8")
    return file


def built(config: Path, catalog: str, before: Built | None = None) -> Built:
    (config.parent / "team.toml").write_text(f"schema = 1\n{catalog}", encoding="utf-8")
    if before is None:
        return build(Chosen(config))
    return build(Chosen(config), before=before)


@pytest.mark.parametrize(("one", "other"), [pair for pair in itertools.permutations(CATALOGS, 2) if "as it is" in pair])
def test_an_edit_gives_what_a_fresh_start_gives(config: Path, one: str, other: str) -> None:
    before = built(config, CATALOGS[one])
    if before.snapshot is None:
        return
    edited, fresh = built(config, CATALOGS[other], before), built(config, CATALOGS[other])
    assert edited.problems == fresh.problems
    if edited.snapshot is None or fresh.snapshot is None:
        assert edited.snapshot is fresh.snapshot
        return
    assert diff(edited.snapshot, fresh.snapshot) == ()
    assert list(edited.snapshot.models) == list(fresh.snapshot.models)
    shown = [resolve(snapshot, ClientFacts(), Selections()) for snapshot in (edited.snapshot, fresh.snapshot)]
    assert shown[0].options == shown[1].options


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("edited")


def given_by_edits(folder: Path, edits: Iterable[tuple[str, str]]) -> None:
    """Edit the agent and its catalog, and compare what each edit gives with what a fresh start gives."""
    config = folder / "agent.toml"
    in_force: Built | None = None
    for agent, catalog in edits:
        config.write_text(AGENTS[agent], encoding="utf-8")
        edited, fresh = built(config, CATALOGS[catalog], in_force), built(config, CATALOGS[catalog])
        assert edited.problems == fresh.problems
        if fresh.snapshot is None or fresh.linked is None:
            continue
        if edited.snapshot is not None:
            in_force = edited
        assert in_force is not None and in_force.snapshot is not None and in_force.linked is not None
        assert diff(in_force.snapshot, fresh.snapshot) == ()
        assert in_force.linked.config == fresh.linked.config
        assert in_force.linked.warnings == fresh.linked.warnings
        assert list(in_force.linked.models.items()) == list(fresh.linked.models.items())
        assert list(in_force.snapshot.options.items()) == list(fresh.snapshot.options.items())


@given(st.lists(st.tuples(st.sampled_from(sorted(AGENTS)), st.sampled_from(sorted(CATALOGS))), min_size=2, max_size=6))
@settings(max_examples=25)
def test_a_series_of_edits_gives_what_a_fresh_start_gives(folder: Path, edits: list[tuple[str, str]]) -> None:
    given_by_edits(folder, edits)


@pytest.mark.parametrize("agent", AGENTS)
def test_what_names_an_alias_that_moves_is_worked_out_again(folder: Path, agent: str) -> None:
    given_by_edits(folder, [(agent, "as it is"), (agent, "an alias moves")])


def test_a_model_that_an_edit_left_alone_is_not_worked_out_again(config: Path) -> None:
    before = built(config, CATALOGS["as it is"])
    edited = built(config, CATALOGS["names that change places"], before)
    assert before.snapshot is not None and edited.snapshot is not None
    assert edited.snapshot.models["m9"] is before.snapshot.models["m9"]
    assert edited.snapshot.model_values["m9"] is before.snapshot.model_values["m9"]
    assert edited.snapshot.models["m7"] is not before.snapshot.models["m7"]
