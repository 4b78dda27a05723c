from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from agentoml.cli.main import main

BASE = """schema = 1
[agent]
title = "Base"
tools = ["read_file"]
[providers.gateway]
adapter = "openai"
headers = { x-team = "acme" }
api_key = { env = "GATEWAY_KEY" }
[mcp.docs]
url = "https://me:pa55@docs.example/mcp"
[tool_kinds]
shell = "execute"
"mcp:docs/*" = { kind = "fetch", title = "Docs" }
[modes.code]
"""
AGENT = """schema = 1
extends = ["base.toml"]
[agent]
title = "Ours"
tools.add = ["shell"]
instructions = { file = "prompt.md" }
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GATEWAY_KEY", "marker")
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE, encoding="utf-8")
    Path("team.toml").write_text(AGENT, encoding="utf-8")
    Path("prompt.md").write_text("Be kind.", encoding="utf-8")


def test_each_line_says_who_won_and_who_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "team.toml", "--set", "agent.model=opus"]) == 0
    shown = capsys.readouterr().out

    assert 'title = "Ours"  # team.toml:4; beneath: base.toml:3 "Base"' in shown
    edited = 'team.toml:5 says { add = ["shell"] }; beneath: base.toml:4 ["read_file"]'
    assert f'tools = ["read_file", "shell"]  # {edited}\n' in shown
    assert 'model = "opus"  # --set agent.model\n' in shown
    assert "[modes.code]\n# base.toml:14" in shown


def test_it_is_toml_that_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "team.toml"]) == 0
    shown = tomllib.loads(capsys.readouterr().out)

    assert shown["agent"] == {
        "title": "Ours",
        "tools": ["read_file", "shell"],
        "instructions": {"file": "prompt.md"},
    }
    assert shown["tool_kinds"] == {"shell": "execute", "mcp:docs/*": {"kind": "fetch", "title": "Docs"}}
    assert shown["modes"] == {"code": {}}
    assert shown["permissions"]["no-changes"]["kinds"]["edit"] == "deny"


def test_no_secret_is_resolved_or_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("text", "json"):
        assert main(["show", "team.toml", "--format", form, "--set", "mcp.docs.headers.x=marker"]) == 0
        shown = capsys.readouterr().out
        assert "GATEWAY_KEY" in shown
        assert "marker" not in shown and "pa55" not in shown


def test_a_key_alone_shows_that_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "team.toml", "agent.title", "--format", "json"]) == 0
    [leaf] = json.loads(capsys.readouterr().out)

    place = {"layer": "named", "column": 1}
    assert leaf == {
        "key": "agent.title",
        "value": "Ours",
        "won": {**place, "file": "team.toml", "line": 4, "value": "Ours"},
        "lost": [{**place, "file": "base.toml", "line": 3, "value": "Base"}],
    }


def test_one_word_is_a_key_of_the_own_configuration_unless_it_names_a_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["show", "permissions.nothing.default"]) == 0
    assert capsys.readouterr().out.startswith('[permissions.nothing]\ndefault = "deny"  # built-in:')


def test_a_key_that_nothing_says_suggests_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "team.toml", "agent.titel"]) == 2
    assert "did you mean `title`?" in capsys.readouterr().err


def test_what_is_broken_is_told_beside_what_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("base.toml").write_text(BASE + "x = y\n", encoding="utf-8")
    assert main(["show", "team.toml"]) == 2
    out, err = capsys.readouterr()
    assert 'title = "Ours"' in out
    assert "base.toml:15:5" in err


def test_a_ceiling_is_shown_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("policy.toml").write_text('schema = 1\n[policy]\nmodels = ["sonnet"]\n', encoding="utf-8")
    monkeypatch.setenv("AGENTOML_POLICY", "policy.toml")
    assert main(["show", "team.toml"]) == 0
    assert '# policy.models = ["sonnet"]  # policy.toml:3' in capsys.readouterr().out


@pytest.mark.parametrize("name", ["nope.toml", "preset:nope"])
def test_of_a_file_that_is_not_there_only_that_is_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", name]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error[AGT") and name.removeprefix("preset:") in err


def test_sets_that_are_added_to_the_default_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("more.toml").write_text('schema = 1\nagent.permissions.add = ["no-changes"]\n', encoding="utf-8")
    assert main(["show", "more.toml", "agent.permissions"]) == 0
    shown = capsys.readouterr().out
    assert shown == '[agent.permissions]\nadd = ["no-changes"]  # more.toml:2; beneath: the default ["standard"]\n'


def test_sets_that_are_added_to_given_ones_are_one_list(capsys: pytest.CaptureFixture[str]) -> None:
    Path("base.toml").write_text('schema = 1\nagent.permissions = ["everything"]\n', encoding="utf-8")
    more = 'schema = 1\nextends = ["base.toml"]\nagent.permissions.add = ["no-changes"]\n'
    Path("more.toml").write_text(more, encoding="utf-8")
    assert main(["show", "more.toml", "agent.permissions"]) == 0
    assert 'permissions = ["everything", "no-changes"]' in (shown := capsys.readouterr().out)
    assert "the default" not in shown
