from __future__ import annotations

import pytest

from agentoml.errors import ToolError
from agentoml.tools.arguments import (
    check_arguments,
    host_of_call,
    locations_of,
    parse_arguments,
    render_title,
    without_nulls,
)
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.tool import Tool, ToolContext, ToolResult

TOOLS = built_in_tools()


async def nothing(args: object, context: ToolContext) -> ToolResult:
    return ToolResult("")


def tool_with(parameters: dict[str, object]) -> Tool:
    return Tool("t", "", parameters, nothing)


def test_every_built_in_tool_has_the_kind_and_the_paths_of_the_design() -> None:
    table = {name: (tool.kind, tool.locations) for name, tool in TOOLS.items()}

    assert table["read_file"] == ("read", ("path",))
    assert table["write_file"] == table["edit_file"] == ("edit", ("path",))
    assert table["list_files"] == ("search", ("path",))
    assert table["shell"] == ("execute", ())
    assert table["move_file"] == ("move", ("source", "destination"))
    assert table["delete_file"] == ("delete", ("path",))
    assert table["search_files"] == ("search", ("path",))
    assert table["fetch_url"] == ("fetch", ())
    assert table["update_plan"] == ("think", ())


def test_nothing_written_is_no_arguments() -> None:
    assert parse_arguments("") == {}
    assert parse_arguments('{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("text", ["{", "[1]", '"x"', "null", '{"a": 1} {"b": 2}', "[" * 100_000])
def test_what_is_no_object_is_an_error(text: str) -> None:
    with pytest.raises(ToolError, match="arguments"):
        parse_arguments(text)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", f"-1{'0' * 400}.0"])
def test_a_number_that_json_does_not_have_is_refused_by_name(number: str) -> None:
    with pytest.raises(ToolError, match=f"hold {number[:15]}.*finite"):
        parse_arguments(f'{{"a": [{number}]}}')


def test_every_problem_of_the_arguments_is_told() -> None:
    problems = check_arguments(TOOLS["edit_file"], {"path": 3, "old_text": "x", "oldText": "y", "all": "yes"})

    assert problems == [
        "new_text is missing",
        "path must be string",
        "oldText is not a parameter; there are path, old_text, new_text, all",
        "all must be boolean",
    ]


def test_numbers_are_checked_and_booleans_are_none() -> None:
    assert check_arguments(TOOLS["read_file"], {"path": "a", "line": 0}) == ["line must be at least 1"]
    assert check_arguments(TOOLS["read_file"], {"path": "a", "line": True}) == ["line must be integer"]
    assert check_arguments(TOOLS["read_file"], {"path": "a", "line": 2.0}) == []
    assert check_arguments(TOOLS["shell"], {"command": "x", "timeout": 0}) == ["timeout must be more than 0"]


def test_what_is_deeper_is_checked_too_and_unknown_keywords_are_left_to_the_tool() -> None:
    item = {"type": "object", "properties": {"status": {"enum": ["open", "done"]}}, "required": ["status"]}
    tool = tool_with(
        {"type": "object", "properties": {"items": {"type": "array", "items": item}, "any": {"anyOf": []}}}
    )

    assert check_arguments(tool, {"items": [{"status": "open"}, {"status": "x"}, {}], "any": 1, "more": 2}) == [
        "items[1].status must be one of open, done",
        "items[2].status is missing",
    ]


def test_null_leaves_an_optional_argument_out() -> None:
    assert without_nulls(TOOLS["read_file"], {"path": None, "line": None}) == {"path": None}


def test_a_title_is_one_short_line() -> None:
    assert render_title(TOOLS["shell"], {"command": "make\n  test"}) == "Run make test"
    assert len(render_title(TOOLS["shell"], {"command": "x" * 500})) == 120
    assert render_title(TOOLS["list_files"], {}) == "List ."
    assert render_title(tool_with({}), {}) == "t"


def test_locations_are_absolute_and_what_will_be_opened() -> None:
    assert locations_of(TOOLS["read_file"], {"path": "a/../../b"}, "/w/x") == ("/w/b",)
    assert locations_of(TOOLS["read_file"], {"path": "~/b"}, "/w") == ("/w/~/b",)
    assert locations_of(TOOLS["read_file"], {"path": 3}, "/w") == ()
    assert locations_of(TOOLS["list_files"], {}, "/w") == ("/w",)


def test_the_host_of_a_call_is_that_of_its_url() -> None:
    assert host_of_call(TOOLS["fetch_url"], {"url": "https://Docs.example/x"}) == "docs.example"
    assert host_of_call(TOOLS["fetch_url"], {"url": "nonsense"}) is None
    assert host_of_call(TOOLS["read_file"], {"path": "https://docs.example/"}) is None


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": 5},
        {"type": [["string"]]},
        {"enum": 5},
        {"type": "integer", "minimum": "a"},
        {"type": "object", "required": 5, "properties": ["a"]},
    ],
)
@pytest.mark.parametrize("value", [None, 1, {}])
def test_what_a_server_writes_in_place_of_a_schema_forbids_nothing_and_breaks_nothing(
    schema: object, value: object
) -> None:
    tool = tool_with({"type": "object", "properties": {"x": schema}})

    given = without_nulls(tool, {"x": value})

    assert [problem for problem in check_arguments(tool, given) if "must be" not in problem] == []
    assert render_title(tool, given) == "t"
