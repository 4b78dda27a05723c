from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentoml import assets
from agentoml.config.documents import document
from agentoml.config.layers import Chosen, Reading, named, own_config, presets, read
from agentoml.config.merge import merge
from agentoml.config.parse import parse_all
from agentoml.config.problems import Problem
from agentoml.config.structure import structure
from agentoml.errors import ConfigError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and a working directory beside it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


def write(name: str, content: str) -> Path:
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return file


def extends(*names: str) -> str:
    return "extends = [" + ", ".join(f'"{name}"' for name in names) + "]\n"


def names(reading: Reading) -> list[str]:
    return [text.name for text in reading.texts]


def problems(reading: Reading) -> list[Problem]:
    return [problem for table in parse_all(reading) for problem in table.problems]


def test_the_shipped_sets_stand_beneath_the_named_file() -> None:
    write("agent.toml", "schema = 1\n")
    reading = read("agent.toml")

    assert [(text.name, text.layer) for text in reading.texts] == [("built-in", "built-in"), ("agent.toml", "named")]


def test_without_a_name_it_is_the_offline_preset() -> None:
    reading = read()

    assert names(reading) == ["built-in", "preset:offline"]
    assert problems(reading) == []


def test_a_file_of_the_working_directory_is_never_used_unless_named() -> None:
    write("agent.toml", "schema = 1\n")
    write(".agentoml/agent.toml", "schema = 1\n")

    assert names(read()) == ["built-in", "preset:offline"]


def test_the_users_own_file_comes_first_where_there_is_one(home: Path) -> None:
    file = write(str(home / ".config/agentoml/agent.toml"), "schema = 1\n")
    assert names(read()) == ["built-in", str(file)]


def test_the_users_own_file_is_where_xdg_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert own_config() == tmp_path / "xdg/agentoml/agent.toml"

    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert own_config() == tmp_path / "home/.config/agentoml/agent.toml"


def test_a_file_that_was_looked_for_is_watched_also_when_it_is_not_there(home: Path) -> None:
    assert home / ".config/agentoml/agent.toml" in read().files


def test_a_broken_own_file_is_not_replaced_by_the_preset(home: Path) -> None:
    own = home / ".config/agentoml/agent.toml"
    own.parent.mkdir(parents=True)
    own.symlink_to("nowhere.toml")

    assert [problem.code for problem in problems(read())] == ["AGT001"]


def test_what_is_extended_stands_directly_beneath_depth_first() -> None:
    write("agent.toml", extends("a.toml", "sub/b.toml"))
    write("a.toml", extends("preset:offline"))
    write("sub/b.toml", extends("c.toml"))
    write("sub/c.toml", "schema = 1\n")

    assert names(read("agent.toml"))[1:] == ["preset:offline", "a.toml", "sub/c.toml", "sub/b.toml", "agent.toml"]


def test_a_file_that_is_reached_twice_counts_where_it_first_stands() -> None:
    write("agent.toml", extends("a.toml", "b.toml"))
    write("a.toml", extends("base.toml"))
    write("b.toml", extends("./base.toml"))
    write("base.toml", "schema = 1\n")

    assert names(read("agent.toml"))[1:] == ["base.toml", "a.toml", "b.toml", "agent.toml"]


def test_a_circle_is_told_with_every_file_and_line() -> None:
    write("a.toml", "schema = 1\n" + extends("b.toml"))
    write("b.toml", extends("c.toml"))
    write("c.toml", "\n\n" + extends("a.toml"))
    reading = read("a.toml")

    (problem,) = problems(reading)
    assert (problem.code, problem.file, problem.line) == ("AGT302", "c.toml", 3)
    assert [(note.file, note.line) for note in problem.related] == [("a.toml", 2), ("b.toml", 1), ("c.toml", 3)]
    assert names(reading)[1:] == ["c.toml", "b.toml", "a.toml"]


def test_a_file_that_extends_itself_is_a_circle() -> None:
    write("a.toml", extends("./a.toml"))
    assert [problem.code for problem in problems(read("a.toml"))] == ["AGT302"]


def test_ten_deep_is_deep_enough() -> None:
    for number in range(13):
        write(f"{number}.toml", extends(f"{number + 1}.toml"))
    write("13.toml", "schema = 1\n")

    (problem,) = problems(read("0.toml"))
    assert (problem.code, problem.file) == ("AGT303", "10.toml")
    assert problems(read("3.toml")) == []


def test_a_missing_target_blames_the_line_that_names_it_and_is_watched() -> None:
    write("agent.toml", 'schema = 1\n\nextends = [\n  "preset:offline",\n  "team/base.toml",\n]\n')
    reading = read("agent.toml")

    (problem,) = problems(reading)
    assert (problem.code, problem.file, problem.line, problem.column) == ("AGT301", "agent.toml", 5, 3)
    assert Path("team/base.toml").absolute() in reading.files
    assert names(reading)[1:] == ["preset:offline", "agent.toml"]


def test_a_broken_file_beneath_is_watched_and_its_own_lines_are_blamed() -> None:
    write("agent.toml", extends("base.toml"))
    write("base.toml", "[agent\n")
    reading = read("agent.toml")

    (problem,) = problems(reading)
    assert (problem.code, problem.file, problem.line) == ("AGT012", "base.toml", 1)
    assert Path("base.toml").absolute() in reading.files


def test_what_a_broken_file_extends_is_read_all_the_same() -> None:
    write("agent.toml", extends("base.toml") + "x = y\n")
    write("base.toml", "schema = 1\n")

    assert names(read("agent.toml"))[1:] == ["base.toml", "agent.toml"]


@pytest.mark.parametrize("name", ["preset:offlien", "preset:../configs/offline", "preset:built-in", "preset:"])
def test_only_shipped_presets_are_presets(name: str) -> None:
    write("agent.toml", extends(name))

    assert [problem.code for problem in problems(read("agent.toml"))] == ["AGT301"]
    assert [problem.code for problem in problems(read(name))] == ["AGT301"]


@pytest.mark.parametrize("name", ["empty", "nothing.toml", "a\\u0000b", "x" * 300])
def test_what_cannot_be_read_is_a_problem_never_a_crash(name: str) -> None:
    Path("empty").mkdir()
    write("agent.toml", extends(name))
    assert [problem.code for problem in problems(read("agent.toml"))] == ["AGT301"]


def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("pipe.toml")
    assert [problem.code for problem in problems(read("pipe.toml"))] == ["AGT001"]


def test_a_named_file_that_is_not_there_suggests_its_neighbour() -> None:
    write("agent.toml", "schema = 1\n")
    (problem,) = problems(read("agnet.toml"))

    assert problem.hint == "did you mean `agent.toml`?"
    assert problem.one_line().startswith("agnet.toml: error[AGT001]")


@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ("agent", "did you mean `agent.toml`?"),
        ("agent.tml", "did you mean `agent.toml`?"),
        ("agent.json", "`agentoml init minimal DIRECTORY` writes one to begin with"),
    ],
)
def test_what_is_not_there_has_a_remedy_the_nearest_name_or_a_template(named: str, hint: str) -> None:
    write("agent.toml", "schema = 1\n")
    (problem,) = problems(read(named))

    assert problem.hint == hint


def test_a_very_large_file_is_not_read() -> None:
    with Path("agent.toml").open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    (problem,) = problems(read("agent.toml"))

    assert problem.code == "AGT001"
    assert "32 MiB" in problem.message


def test_text_files_belong_to_the_file_that_names_them() -> None:
    write("agent.toml", extends("team/base.toml"))
    write("team/base.toml", '[agent]\ninstructions = { file = "prompts/base.md" }\n')
    prompt = write("team/prompts/base.md", "Be kind.\n")
    reading = read("agent.toml")

    assert reading.texts[1].included == {"prompts/base.md": "Be kind.\n"}
    assert prompt.absolute() in reading.files
    assert problems(reading) == []


def test_text_files_are_found_wherever_a_text_may_stand_and_nowhere_else() -> None:
    write("agent.toml", """
modes.plan.set.instructions_append = { file = "a.md" }
options.x.values.y.set = { reminder = { file = "b.md" } }
commands.review.prompt = { file = "c.md" }
providers.p.api_key = { file = "key.txt" }
agent.params.prompt = { file = "d.md" }
""")  # fmt: skip
    reading = read("agent.toml")

    assert {file.name for file in reading.files} == {"built-in.toml", "agent.toml", "a.md", "b.md", "c.md"}
    assert [problem.key for problem in problems(reading)] == [
        "modes.plan.set.instructions_append.file",
        "options.x.values.y.set.reminder.file",
        "commands.review.prompt.file",
    ]


def test_a_text_file_that_is_not_text_is_a_problem() -> None:
    write("agent.toml", 'agent.instructions = { file = "a.md" }\n')
    Path("a.md").write_bytes(b"\xff\xfe")

    (problem,) = problems(read("agent.toml"))
    assert (problem.code, problem.line, problem.column) == ("AGT306", 1, 31)


def test_a_link_is_followed_and_its_own_name_is_watched(tmp_path: Path) -> None:
    write(str(tmp_path / "real/agent.toml"), extends("base.toml"))
    write("base.toml", "schema = 1\n")
    Path("agent.toml").symlink_to(tmp_path / "real/agent.toml")
    reading = read("agent.toml")

    assert names(reading)[1:] == ["base.toml", "agent.toml"]
    assert Path("agent.toml").absolute() in reading.files


def test_every_shipped_preset_can_be_named() -> None:
    assert "offline" in presets()
    for preset in presets():
        assert problems(read(f"preset:{preset}")) == []


def test_a_preset_is_named_with_its_prefix_wherever_one_is() -> None:
    assert named("preset:offline") == Path("preset:offline")
    assert named("agent.toml") == Path.cwd() / "agent.toml"
    assert names(read(named("preset:offline"))) == ["built-in", "preset:offline"]

    (problem,) = problems(read(named("offline")))
    assert (problem.code, problem.hint) == ("AGT001", "the preset is `preset:offline`")


def test_what_stands_beside_a_preset_is_called_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("configs/built-in.toml", "schema = 1\n")
    write("configs/ours.toml", extends("parts/models.toml"))
    part = write("configs/parts/models.toml", "schema = 1\n")
    monkeypatch.setattr(assets, "folder", lambda name: Path.cwd() / name)

    assert names(read("preset:ours")) == ["built-in", str(part.absolute()), "preset:ours"]


# ------------------------------------------------------------------------------------------ the order of layers


def layers(reading: Reading) -> list[tuple[str, str]]:
    return [(Path(text.name).name, text.layer) for text in reading.texts[1:]]


def test_the_own_configuration_lies_beneath_the_named_one_and_settings_above_all(home: Path) -> None:
    own = write(str(home / ".config/agentoml/agent.toml"), extends("mine.toml"))
    write(str(own.parent / "mine.toml"), "schema = 1\n")
    write("team.toml", extends("base.toml"))
    write("base.toml", "schema = 1\n")
    reading = read(Chosen("team.toml", ("agent.model=opus", "agent.name=x")))

    assert layers(reading) == [
        ("mine.toml", "user"), ("agent.toml", "user"), ("base.toml", "named"), ("team.toml", "named"),
        ("--set agent.model", "set"), ("--set agent.name", "set"),
    ]  # fmt: skip
    assert {own, own.parent / "mine.toml", Path("base.toml").absolute()} <= set(reading.files)


def test_what_two_layers_extend_stands_beneath_both(home: Path) -> None:
    write(str(home / ".config/agentoml/agent.toml"), extends("preset:offline"))
    write("team.toml", extends("preset:offline"))

    assert [name for name, _ in layers(read("team.toml"))].count("preset:offline") == 2


def test_the_own_configuration_named_is_one_layer(home: Path) -> None:
    own = write(str(home / ".config/agentoml/agent.toml"), "schema = 1\n")
    assert layers(read(own)) == [("agent.toml", "user")]


def test_a_directory_stands_for_its_agent_toml() -> None:
    write("team/agent.toml", extends("parts"))
    write("team/parts/agent.toml", "schema = 1\n")

    assert names(read("team"))[1:] == ["team/parts/agent.toml", "team/agent.toml"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("agent.model=opus", {"agent": {"model": "opus"}}),
        ('models."acme/big".limit.context = 5', {"models": {"acme/big": {"limit": {"context": 5}}}}),
        ("agent.tools.add=['a']", {"agent": {"tools": {"add": ["a"]}}}),
        ("agent.title=a = b", {"agent": {"title": "a = b"}}),
        ("agent.title=true\nx = 1", {"agent": {"title": "true\nx = 1"}}),
        ('agent.title=say "hi" \\ \x7f', {"agent": {"title": 'say "hi" \\ \x7f'}}),
        ("agent.instructions={ file = 'a.md' }", {"agent": {"instructions": {"file": "a.md"}}}),
    ],
)
def test_a_setting_is_toml_or_else_a_string(setting: str, said: dict[str, object]) -> None:
    (text,) = read(Chosen("preset:offline", (setting,))).texts[2:]
    assert document(text.content).values == said


def test_of_several_settings_of_a_key_the_last_counts() -> None:
    reading = read(Chosen("preset:offline", ("agent.model=a", "agent.model=b")))
    assert [text.content for text in reading.texts[2:]] == [b'agent.model = "b"\n']


@pytest.mark.parametrize("setting", ["agent.model", "=x", "a b=1", "[agent]\nmodel=x", "a=1\nb", "#=1"])
def test_what_is_no_setting_is_a_problem(setting: str) -> None:
    found = problems(read(Chosen("preset:offline", (setting,))))
    assert [problem.code for problem in found] in (["AGT308"], [])
    assert found or setting == "a=1\nb"


def test_a_problem_of_a_setting_is_told_at_the_setting() -> None:
    with pytest.raises(ConfigError) as caught:
        structure(merge(parse_all(read(Chosen("preset:offline", ("agent.modell=opus",))))))
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.source_line) == ("--set agent.modell", 1, 'agent.modell = "opus"')
