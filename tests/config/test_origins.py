from __future__ import annotations

from agentoml.config.merge import merge
from agentoml.config.origins import origins
from agentoml.config.parse import parse
from agentoml.config.problems import Path
from agentoml.config.texts import Merged, Text


def merged(*texts: str) -> Merged:
    return merge([parse(Text(f"{index}.toml", text.encode(), None)) for index, text in enumerate(texts)])


def who(result: Merged, *path: str | int) -> list[tuple[str, Path]]:
    return [(origin.text.name, origin.path) for origin in origins(result, path)]


def test_a_leaf_knows_who_won_and_who_lost() -> None:
    result = merged("[agent]\nname = 'a'\n", "[agent]\n", "[agent]\nname = 'c'\n")

    assert who(result, "agent", "name") == [("2.toml", ("agent", "name")), ("0.toml", ("agent", "name"))]
    assert [text for text, _ in who(result, "agent")] == ["2.toml", "1.toml", "0.toml"]


def test_nothing_beneath_a_removal_or_another_type_counts() -> None:
    result = merged("[modes.a]\nname = 'x'\n", "[modes.a]\nremove = true\n", "[modes.a]\n")
    assert who(result, "modes", "a") == [("2.toml", ("modes", "a"))]
    assert who(result, "modes", "a", "name") == [("2.toml", ("modes", "a"))]

    result = merged("[models]\na = {}\n", "models = 3\n")
    assert who(result, "models") == [("1.toml", ("models",)), ("0.toml", ("models",))]


def test_an_item_of_an_edited_list_knows_where_it_came_from() -> None:
    result = merged('[agent]\ntools = ["a"]\n', '[agent]\ntools.add = ["x", "b"]\ntools.remove = ["x"]\n')

    assert result.table["agent"]["tools"] == ["a", "b"]
    assert who(result, "agent", "tools", 1) == [("1.toml", ("agent", "tools", "add", 1))]
    assert who(result, "agent", "tools", 0) == [("0.toml", ("agent", "tools", 0))]


def test_an_item_of_a_waiting_edit_knows_where_it_came_from() -> None:
    result = merged('[agent]\ntools.add = ["a"]\n', '[agent]\ntools.add = ["b"]\n')

    assert who(result, "agent", "tools", "add", 1) == [("1.toml", ("agent", "tools", "add", 0))]
    assert who(result, "agent", "tools", "add", 0) == [("0.toml", ("agent", "tools", "add", 0))]


def test_a_key_that_nobody_wrote_is_looked_for_in_the_table_that_lacks_it() -> None:
    result = merged("[models.a]\n", "[models.a]\nid = 'a'\n")
    assert who(result, "models", "a", "provider")[0] == ("1.toml", ("models", "a"))
    assert who(result, "nothing", "here") == []
