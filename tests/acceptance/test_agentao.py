"""The preset `agentao` as its clients meet it: modes, models and extension methods of the real process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_process import RequestFailed, shown
from agentoml.cli.test import play
from conversation import Conversation, conversation

MODES = ["workspace-write", "read-only", "full-access", "plan"]
MODELS = ["anthropic/claude-sonnet-5-5", "openai/gpt-6.1-sol", "deepseek/deepseek-chat"]
CALLS = {
    "read": ("read_file", {"path": "notes.md"}),
    "write": ("write_file", {"path": "notes.md", "content": "new\n"}),
    "outside": ("write_file", {"path": "../outside.md", "content": "new\n"}),
    "status": ("shell", {"command": "git status --short"}),
    "print": ("shell", {"command": "echo hello"}),
    "destroy": ("shell", {"command": "echo hello && rm -rf notes.md"}),
}


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Conversation]:
    """A session in a project, with models that make the call that is named to them."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "notes.md").write_text("one\n", encoding="utf-8")
    replies = "".join(
        f"{said} = {{ match = '{said}', steps = [{{ tool = '{tool}', args = {toml(args)} }}, {{ text = 'done' }}] }}\n"
        for said, (tool, args) in CALLS.items()
    )
    providers = "".join(
        f'[providers.{name}]\nadapter = "scripted"\n[providers.{name}.replies]\n{replies}'
        for name in ("anthropic", "openai", "deepseek")
    )
    config = tmp_path / "agent.toml"
    config.write_text(f'schema = 1\nextends = ["preset:agentao"]\n{providers}', encoding="utf-8")
    async with conversation(config, project, "reject_once") as talk:
        yield talk


def toml(args: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in args.items()) + "}"


async def ask(talk: Conversation, method: str, **params: Any) -> Any:
    return await talk.agent.request(method, sessionId=talk.session["sessionId"], **params)


async def test_its_own_tests_hold() -> None:
    assert set(play("preset:agentao").values()) == {()}


async def test_it_shows_four_modes_and_the_models_by_provider(talk: Conversation) -> None:
    assert talk.session["modes"]["currentModeId"] == "workspace-write"
    assert [mode["id"] for mode in talk.session["modes"]["availableModes"]] == MODES
    assert (await talk.listed("mode"), await talk.listed("model")) == (MODES, MODELS)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("workspace-write", {"read": "ran", "write": "ran", "outside": "asked", "status": "ran", "print": "asked"}),
        ("read-only", {"read": "ran", "write": "denied", "status": "denied", "print": "denied"}),
        ("full-access", {"write": "ran", "outside": "ran", "print": "ran"}),
        ("plan", {"read": "ran", "write": "denied", "status": "ran", "print": "denied"}),
        ("ask-me-nothing", {"read": "ran", "write": "denied", "print": "denied"}),
    ],
)
async def test_a_mode_allows_what_its_preset_allows(mode: str, expected: dict[str, str], talk: Conversation) -> None:
    assert await ask(talk, "session/set_mode", modeId=mode) == {}
    assert shown(talk.options())["mode"] == mode
    found = {said: await talk.verdict(said) for said in expected}
    assert found == expected
    assert await talk.verdict("destroy") == "denied"


async def test_a_model_is_named_with_its_provider_or_alone(talk: Conversation) -> None:
    assert (await talk.set("model", "deepseek-chat"))["model"] == "deepseek/deepseek-chat"
    assert (await talk.set("model", "openai/vendor/Some-Model"))["model"] == "openai/vendor/Some-Model"
    assert await talk.listed("model") == [*MODELS, "openai/vendor/Some-Model"]
    for unknown in ("nobody/model", "model-of-nobody"):
        with pytest.raises(RequestFailed) as refused:
            await talk.set("model", unknown)
        assert (refused.value.code, refused.value.data["available"][:3]) == (-32602, MODELS)


async def test_its_extension_methods_list_models_and_pick_one(talk: Conversation) -> None:
    assert await ask(talk, "_agentao.cn/list_models") == {"models": MODELS}
    answer = await ask(talk, "_agentao.cn/set_model", model="openai/gpt-6.1-sol")
    assert answer == {"model": "openai/gpt-6.1-sol"}
    assert shown(talk.options())["model"] == "openai/gpt-6.1-sol"
    for params in ({}, {"maxTokens": 5}, {"model": True}, {"model": "nobody/model"}):
        with pytest.raises(RequestFailed) as refused:
            await ask(talk, "_agentao.cn/set_model", **params)
        assert refused.value.code == -32602
