"""`agentoml explain`: why, with the line that says so; as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentoml.cli.main import main

AGENT = """schema = 1
[agent]
instructions = "Be brief."
permissions.add = ["team"]
params = { temperature = 0.1 }
[providers.p]
adapter = "scripted"
[models.sonnet]
provider = "p"
[models.opus]
provider = "p"
reasoning = { values = ["low", "high"], default = "high" }
[modes.code]
[modes.plan]
set = { permissions = "no-changes", instructions_append = "Only plan." }
preselect = { model = "opus" }
[modes.audit]
set = { model = "opus" }
[modes.yolo]
set = { auto_answers.add = ["everything"] }
[options.model]
values_from = "models"
[options.effort]
values_from = "model.reasoning"
[options.tone.values.short]
set = { instructions_append = "Two sentences." }
[options.tone.values.long]
set = { params = { temperature = 0.9 } }
[options.github]
type = "boolean"
when = { mode = "code" }
on = { set = { mcp.github = true } }
[mcp.github]
command = ["github"]
[permissions.team]
rules.push = { tool = "shell", command = "git push *", action = "always_ask" }
rules.status = { tool = "shell", command = "git status *", action = "allow" }
rules.secrets = { path = "**/.env*", action = "deny" }
[tools.build]
command = ["make", "{target}"]
parameters = { target = { default = "all" } }
"""

Explained = Any


@pytest.fixture(autouse=True)
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.toml").write_text(AGENT, encoding="utf-8")


def line_of(text: str) -> str:
    """Where a text stands in the file."""
    before = AGENT[: AGENT.index(text)]
    return f"agent.toml:{before.count(chr(10)) + 1}"


class Explain:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def text(self, *words: str) -> str:
        assert main(["explain", *words, "--config", "agent.toml"]) == 0
        return self._capsys.readouterr().out

    def json(self, *words: str) -> Explained:
        return json.loads(self.text(*words, "--format", "json"))

    def refusal(self, *words: str) -> str:
        assert main(["explain", *words, "--config", "agent.toml"]) == 2
        return self._capsys.readouterr().err


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str]) -> Explain:
    return Explain(capsys)


# ------------------------------------------------------------------------------------------------ permissions


def test_each_part_of_a_line_is_told_with_each_set_and_the_line_that_counts(explain: Explain) -> None:
    told = explain.text("permission", "shell", "git status && git push origin", "--mode", "plan")
    assert "mode = plan, model = opus" in told
    status, push = told.index("git status\n"), told.index("git push origin\n")
    assert status < push
    assert f"team.rules.status         {line_of('rules.status')}" in told
    assert "mode = plan   ask         no-changes.kinds.execute" in told.replace("  ask     ", "  ask         ")
    assert f"always_ask: the user is asked every time (team.rules.push, {line_of('rules.push')})" in told


def test_as_data_the_same(explain: Explain) -> None:
    told = explain.json("permission", "shell", "git push", "--mode", "plan")
    assert (told["tool"], told["kind"], told["args"]) == ("shell", "execute", {"command": "git push"})
    assert told["verdict"] == "always_ask"
    assert told["because"]["by"] == "team.rules.push"
    [part] = told["parts"]
    base, mode = part["lists"]
    assert [(each["set"], each["says"]) for each in base["each"]] == [("standard", "ask"), ("team", "always_ask")]
    assert (base["counts"], base["where"]) == (True, line_of("rules.push"))
    assert (mode["who"], mode["says"], mode["by"], mode["counts"]) == (
        "mode = plan",
        "ask",
        "no-changes.kinds.execute",
        False,
    )


def test_an_automatic_answer_is_what_counts_where_it_settles_the_question(explain: Explain) -> None:
    told = explain.json("permission", "shell", "rm -r x", "--option", "mode=yolo")
    assert (told["verdict"], told["because"]["who"], told["because"]["by"]) == (
        "allow",
        "auto_answers",
        "everything.default",
    )
    assert explain.json("permission", "shell", "git push", "--mode", "yolo")["verdict"] == "always_ask"


def test_arguments_are_given_in_order_or_by_name(explain: Explain) -> None:
    assert explain.json("permission", "edit_file", "a/.env")["verdict"] == "deny"
    assert explain.json("permission", "edit_file", "path=a/.env")["verdict"] == "deny"
    assert explain.json("permission", "shell", "cat", ".env")["args"] == {"command": "cat .env"}
    assert explain.json("permission", "build", "x")["args"] == {"target": "x"}
    assert explain.json("permission", "mcp:github/get", "repo=a/b")["args"] == {"repo": "a/b"}


def test_a_part_about_which_nothing_is_sure_says_so(explain: Explain) -> None:
    told = explain.text("permission", "shell", "$X push", "--mode", "yolo")
    assert "ask: the user is asked" in told


def test_what_is_not_there_is_refused_with_what_is(explain: Explain) -> None:
    assert "did you mean `shell`?" in explain.refusal("permission", "shel", "x")
    assert "is no argument of read_file" in explain.refusal("permission", "read_file", "a", "1", "2", "3", "4")
    assert "write NAME=VALUE" in explain.refusal("permission", "mcp:github/get", "x")
    assert "there are: code, plan, audit, yolo" in explain.refusal("session", "--mode", "plen")
    assert "OPTION=VALUE" in explain.refusal("session", "--option", "tone")
    assert 'model is "opus" because of mode' in explain.refusal(
        "session", "--mode", "audit", "--option", "model=sonnet"
    )


@pytest.mark.parametrize(
    ("words", "remedy"),
    [(["permission", "shell", "git", "push", "--force"], "in quotes"), (["session", "agent.toml"], "behind --config")],
)
def test_words_that_are_not_understood_are_told_with_what_to_write(
    words: list[str], remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["explain", *words])
    assert remedy in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ sessions


def options(told: Explained) -> dict[str, tuple[str, str, str]]:
    return {each["option"]: (each["value"], each["because"], each["where"]) for each in told["options"]}


def test_each_option_says_what_gives_it_its_value(explain: Explain) -> None:
    found = options(explain.json("session", "--mode", "plan", "--option", "tone=long"))
    assert found["mode"] == ("plan", "picked", line_of("[modes.plan]"))
    assert found["model"] == ("opus", "preselected by mode = 'plan'", line_of('preselect = { model = "opus" }'))
    assert found["effort"] == ("high", "the model's own default", line_of("reasoning = { values"))
    assert found["tone"] == ("long", "picked", line_of("[options.tone.values.long]"))
    assert options(explain.json("session"))["model"][:2] == ("sonnet", "the first of its list")
    switched_off = ("off", "off, as nothing turns it on", line_of("[options.github]"))
    assert options(explain.json("session"))["github"] == switched_off
    forced = options(explain.json("session", "--mode", "audit"))["model"]
    assert forced == ("opus", "forced by mode = 'audit'", line_of('set = { model = "opus" }'))


def test_an_option_that_is_not_there_says_why(explain: Explain) -> None:
    told = explain.json("session", "--mode", "plan")
    assert told["missing"] == {"github": "its condition does not hold"}
    assert options(explain.json("session", "--option", "github=off"))["github"][:2] == ("off", "picked")


def test_the_profile_is_told_patch_by_patch_and_what_does_not_count(explain: Explain) -> None:
    told = explain.json("session", "--mode", "plan", "--option", "tone=long")
    patches = {patch["by"]: patch for patch in told["patches"]}
    assert list(patches) == ["the base", "mode = plan", "model = opus", "effort = high", "tone = long"]
    assert patches["the base"]["sets"]["permissions"] == ["standard", "team"]
    assert patches["the base"]["does_not_count"] == {"params.temperature": "tone = long sets it"}
    assert patches["mode = plan"]["sets"] == {"permissions": ["no-changes"], "instructions_append": "Only plan."}
    assert told["profile"]["params"] == {"temperature": 0.9}
    assert told["profile"]["instructions"] == "Be brief.\n\nOnly plan."
    assert told["profile"]["permissions of values"] == [["no-changes"]]


def test_as_text_it_reads_like_a_file(explain: Explain) -> None:
    told = explain.text("session", "--mode", "plan", "--option", "tone=long")
    assert f"mode = plan  # {line_of('[modes.plan]')}" in told
    assert "  params.temperature = 0.1  # does not count: tone = long sets it" in told
    assert '  instructions = "Be brief.\\n\\nOnly plan."' in told


def test_a_broken_configuration_is_shown_as_check_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agent.toml").write_text("schema = 1\n[agent]\ntitel = 'x'\n", encoding="utf-8")
    assert main(["explain", "session", "--config", "agent.toml"]) == 2
    assert "AGT101" in capsys.readouterr().err
