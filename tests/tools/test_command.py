from __future__ import annotations

import pytest
from attrs import evolve

from agentoml.config.schema import Parameter, ToolDefinition
from agentoml.config.vocabulary.notation import Duration
from agentoml.errors import ToolError
from agentoml.tools.arguments import check_arguments
from agentoml.tools.command import command_tool, filled, unknown_places, unused_parameters
from agentoml.tools.tool import ToolContext

PARAMETERS = {"target": Parameter(default="."), "count": Parameter(type="integer", default=1), "name": Parameter()}
ECHO = ToolDefinition(command=("printf", "<%s>", "{target}", "n={count}", "{name}", "{other}"), parameters=PARAMETERS)


async def test_every_argument_stays_one_word_and_no_shell_sees_it(context: ToolContext) -> None:
    result = await command_tool("say", ECHO).run({"target": "a b; $HOME", "name": "*"}, context)

    assert result.text == "<a b; $HOME><n=1><*><{other}>\n[exit code 0]"
    assert not result.failed


async def test_a_command_that_takes_too_long_is_stopped(context: ToolContext) -> None:
    slow = ToolDefinition(command=("sleep", "300"), timeout=Duration(0.1))

    result = await command_tool("slow", slow).run({}, context)

    assert result.text == "[no output]\n[stopped after 0.1 s]"
    assert result.failed


def test_parameters_become_a_schema() -> None:
    tool = command_tool("say", ECHO)

    assert (tool.kind, tool.title, tool.name) == ("execute", "say", "say")
    assert tool.parameters["required"] == ["name"]
    assert tool.parameters["properties"]["count"] == {"type": "integer", "default": 1}
    assert check_arguments(tool, {"count": "x"}) == ["name is missing", "count must be integer"]


def test_only_listed_values_are_taken() -> None:
    tool = command_tool("t", ToolDefinition(command=("x",), parameters={"level": Parameter(values=("low", "high"))}))

    assert check_arguments(tool, {"level": "mid"}) == ["level must be one of low, high"]


def test_an_argument_does_not_become_an_option() -> None:
    with pytest.raises(ToolError, match="can't begin with -"):
        filled(("pytest", "{name}"), PARAMETERS, {"name": "--collect-only"})
    with pytest.raises(ToolError, match="name can't begin with -"):
        filled(("pytest", "{target}{name}"), PARAMETERS, {"target": "", "name": "-x"})
    assert filled(("pytest", "{target}{name}"), PARAMETERS, {"name": "-x"}) == ("pytest", ".-x")
    assert filled(("pytest", "--", "{name}"), PARAMETERS, {"name": "-x"}) == ("pytest", "--", "-x")
    assert filled(("head", "--lines={name}"), PARAMETERS, {"name": "-1"}) == ("head", "--lines=-1")


def test_places_that_nothing_fills_are_told() -> None:
    definition = evolve(ECHO, title="Echo {nmae}", locations=("{path}", "name"))

    assert list(unknown_places(definition)) == [
        (("title",), "nmae"),
        (("command", 5), "other"),
        (("locations", 0), "path"),
    ]


def test_parameters_that_reach_no_program_and_nobody_s_eyes_are_told() -> None:
    parameters = {name: Parameter() for name in ("target", "why", "path", "spare")}
    definition = ToolDefinition(
        command=("rm", "--", "x{target}"), title="Remove: {why}", locations=("{path}",), parameters=parameters
    )

    assert list(unused_parameters(definition)) == ["path", "spare"], "a location says where, and nobody goes there"
