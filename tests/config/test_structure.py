from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentoml.config import schema
from agentoml.config.layers import read
from agentoml.config.merge import merge
from agentoml.config.parse import parse, parse_all
from agentoml.config.problems import CODES, Problem
from agentoml.config.structure import structure
from agentoml.config.structuring.converter import converter
from agentoml.config.texts import Text
from agentoml.config.vocabulary.notation import ListEdit, Secret, TextFile
from agentoml.config.vocabulary.profile import ProfileKeys
from agentoml.errors import ConfigError

SHARED = Path(__file__).parents[3] / "shared"
CASES = sorted(SHARED.glob("cases/*/agent.toml"))


def config(*texts: str | bytes, **included: str) -> schema.Config:
    raw = [text if isinstance(text, bytes) else text.encode() for text in texts]
    return structure(merge([parse(Text(f"{i}.toml", text, None, included=included)) for i, text in enumerate(raw)]))


def problems(*texts: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        config(*texts)
    return caught.value.problems


def ungated(text: str) -> schema.Config:
    """The configuration as it will be read once nothing waits for a later version."""
    structured = converter(gates=False).structure(
        dict(parse(Text("a.toml", text.encode(), None)).values), schema.Config
    )
    assert isinstance(structured, schema.Config)
    return structured


def test_every_notation_becomes_its_class() -> None:
    found = config(
        """
        [agent]
        instructions = { file = "base.md" }
        tools = ["kind:read", "!shell"]
        permissions = "standard"
        auto_answers.add = ["never-ask"]
        params = { temperature = 0.2, stop = ["a"], thinking = { budget = 1 } }
        [providers.p]
        adapter = "openai"
        api_key = { env = "KEY" }
        timeout = { connect = "500ms", idle = "1.5m" }
        [models.m]
        cost = { input = 3, output = 15.0 }
        [options.x]
        default = ["a", { when = { mode = "plan" }, value = "b" }]
        when = { client = ["zed*", "!zed-preview"], trusted = true }
        """,
        **{"base.md": "Be kind."},
    )

    assert found.agent.instructions == TextFile("base.md", "Be kind.")
    assert found.agent.tools == ListEdit(replace=("kind:read", "!shell"))
    assert found.agent.permissions == ListEdit(replace=("standard",))
    assert found.agent.auto_answers == ListEdit(add=("never-ask",))
    assert found.agent.params == {"temperature": 0.2, "stop": ["a"], "thinking": {"budget": 1}}
    assert found.providers["p"].api_key == Secret(env="KEY")
    assert found.providers["p"].timeout == schema.Timeout(connect=0.5, idle=90.0)
    assert found.models["m"].cost == schema.Cost(input=3.0, output=15.0)
    assert type(found.models["m"].cost.input) is float
    assert found.options["x"].default == ("a", schema.ConditionalDefault(value="b", when={"mode": ("plan",)}))
    assert found.options["x"].when == {"client": ("zed*", "!zed-preview"), "trusted": True}


def test_what_is_not_written_is_not_given() -> None:
    found = config("schema = 1\n")

    assert found == schema.Config()
    assert attrs.asdict(found.agent) == attrs.asdict(schema.Agent())


def test_dates_are_dates_also_in_quotes() -> None:
    found = ungated('[models.a]\nreleased = 2026-09-29\n[models.b]\nreleased = "2026-09-29"\n')
    assert {model.released for model in found.models.values()} == {datetime.date(2026, 9, 29)}


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("500ms", 0.5), ("10s", 10), ("5m", 300), ("1h", 3600), ("2d", 172800), ("0.25s", 0.25), ("0s", 0)],
)
def test_a_duration_is_a_number_and_a_unit(written: str, seconds: float) -> None:
    found = config(f'[providers.p]\nadapter = "scripted"\ntimeout.idle = "{written}"\n')
    assert found.providers["p"].timeout.idle == pytest.approx(seconds)


@pytest.mark.parametrize(
    "written", ['"10"', "10", "10.5", '"10 s"', '"-1s"', '"1h30m"', '"10S"', '""', '"٣s"', "true", "[]"]
)
def test_anything_else_is_not_a_duration(written: str) -> None:
    (problem,) = problems(f'[providers.p]\nadapter = "scripted"\ntimeout.idle = {written}\n')
    assert (problem.code, problem.key) == ("AGT106", "providers.p.timeout.idle")


# What each type takes, as TOML writes it; everything else is refused, however near it is.
VALUES = {
    "a string": '"3"', "a whole number": "3", "a number": "3.0", "a boolean": "true", "a list": '["3"]',
    "a list of numbers": "[3]", "a table": "{ x = 3 }", "a date": "2026-01-01", "a time": "10:00:00",
}  # fmt: skip
TAKEN = {
    "agent.name": {"a string"},
    "models.m.limit.context": {"a whole number"},
    "models.m.cost.input": {"a whole number", "a number"},
    "models.m.capabilities": set(),
    "models.m.provider": {"a string"},
    "options.o.values_from": set(),
    "options.o.on": set(),
    "permissions.p.rules.r": set(),
    "agent.tools": {"a string", "a list"},
    "agent.params": {"a table"},
    "agent.params.x": {"a string", "a whole number", "a number", "a boolean", "a list", "a list of numbers", "a table"},
    "modes.m.preselect.x": {"a string", "a boolean"},
    "modes.m.when.x": {"a string", "a boolean", "a list"},
    "providers.p.api_key": set(),
}


@pytest.mark.parametrize("key", TAKEN)
@pytest.mark.parametrize("kind", VALUES)
def test_nothing_is_converted(key: str, kind: str) -> None:
    text = (
        f'[providers.p]\nadapter = "openai"\n{key} = {VALUES[kind]}\n'
        if "providers" in key
        else f"{key} = {VALUES[kind]}\n"
    )
    text = text.replace("providers.p.api_key", "api_key")
    if kind in TAKEN[key]:
        config(text)
    else:
        assert all(problem.key.startswith(key) for problem in problems(text))


def test_everything_wrong_is_told_at_once() -> None:
    found = problems(
        """
        nmae = 1
        [agent]
        name = 3
        titel = "x"
        [models.a]
        limit = { context = "x", outputs = 3 }
        [modes.b.set]
        tools = [3, "shell", true]
        [options.c]
        default = { value = 1, whne = {} }
        """
    )

    assert [(problem.code, problem.key) for problem in found] == [
        ("AGT101", "nmae"),
        ("AGT102", "agent.name"),
        ("AGT101", "agent.titel"),
        ("AGT102", "models.a.limit.context"),
        ("AGT101", "models.a.limit.outputs"),
        ("AGT102", "modes.b.set.tools[0]"),
        ("AGT102", "modes.b.set.tools[2]"),
        ("AGT102", "options.c.default.value"),
        ("AGT101", "options.c.default.whne"),
    ]


def test_a_broken_statement_makes_no_follow_on_problems() -> None:
    found = problems(
        "[providers.p]\nadapter = scripted\n[permissions.x]\nrules.a = { tool = 'shell' }\n[agent]\nnmae = 1\n"
    )
    assert [(problem.code, problem.line) for problem in found] == [("AGT013", 2), ("AGT101", 6)]


def test_each_problem_stands_in_the_text_that_is_to_blame() -> None:
    found = problems("[models.a]\nlimit.context = 'x'\nid = 'a'\n", "[models.a]\nid = 3\nlimit.output = 5\n")
    assert [(problem.file, problem.line) for problem in found] == [("0.toml", 2), ("1.toml", 2)]


def test_a_secret_is_never_shown() -> None:
    marker = "sk-marker"
    found = problems(
        f"""
        [providers.a]
        adapter = "opnai"
        api_key = "{marker}"
        headers = {{ authorization = "Bearer {marker}", x-y = ["{marker}"] }}
        [providers.b]
        api_key = ["{marker}"]
        base_url = "ftp://user:{marker}@host/"
        [providers.c]
        adapter = "openai"
        api_key = {marker}
        [providers.d.headers]
        cookie = {marker}
        """
    )

    assert len(found) == 7
    assert marker not in str(ConfigError(found)) + repr(found)


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.parent.name)
def test_every_case_will_be_read_once_nothing_waits(file: Path) -> None:
    merged = merge(parse_all(read(file)))

    assert merged.problems == ()
    assert isinstance(converter(gates=False).structure(dict(merged.table), schema.Config), schema.Config)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the design is not here")
def test_the_vocabulary_of_the_design_is_the_one_that_is_read() -> None:
    section = (SHARED / "DESIGN.md").read_text(encoding="utf-8").split("\n## 2.")[1].split("\n## 3.")[0]
    example = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)[0].replace('extends = ["preset:coder"]', "")
    text = Text("design.toml", example.encode(), None, included={"prompts/base.md": "Be kind."})
    table = parse(text)

    assert table.problems == ()
    assert len(converter(gates=False).structure(dict(table.values), schema.Config).models) == 3


def test_every_key_of_the_vocabulary_is_documented() -> None:
    classes = [value for value in vars(schema).values() if isinstance(value, type) and attrs.has(value)]
    for cls in (*classes, ProfileKeys):
        for attribute in attrs.fields(cls):
            assert attribute.metadata.get("doc") or cls in (ListEdit, Secret, TextFile), (
                f"{cls.__name__}.{attribute.name}"
            )


# ------------------------------------------------------------------------------------------------------ fuzzing

WORDS = [
    "schema", "extends", "agent", "models", "modes", "options", "permissions", "providers", "set", "values", "default",
    "rules", "kinds", "when", "preselect", "add", "remove", "file", "instructions", "api_key", "tools", "mcp", "x",
    "reasoning", "replies", "steps", "params", "limit", "capabilities", "on", "type", "category", "commands", "timeout",
]  # fmt: skip
KEYS = st.sampled_from(WORDS) | st.text(max_size=3)
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.dates(), st.times(), st.datetimes(),
    st.sampled_from(["openai", "scripted", "models", "boolean", "deny", "10s", "!x", "kind:read", "a.md"]),
)  # fmt: skip
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
TABLES = st.dictionaries(st.sampled_from(WORDS), st.dictionaries(KEYS, TREES, max_size=4) | TREES, max_size=4)


def only_problems(*texts: bytes) -> None:
    try:
        config(*texts)
    except ConfigError as error:
        assert error.problems
        assert {problem.code for problem in error.problems} <= set(CODES)
        assert str(error)


@settings(max_examples=100)
@given(st.binary(max_size=60))
@example(b"a=[" * 1000)
@example(b"[a]\r[a]\0")
@example(b"remove = true\n")
@example(b"agent = { remove = true, add = [1] }\nagent.x = 1\n")
def test_any_bytes_give_problems_never_a_traceback(content: bytes) -> None:
    only_problems(content)


@settings(max_examples=150)
@given(st.lists(TABLES, min_size=1, max_size=3))
def test_any_tables_give_problems_never_a_traceback(tables: list[dict[str, Any]]) -> None:
    import tomli_w

    only_problems(*(b"# not empty\n" + tomli_w.dumps(table).encode() for table in tables))


@settings(max_examples=100)
@given(st.data())
def test_a_shipped_preset_with_any_bytes_put_in_gives_problems_never_a_traceback(data: st.DataObject) -> None:
    text = read("preset:offline").texts[-1].content
    at = data.draw(st.integers(0, len(text)))
    gone = data.draw(st.integers(0, 30))
    only_problems(text[:at] + data.draw(st.binary(max_size=6)) + text[at + gone :])


@pytest.mark.parametrize(("kind", "value"), [("integer", 1), ("number", 1.5), ("boolean", True), ("string", "one")])
def test_a_default_keeps_the_type_it_was_written_with(kind: str, value: object) -> None:
    parameter = converter().structure({"type": kind, "default": value}, schema.Parameter)
    assert (parameter.default, type(parameter.default)) == (value, type(value))
