"""What was worked out before is not worked out again, and nothing comes of it but what a fresh start gives."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from agentoml.config.layers import Chosen
from agentoml.snapshot.build import Built, InForce, build
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


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "agent.toml"
    file.write_text(AGENT, encoding="utf-8")
    return file


def built(config: Path, catalog: str, before: Built | None = None) -> Built:
    (config.parent / "team.toml").write_text(f"schema = 1\n{catalog}", encoding="utf-8")
    if before is None:
        return build(Chosen(config))
    return build(Chosen(config), before=InForce(before.table, before.snapshot, linked=before.linked))


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(CATALOGS, 2)))
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


def test_a_model_that_an_edit_left_alone_is_not_worked_out_again(config: Path) -> None:
    before = built(config, CATALOGS["as it is"])
    edited = built(config, CATALOGS["names that change places"], before)
    assert before.snapshot is not None and edited.snapshot is not None
    assert edited.snapshot.models["m9"] is before.snapshot.models["m9"]
    assert edited.snapshot.model_values["m9"] is before.snapshot.model_values["m9"]
    assert edited.snapshot.models["m7"] is not before.snapshot.models["m7"]
