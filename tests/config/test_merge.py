from __future__ import annotations

from typing import Any

from agentoml.config.merge import merge, says_the_same
from agentoml.config.parse import parse
from agentoml.config.texts import Merged, Text


def merged(*texts: str) -> Merged:
    return merge([parse(Text(f"{index}.toml", text.encode(), None)) for index, text in enumerate(texts)])


def table(*texts: str) -> Any:
    result = merged(*texts)
    assert result.problems == ()
    return result.table


def test_tables_merge_deep_and_everything_else_replaces() -> None:
    below = '[models.a]\nid = "a"\nlimit = { context = 1, output = 2 }\ncapabilities = ["tools"]\n'
    above = "[models.a]\nlimit.context = 3\ncapabilities = []\n"

    assert table(below, above) == {
        "models": {"a": {"id": "a", "limit": {"context": 3, "output": 2}, "capabilities": []}}
    }


def test_an_inherited_entry_keeps_its_first_place() -> None:
    result = table("[modes.ask]\n[modes.code]\n", "[modes.plan]\n[modes.ask]\nname = 'Ask'\n")
    assert list(result["modes"]) == ["ask", "code", "plan"]


def test_add_and_remove_edit_an_inherited_list() -> None:
    below = '[agent]\ntools = ["read_file", "shell"]\npermissions = "standard"\n'
    above = '[agent]\ntools.add = ["fetch_url", "read_file"]\ntools.remove = ["shell"]\npermissions.add = ["team"]\n'

    assert table(below, above)["agent"] == {"tools": ["read_file", "fetch_url"], "permissions": ["standard", "team"]}


def test_an_edit_waits_where_nothing_is_inherited() -> None:
    assert table('[agent]\npermissions.add = ["team"]\n') == {"agent": {"permissions": {"add": ["team"]}}}


def test_two_edits_become_the_one_that_does_what_both_do() -> None:
    first = '[agent]\ntools.add = ["a", "b"]\ntools.remove = ["c"]\n'
    second = '[agent]\ntools.add = ["c", "d"]\ntools.remove = ["a"]\n'

    assert table(first, second)["agent"]["tools"] == {"add": ["b", "c", "d"], "remove": ["a"]}


def test_a_list_written_whole_ends_the_edits_beneath_it() -> None:
    assert table('[agent]\ntools.add = ["a"]\n', '[agent]\ntools = ["b"]\n')["agent"]["tools"] == ["b"]


def test_entries_may_be_called_add_and_remove() -> None:
    result = table("[tools.add]\nkind = 'edit'\n", "[tools.add]\ntitle = 'Add'\n[tools.remove]\n")
    assert result["tools"] == {"add": {"kind": "edit", "title": "Add"}, "remove": {}}


def test_remove_deletes_what_is_inherited() -> None:
    below = '[mcp.git]\ncommand = ["git-mcp"]\n[mcp.docs]\n[agent]\nparams = { seed = 1 }\n'
    above = "[mcp.git]\nremove = true\n[agent.params.seed]\nremove = true\n"

    assert table(below, above) == {"mcp": {"docs": {}}, "agent": {"params": {}}}


def test_an_entry_that_was_removed_may_be_written_again_above() -> None:
    result = table("[modes.a]\nname = 'A'\n[modes.b]\n", "[modes.a]\nremove = true\n", "[modes.a]\ngroup = 'g'\n")
    assert list(result["modes"].items()) == [("b", {}), ("a", {"group": "g"})]


def test_removing_what_is_not_inherited_is_a_problem_with_a_suggestion() -> None:
    result = merged("[mcp.github]\n", "[mcp.githib]\nremove = true\n[modes.a.set]\nremove = true\n")

    assert [(p.code, p.file, p.line, p.hint) for p in result.problems] == [
        ("AGT304", "1.toml", 1, "did you mean `github`?"),
        ("AGT304", "1.toml", 3, "leave it out: nothing beneath this file has it"),
    ]
    result = merged("[mcp.github]\n", '[mcp.githib]\n"\\u0072emove" = true\n')
    assert [problem.code for problem in result.problems] == ["AGT304"]


def test_what_a_weaker_text_removed_already_may_be_removed_again() -> None:
    below = "[mcp.github]\nurl = 'http://h/'\n"
    assert table(below, "[mcp.github]\nremove = true\n", "[mcp.github]\nremove = true\n") == {"mcp": {}}


def test_what_is_missing_is_not_told_while_something_else_is_broken() -> None:
    result = merged("[mcp.github\n", "[mcp.github]\nremove = true\n")
    assert [problem.code for problem in result.problems] == ["AGT012"]


def test_merging_changes_none_of_the_tables() -> None:
    tables = [parse(Text("a", b"[agent]\ntools = ['a']\nparams = { x = { y = 1 } }\n", None)),
              parse(Text("b", b"[agent]\ntools.add = ['b']\nparams.x.z = 2\n", None))]  # fmt: skip
    before = repr(tables)
    merge(tables)
    assert repr(tables) == before


def test_a_secret_does_not_go_along_to_another_destination() -> None:
    below = """
[providers.p]
adapter = "openai"
base_url = "https://a/v1"
api_key = { env = "KEY" }
[mcp.m]
url = "https://a/mcp"
headers = { authorization = { env = "TOKEN" }, x-team = "acme" }
"""
    moved = merged(below, '[providers.p]\nbase_url = "https://b/v1"\n[mcp.m]\nurl = "https://b/mcp"\n')
    assert moved.table["providers"]["p"] == {"adapter": "openai", "base_url": "https://b/v1"}
    assert moved.table["mcp"]["m"] == {"url": "https://b/mcp", "headers": {"x-team": "acme"}}
    assert [(problem.code, problem.severity, problem.path) for problem in moved.problems] == [
        ("AGT353", "warning", ("providers", "p", "base_url")),
        ("AGT353", "warning", ("mcp", "m", "url")),
    ]

    own = merged(below, '[providers.p]\nadapter = "anthropic"\napi_key = { env = "OTHER" }\n[mcp.m]\nenabled = false\n')
    assert own.problems == ()
    assert own.table["providers"]["p"]["api_key"] == {"env": "OTHER"}
    assert own.table["mcp"]["m"]["headers"]["authorization"] == {"env": "TOKEN"}


def test_a_secret_that_waits_for_a_destination_does_not_take_the_first_that_comes() -> None:
    table = merged('[providers.p]\napi_key = { env = "KEY" }\n', '[providers.p]\nbase_url = "https://b/v1"\n').table
    assert "api_key" not in table["providers"]["p"]


def test_two_tables_say_the_same_only_in_the_same_order_and_types() -> None:
    one = table("[modes.a]\n[modes.b]\n[params]\nx = [1, { y = true }]\n")
    assert says_the_same(one, table("[modes.a]\n[modes.b]\n[params]\nx = [1, { y = true }] # the same\n"))
    assert not says_the_same(one, table("[modes.b]\n[modes.a]\n[params]\nx = [1, { y = true }]\n"))
    assert not says_the_same(one, table("[modes.a]\n[modes.b]\n[params]\nx = [1, { y = 1 }]\n"))
    assert not says_the_same(one, table("[modes.a]\n[modes.b]\n[params]\nx = [1.0, { y = true }]\n"))
    assert not says_the_same(one, table("[modes.a]\n[modes.b]\n[params]\nx = [1]\n"))
    assert not says_the_same(one, None)
