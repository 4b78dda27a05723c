from __future__ import annotations

from agentoml.config.diagnostics.formats import render_github, to_sarif
from agentoml.config.problems import Problem, Related

WRONG = Problem(
    "AGT101",
    "there is no key `x` here: 100%\nreally",
    ("agent", "x"),
    hint="did you mean `y`?",
    file="some, where/agent.toml",
    line=3,
    column=1,
    end_column=2,
    related=(Related("first defined here", (), "base.toml", 7, 2),),
)
UNPLACED = Problem("AGT003", "the file is empty", severity="warning", file="/etc/agent.toml")


def test_github_gets_a_command_for_each_problem_with_its_special_characters_escaped() -> None:
    assert render_github([WRONG, UNPLACED]).splitlines() == [
        "::error file=some%2C where/agent.toml,line=3,col=1,endColumn=1,title=AGT101 agent.x"
        "::there is no key `x` here: 100%25%0Areally (did you mean `y`?)",
        "::warning file=/etc/agent.toml,title=AGT003::the file is empty",
    ]
    assert render_github([]) == ""


def test_sarif_tells_the_rule_the_place_and_what_has_to_do_with_it() -> None:
    (run,) = to_sarif([UNPLACED, WRONG])["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["AGT003", "AGT101"]
    empty, wrong = run["results"]
    assert empty["level"] == "warning" and empty["ruleIndex"] == 0
    assert empty["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "file:///etc/agent.toml"}}
    assert wrong["message"]["text"].endswith("did you mean `y`?")
    assert wrong["locations"][0] == {
        "physicalLocation": {
            "artifactLocation": {"uri": "some%2C%20where/agent.toml"},
            "region": {"startLine": 3, "startColumn": 1, "endColumn": 2},
        },
        "logicalLocations": [{"fullyQualifiedName": "agent.x"}],
    }
    assert wrong["relatedLocations"][0]["message"] == {"text": "first defined here"}
    assert to_sarif([])["runs"][0]["results"] == []
