from __future__ import annotations

from pathlib import Path

import pytest

from agentoml import assets
from agentoml.cli.init import main, templates
from agentoml.cli.schema import schema_text

TEMPLATES = assets.folder("templates")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def written(template: str) -> dict[str, bytes]:
    """What is to be there: the files of the template, and the schema that its configuration names."""
    found = files(TEMPLATES / template)
    found["agent.toml"] = b"#:schema agentoml.schema.json\n" + found["agent.toml"]
    return {**found, "agentoml.schema.json": schema_text().encode()}


def test_each_template_says_what_it_is() -> None:
    assert list(templates()) == ["catalog", "mcp", "minimal", "team"]
    assert all(about.endswith(".") and "#" not in about for about in templates().values())


@pytest.mark.parametrize("template", templates())
def test_its_files_are_written_into_a_folder_that_need_not_be_there(
    template: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([template, "new/folder"]) == 0
    assert files(Path("new/folder")) == written(template)
    shown = capsys.readouterr().out
    assert all(f"wrote new/folder/{name}" in shown for name in written(template))
    assert "agentoml check new/folder/agent.toml\n" in shown
    assert f"agentoml run {Path.cwd()}/new/folder/agent.toml\n" in shown


def test_without_words_the_minimal_one_is_written_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert files(Path()) == written("minimal")
    assert "  agentoml chat agent.toml\n" in capsys.readouterr().out


@pytest.mark.parametrize("there", ["agent.toml", "models.toml", "prompts/house-rules.md"])
def test_nothing_is_written_where_any_of_the_files_is_there(there: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(there).parent.mkdir(exist_ok=True)
    Path(there).write_text("mine", encoding="utf-8")
    assert main(["team"]) == 2
    assert files(Path()) == {there: b"mine"}
    said = capsys.readouterr().err
    assert f"{there} is there already, nothing was written" in said and "agentoml init team my-agent" in said


def test_a_schema_that_is_there_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agentoml.schema.json").write_text("mine", encoding="utf-8")
    assert main([]) == 0
    assert files(Path())["agentoml.schema.json"] == b"mine"
    assert "kept agentoml.schema.json" in capsys.readouterr().out


def test_a_link_that_leads_nowhere_is_there_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agent.toml").symlink_to("nowhere.toml")
    assert main([]) == 2
    assert not Path("nowhere.toml").exists()
    assert "agent.toml is there already" in capsys.readouterr().err


def test_a_folder_that_can_t_be_made_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes.md").write_text("mine", encoding="utf-8")
    assert main(["minimal", "notes.md/agent"]) == 2
    assert "agentoml init: notes.md/agent can't be written: not a directory" in capsys.readouterr().err


def test_an_unknown_template_is_answered_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["minmal"]) == 2
    assert "did you mean `minimal`?" in capsys.readouterr().err


def test_a_folder_in_the_place_of_the_template_is_answered_with_all_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["my-agent"]) == 2
    said = capsys.readouterr().err
    assert all(f"  {name} " in said for name in templates())
    assert "agentoml init minimal my-agent" in said
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "there", "instead"),
    [(".", [], "my-agent"), (".", ["my-agent"], "my-agent-2"), ("my-agent", [], "my-agent-2"), ("a/b", [], "a/b-2")],
)
def test_the_folder_that_is_suggested_is_free_and_not_inside_of_an_agent(
    folder: str, there: list[str], instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["minimal", folder]) == 0
    for name in there:
        Path(name).mkdir()
    assert main(["minimal", folder]) == 2
    assert capsys.readouterr().err.endswith(f"name another folder: agentoml init minimal {instead}\n")
    assert main(["minimal", instead]) == 0


def test_an_empty_name_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["minimal", ""])
    assert "an empty name is no folder" in capsys.readouterr().err
    assert files(Path()) == {}
