from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

from agentoml.session import updates
from agentoml.session.updates import ConfigOptions
from agentoml.snapshot.build import build
from agentoml.snapshot.resolve import ClientFacts, resolve
from agentoml.snapshot.selections import Selections, pick

AGENT = """
schema = 1
[providers.p]
adapter = "scripted"
[models.a]
provider = "p"
group = "G"
[models.b]
provider = "p"
[options.model]
values_from = "models"
[options.fast]
type = "boolean"
meta = { "acme/hint" = [1, 2] }
[options.tone]
"""


def config(tmp_path: Path, tones: int = 2) -> Path:
    file = tmp_path / "agent.toml"
    file.write_text(AGENT + "".join(f"values.t{number} = {{}}\n" for number in range(tones)), encoding="utf-8")
    return file


def test_a_list_is_serialised_once_and_says_what_is_rendered(tmp_path: Path) -> None:
    snapshot = build(config(tmp_path)).snapshot
    lists, client = ConfigOptions(), ClientFacts()
    before = resolve(snapshot, client, Selections())
    assert lists.of(before) is lists.of(before)
    selections = pick(snapshot, client, Selections(), "model", "b")
    model, fast, tone = json.loads(lists.of(resolve(snapshot, client, selections)).json)
    assert (model["currentValue"], [group["name"] for group in model["options"]]) == ("b", ["model", "G"])
    assert fast == {
        "id": "fast",
        "name": "fast",
        "type": "boolean",
        "currentValue": False,
        "_meta": {"acme/hint": [1, 2]},
    }
    assert [value["value"] for value in tone["options"]] == ["t0", "t1"]


def test_few_lists_are_kept_and_none_of_a_snapshot_that_is_gone(tmp_path: Path) -> None:
    snapshot = build(config(tmp_path, tones=updates.MOST_LISTS + 20)).snapshot
    lists, client, selections = ConfigOptions(), ClientFacts(), Selections()
    for number in range(updates.MOST_LISTS + 20):
        selections = pick(snapshot, client, selections, "tone", f"t{number}")
        lists.of(resolve(snapshot, client, selections))
    assert len(lists._pieces[snapshot].lists._known) == updates.MOST_LISTS
    gone = weakref.ref(snapshot)
    del snapshot
    gc.collect()
    assert gone() is None and len(lists._pieces) == 0
