"""[catalogs]: every source of models, what is taken of it, and where it stands among what is written."""

from __future__ import annotations

import datetime
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from agentoml.config import layers, merge, parse
from agentoml.config.catalogs.cost_map import MAP, litellm_models
from agentoml.config.catalogs.lists import dumped, list_file, list_file_of, provided_models
from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.write import replace_file
from agentoml.snapshot.build import Built, build
from agentoml.snapshot.resolve import ClientFacts, RenderedOption, resolve
from agentoml.snapshot.selections import Refused, Selections, pick
from agentoml.snapshot.snapshot import Snapshot

CLIENT = ClientFacts(name="test", booleans=True, trusted=True, credentials=frozenset({"p", "q"}))
HEAD = """schema = 1
[providers.p]
adapter = "scripted"
[providers.q]
adapter = "scripted"
name = "Quick"
"""


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


def model(key: str, more: str = "", provider: str = "p") -> str:
    return f'[models."{key}"]\nprovider = "{provider}"\n{more}\n'


def written(folder: Path, text: str, **catalogs: str) -> Path:
    """A configuration and the catalog files beside it."""
    for name, content in catalogs.items():
        (folder / f"{name}.toml").write_text(content, encoding="utf-8")
    config = folder / "agent.toml"
    config.write_text(HEAD + text, encoding="utf-8")
    return config


def compiled(folder: Path, text: str, **catalogs: str) -> Snapshot:
    built = build(written(folder, text, **catalogs))
    assert built.snapshot is not None, [problem.one_line() for problem in built.problems]
    return built.snapshot


def problems(built: Built) -> list[str]:
    return [problem.one_line() for problem in built.problems]


def model_option(snapshot: Snapshot) -> RenderedOption:
    option = resolve(snapshot, CLIENT, Selections()).option("model")
    assert option is not None
    return option


def offered(snapshot: Snapshot) -> list[str]:
    return [value.value for value in model_option(snapshot).values]


OPTION = '[options.model]\nvalues_from = "models"\n'

# ------------------------------------------------------------------------------------------------- files


def test_a_file_gives_its_models_in_its_order(tmp_path: Path) -> None:
    snapshot = compiled(tmp_path, '[catalogs.x]\nfile = "x.toml"\n', x=model("b", 'name = "Bee"') + model("a"))
    assert list(snapshot.models) == ["b", "a"]
    assert snapshot.models["b"].name == "Bee"


def test_several_files_are_one_catalog_and_the_later_says_more(tmp_path: Path) -> None:
    text = '[catalogs.x]\nfile = ["x.toml", "y.toml"]\n'
    snapshot = compiled(tmp_path, text, x=model("a") + model("b"), y=model("c") + model("a", 'name = "Ay"'))
    assert list(snapshot.models) == ["a", "b", "c"]
    assert snapshot.models["a"].name == "Ay"


def test_a_file_counts_from_the_file_that_names_it(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "base.toml").write_text('schema = 1\n[catalogs.x]\nfile = "x.toml"\n', encoding="utf-8")
    (folder / "x.toml").write_text(model("a"), encoding="utf-8")
    config = tmp_path / "agent.toml"
    config.write_text(HEAD.replace("schema = 1", 'schema = 1\nextends = ["team/base.toml"]'), encoding="utf-8")
    built = build(config)
    assert built.snapshot is not None and list(built.snapshot.models) == ["a"]
    assert folder / "x.toml" in built.reading.files


def test_what_is_written_in_the_configuration_comes_first_and_decorates(tmp_path: Path) -> None:
    text = model("mine") + '[models.b]\nname = "Renamed"\n[catalogs.x]\nfile = "x.toml"\n'
    snapshot = compiled(tmp_path, text, x=model("a") + model("b", "limit.context = 7"))
    assert list(snapshot.models) == ["mine", "a", "b"]
    assert (snapshot.models["b"].name, snapshot.models["b"].limit.context) == ("Renamed", 7)


def test_a_catalog_has_nothing_but_models(tmp_path: Path) -> None:
    config = written(tmp_path, '[catalogs.x]\nfile = "x.toml"\n', x=model("a") + "[modes.plan]\n")
    [problem] = problems(build(config))
    assert "x.toml:4:2" in problem and "no `modes`" in problem


def test_a_wrong_key_in_a_catalog_is_named_with_its_place_there(tmp_path: Path) -> None:
    config = written(tmp_path, '[catalogs.x]\nfile = "x.toml"\n', x=model("a", "contxt = 1"))
    [problem] = problems(build(config))
    assert "x.toml:3:1" in problem and "contxt" in problem


def test_a_file_that_is_not_there_is_a_problem_where_it_is_named_and_is_watched(tmp_path: Path) -> None:
    built = build(written(tmp_path, '[catalogs.x]\nfile = ["x.toml", "teem.toml"]\n', x=model("a"), team=model("b")))
    [problem] = problems(built)
    assert "agent.toml:8:19" in problem and "teem.toml can't be read" in problem and "`team.toml`" in problem
    assert tmp_path / "teem.toml" in built.reading.files


# ------------------------------------------------------------------------------------ include and exclude


@pytest.mark.parametrize(
    ("globs", "kept"),
    [
        ('include = "team/*"', ["team/big", "team/small-preview"]),
        ('include = ["team/*", "!*-preview"]', ["team/big"]),
        ('exclude = "*-preview"', ["team/big", "other/one"]),
        ('include = "team/*"\nexclude = ["*-preview"]', ["team/big"]),
        ('include = ["!other/*"]', ["team/big", "team/small-preview"]),
        ("include = []", []),
    ],
)
def test_include_and_exclude_are_globs_over_the_keys(tmp_path: Path, globs: str, kept: list[str]) -> None:
    catalog = "".join(map(model, ("team/big", "team/small-preview", "other/one")))
    assert list(compiled(tmp_path, f'[catalogs.x]\nfile = "x.toml"\n{globs}\n', x=catalog).models) == kept


def test_what_is_excluded_is_not_there_for_an_option_either(tmp_path: Path) -> None:
    text = f'{OPTION}default = "a"\n[catalogs.x]\nfile = "x.toml"\nexclude = "a"\n'
    [problem] = problems(build(written(tmp_path, text, x=model("a") + model("b"))))
    assert '"a" is no value of the option "model"' in problem


# ------------------------------------------------------------- grouping, order, aliases, hidden, deprecated


def test_models_of_a_catalog_are_grouped_by_provider_under_its_name(tmp_path: Path) -> None:
    text = f'{OPTION}group_by = "provider"\n[catalogs.x]\nfile = "x.toml"\n'
    option = model_option(compiled(tmp_path, text, x=model("a") + model("b", provider="q") + model("c")))
    assert [(value.value, value.group, value.group_name) for value in option.values] == [
        ("a", "p", "p"),
        ("c", "p", "p"),
        ("b", "q", "Quick"),
    ]


@pytest.mark.parametrize(
    ("order", "expected"),
    [("declared", ["m", "z", "a"]), ("name", ["a", "m", "z"]), ("newest", ["a", "m", "z"])],
)
def test_models_of_a_catalog_are_offered_in_the_wanted_order(tmp_path: Path, order: str, expected: list[str]) -> None:
    catalog = model("m", "released = 2026-01-01") + model("z") + model("a", "released = 2026-05-01")
    text = f'{OPTION}order = "{order}"\n[catalogs.x]\nfile = "x.toml"\n'
    assert offered(compiled(tmp_path, text, x=catalog)) == expected


def test_an_alias_in_a_catalog_resolves_in_files_and_in_sessions(tmp_path: Path) -> None:
    text = f'{OPTION}default = "old"\n[catalogs.x]\nfile = "x.toml"\n'
    snapshot = compiled(tmp_path, text, x=model("a") + model("new", 'aliases = ["old"]'))
    assert model_option(snapshot).current == "new"
    picked = pick(snapshot, CLIENT, Selections(), "model", "old", now=0.0)
    assert resolve(snapshot, CLIENT, picked).profile.model == "new"


def test_a_key_that_is_only_listed_gives_way_to_the_model_that_has_it_as_an_alias(tmp_path: Path) -> None:
    listed_by_p(tmp_path, {"sonnet-4": {}, "sonnet-5": {}})
    text = LISTED_HEAD + model("sonnet", 'aliases = ["sonnet-4"]')
    assert list(listed_snapshot(tmp_path, text).models) == ["sonnet", "sonnet-5"]


def test_a_hidden_model_is_not_offered_but_can_be_the_written_default(tmp_path: Path) -> None:
    catalog = model("a", "hidden = true") + model("b") + model("c", 'status = "hidden"') + model("d")
    snapshot = compiled(tmp_path, f'{OPTION}[catalogs.x]\nfile = "x.toml"\n', x=catalog)
    assert offered(snapshot) == ["b", "d"]
    with pytest.raises(Refused):
        pick(snapshot, CLIENT, Selections(), "model", "c", now=0.0)
    option = model_option(compiled(tmp_path, f'{OPTION}default = "c"\n[catalogs.x]\nfile = "x.toml"\n', x=catalog))
    assert (option.current, [value.value for value in option.values]) == ("c", ["b", "c", "d"])


def test_a_deprecated_model_is_offered_and_told_apart_by_a_filter(tmp_path: Path) -> None:
    catalog = model("a", 'status = "deprecated"') + model("b", 'status = "stable"')
    text = f'{OPTION}%s[catalogs.x]\nfile = "x.toml"\n'
    assert offered(compiled(tmp_path, text % "", x=catalog)) == ["a", "b"]
    assert offered(compiled(tmp_path, text % 'filter.status = "!deprecated"\n', x=catalog)) == ["b"]


# ------------------------------------------------------------------------------------- lists of providers

LISTED_HEAD = """schema = 1
[providers.p]
adapter = "openai"
base_url = "http://127.0.0.1:9/v1"
[catalogs.listed]
discover = "p"
"""
LIST_OF_P = ("p", "openai", "http://127.0.0.1:9/v1", None)


def listed_by_p(folder: Path, models: dict[str, Any]) -> Path:
    file = list_file(*LIST_OF_P)
    replace_file(file, dumped(models, provider="p", fetched=datetime.datetime.now(tz=datetime.UTC)))
    return file


def listed_snapshot(folder: Path, text: str) -> Snapshot:
    config = folder / "agent.toml"
    config.write_text(text, encoding="utf-8")
    built = build(config)
    assert built.snapshot is not None, problems(built)
    return built.snapshot


def test_a_list_on_disk_gives_its_models_without_asking_anybody(tmp_path: Path) -> None:
    listed_by_p(tmp_path, {"b": {"name": "Bee", "released": "2026-05-06", "limit": {"context": 9}}, "a": {}})
    snapshot = listed_snapshot(tmp_path, LISTED_HEAD)
    assert list(snapshot.models) == ["b", "a"]
    bee = snapshot.models["b"]
    assert (bee.name, bee.provider, bee.id, bee.limit.context) == ("Bee", "p", "b", 9)
    assert snapshot.discover == ("p",)


def test_where_nothing_is_listed_yet_there_are_no_models_and_the_list_is_watched(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(LISTED_HEAD, encoding="utf-8")
    built = build(config)
    assert built.snapshot is not None and not built.snapshot.models
    assert list_file(*LIST_OF_P) in built.reading.files


def test_include_and_exclude_choose_from_a_list(tmp_path: Path) -> None:
    listed_by_p(tmp_path, {"big": {}, "small": {}, "text-embedding": {}})
    assert list(listed_snapshot(tmp_path, LISTED_HEAD + 'include = "*"\nexclude = ["*embed*", "b*"]\n').models) == [
        "small"
    ]


def test_a_table_in_the_configuration_says_more_about_a_listed_model(tmp_path: Path) -> None:
    listed_by_p(tmp_path, {"a": {}, "b": {}})
    text = LISTED_HEAD + '[models.b]\nname = "Bee"\nreasoning = { values = ["low", "high"] }\n'
    snapshot = listed_snapshot(tmp_path, text)
    assert list(snapshot.models) == ["a", "b"]
    assert (snapshot.models["b"].name, snapshot.models["b"].levels) == ("Bee", ("low", "high"))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"models": 1}', b'{"models": {"a": 1, "": {}, "x*": {}}}'])
def test_a_damaged_list_gives_no_models_and_no_problems(content: bytes) -> None:
    assert provided_models(content, "p") == {}


def test_odd_entries_of_a_list_lose_what_is_odd() -> None:
    odd = {"name": "\x1b[31m", "released": "soon", "limit": {"context": -1, "x": 1}, "cost": {"input": "free"}}
    content = dumped({"a": odd}, provider="p", fetched=datetime.datetime.now(tz=datetime.UTC))
    assert provided_models(content, "p") == {"a": {"provider": "p"}}


def test_another_destination_or_credential_has_another_list(tmp_path: Path) -> None:
    places = {
        list_file(*LIST_OF_P),
        list_file("q", "openai", "http://127.0.0.1:9/v1", None),
        list_file("p", "openai", "http://127.0.0.1:8/v1", None),
        list_file("p", "openai", "http://127.0.0.1:9/v1", {"env": "KEY"}),
        list_file("p", "openai", "http://127.0.0.1:9/v1", {"env": "OTHER"}),
    }
    assert len(places) == 5


@pytest.mark.parametrize("key", ['{ env = "K" }', '{ file = "key.txt" }', '{ command = ["op", "read", "x"] }'])
def test_the_reader_and_the_writer_of_a_list_agree_on_its_place(tmp_path: Path, key: str) -> None:
    snapshot = listed_snapshot(tmp_path, LISTED_HEAD.replace("[catalogs", f"api_key = {key}\n[catalogs"))
    reading = with_catalogs(layers.read(tmp_path / "agent.toml"))
    assert reading.catalogs[0].text.path == list_file_of("p", snapshot.providers["p"])


# ---------------------------------------------------------------------------------------- litellm's cost map


def test_the_cost_map_gives_the_models_of_declared_providers_alone(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("litellm")
    assert spec is not None and spec.origin is not None
    known = json.loads((Path(spec.origin).parent / MAP).read_text(encoding="utf-8"))
    text = 'schema = 1\n[providers.o]\nadapter = "openai"\n[providers.b]\nadapter = "litellm/bedrock"\n'
    text += '[catalogs.map]\nbundled = "litellm"\n'
    snapshot = listed_snapshot(tmp_path, text)
    assert {one.provider for one in snapshot.models.values()} == {"o", "b"}
    assert all(known[key]["mode"] in ("chat", "responses") for key in snapshot.models)
    assert len(snapshot.models) > 100
    only = listed_snapshot(tmp_path, text + 'include = "gpt-*"\nexclude = "*-audio*"\n')
    assert only.models and all(key.startswith("gpt-") and "-audio" not in key for key in only.models)


def test_an_entry_of_the_cost_map_becomes_a_model() -> None:
    entry = {
        "litellm_provider": "openai",
        "mode": "chat",
        "max_input_tokens": 1000,
        "max_output_tokens": 100,
        "input_cost_per_token": 3e-06,
        "output_cost_per_token": 1.5e-05,
        "supports_function_calling": True,
        "supports_vision": False,
        "supports_reasoning": True,
        "supports_xhigh_reasoning_effort": True,
        "deprecation_date": "2026-01-01",
    }
    content = json.dumps({"openai/m": entry, "sample_spec": {"mode": "chat"}, "e": {**entry, "mode": "embedding"}})
    assert litellm_models(content.encode(), (("openai", "mine"),), "2026-06-01") == {
        "openai/m": {
            "provider": "mine",
            "id": "m",
            "limit": {"context": 1000, "output": 100},
            "cost": {"input": 3.0, "output": 15.0},
            "capabilities": ["tools", "reasoning"],
            "reasoning": {"values": ["low", "medium", "high", "xhigh"]},
            "status": "deprecated",
        }
    }


def test_a_damaged_cost_map_gives_no_models() -> None:
    assert litellm_models(b"{", (("openai", "p"),), "2026-06-01") == {}
    assert litellm_models(b"[]", (("openai", "p"),), "2026-06-01") == {}


# -------------------------------------------------------------------------------------------------- reading


def test_a_configuration_without_catalogs_reads_nothing_more(tmp_path: Path) -> None:
    reading = layers.read(written(tmp_path, model("a")))
    assert with_catalogs(reading) is reading


def test_an_edited_catalog_is_another_table_and_one_saved_as_it_was_is_not(tmp_path: Path) -> None:
    config = written(tmp_path, '[catalogs.x]\nfile = "x.toml"\n', x=model("a"))
    before = merge.merge(parse.parse_all(with_catalogs(layers.read(config))))
    (tmp_path / "x.toml").write_text(model("a"), encoding="utf-8")
    assert merge.merge(parse.parse_all(with_catalogs(layers.read(config)))).table == before.table
    (tmp_path / "x.toml").write_text(model("a") + model("b"), encoding="utf-8")
    assert merge.merge(parse.parse_all(with_catalogs(layers.read(config)))).table != before.table
