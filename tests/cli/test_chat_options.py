from __future__ import annotations

import pytest

from agentoml.cli.chat_options import NotOffered, Option, changes, find, pick, prompt_line, table, values
from agentoml.wire import messages


def select(option_id: str, current: str, *listed: str, category: str | None = None) -> Option:
    entries = [messages.select_value(value, value.title()) for value in listed]
    return messages.select_option(option_id, option_id.title(), current, entries, category=category)


MODE = select("mode", "code", "plan", "code", category="mode")
MODEL = select("llm", "sonnet", "sonnet", "opus", category="model")
FAST = messages.boolean_option("fast", "Fast answers", True)


def test_a_new_value_in_force_is_one_phrase() -> None:
    assert changes([MODE, MODEL], [MODE, {**MODEL, "currentValue": "opus"}]) == ["llm: sonnet -> opus"]


def test_added_and_removed_values_and_options_are_named() -> None:
    grown = select("mode", "audit", "code", "audit", category="mode")
    assert changes([MODE, MODEL], [grown, FAST]) == [
        "mode: code -> audit",
        "+ mode audit",
        "- mode plan",
        "+ fast: on",
        "- llm",
    ]


def test_long_lists_are_cut() -> None:
    grown = select("llm", "sonnet", "sonnet", "opus", *(f"m{number}" for number in range(9)), category="model")
    assert changes([MODEL], [grown]) == ["+ llm m0, m1, m2, m3, m4, m5 and 3 more"]


def test_what_stays_the_same_is_not_mentioned_and_other_words_are() -> None:
    assert changes([MODE, MODEL], [MODE, MODEL]) == []
    assert changes([MODE, MODEL], [MODEL, MODE]) == ["options in another order"]
    assert changes([MODE, FAST], [MODE, {**FAST, "name": "Quick"}]) == ["fast reworded"]


def test_what_is_called_or_ordered_otherwise_is_named() -> None:
    assert changes([MODE], [select("mode", "code", "code", "plan", category="mode")]) == ["mode in another order"]
    planning = {**MODE, "options": [{**MODE["options"][0], "name": "Planning"}, MODE["options"][1]]}
    assert changes([MODE, MODEL], [planning, MODEL]) == ["mode plan reworded"]
    turned = {**planning, "options": planning["options"][::-1]}
    assert changes([MODE, MODEL], [turned, MODEL]) == ["mode plan reworded", "mode in another order"]


def test_the_prompt_shows_mode_and_model_and_what_is_switched_on() -> None:
    assert prompt_line([MODEL, FAST, MODE]) == "code · sonnet · fast"
    assert prompt_line([]) == ""


def test_an_option_is_found_by_id_name_or_category() -> None:
    options = [MODE, MODEL, FAST]
    assert [find(options, word)["id"] for word in ("LLM", "fast answers", "model")] == ["llm", "fast", "llm"]
    with pytest.raises(NotOffered, match="there are: mode, llm, fast"):
        find(options, "nope")


def test_a_value_is_found_by_id_or_name_inside_groups_too() -> None:
    group = messages.select_group("a", "Acme", [messages.select_value("acme/big", "Big One")])
    option = messages.select_option("model", "Model", "acme/big", [group])
    assert pick(option, "big one") == "acme/big"
    assert pick(option, "acme/new") == "acme/new"  # the agent decides what is valid


def test_a_switch_takes_on_and_off_and_nothing_else() -> None:
    assert [pick(FAST, word) for word in ("on", "OFF", "yes", "false")] == [True, False, True, False]
    with pytest.raises(NotOffered, match="on or off"):
        pick(FAST, "maybe")


def test_the_lists_show_what_is_in_force_and_what_could_be() -> None:
    assert table([MODE, FAST]) == ["mode  code  (plan)", "fast  on  (off)"]
    assert values(MODE) == ["  plan  Plan", "* code  Code"]
    assert values(FAST) == ["* on   On", "  off  Off"]
