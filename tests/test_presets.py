"""Each shipped preset as its users meet it: run by its name, asked through a server on loopback, its rules tried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agent_process import RequestFailed, agent_process, offered, shown
from agentoml import assets
from agentoml.cli.check import check, summary
from agentoml.config import layers
from agentoml.config.catalogs.cost_map import MAP
from agentoml.config.schema import Config
from conversation import Conversation, conversation
from servers import anthropic, http_server, openai, openai_responses
from servers.said import Call, Said

pytestmark = pytest.mark.usefixtures("own_home")

PRESETS = ("agentao", "architect", "ask", "coder", "local-models", "offline", "reviewer", "team-gateway")
DOCS = (Path(__file__).parents[1] / "docs" / "presets.md").read_text(encoding="utf-8")

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GATEWAY_KEY")
NO_KEYS = dict.fromkeys(KEYS, "")
KEY = {"LOOPBACK_KEY": "sk-loopback"}
ADAPTERS: Mapping[str, Callable[[Said], http_server.Answer]] = {
    "anthropic": anthropic.reply,
    "openai": openai_responses.reply,
    "gateway": openai.reply,
    "deepseek": openai.reply,
    "ollama": openai.reply,
    "vllm": openai.reply,
    "lmstudio": openai.reply,
}
"""Provider of a preset -> what its protocol streams."""

CALLS = {
    "write": ("write_file", {"path": "notes.md", "content": "new\n"}),
    "program": ("write_file", {"path": "src/main.py", "content": "new\n"}),
    "outside": ("write_file", {"path": "../outside.md", "content": "new\n"}),
    "secret": ("read_file", {"path": ".env"}),
    "read": ("read_file", {"path": "notes.md"}),
    "delete": ("delete_file", {"path": "notes.md"}),
    "status": ("shell", {"command": "git status --short"}),
    "print": ("shell", {"command": "echo hello"}),
    "test": ("shell", {"command": "make test"}),
    "push": ("shell", {"command": "make test && git push"}),
    "commit": ("shell", {"command": "git commit -m done"}),
    "pipeline": ("write_file", {"path": ".github/workflows/ci.yml", "content": "x\n"}),
    "plan ready": ("exit_plan", {}),
    "design ready": ("design_ready", {}),
}
"""What is said -> the call that a model of these tests makes of it."""


def configuration(preset: str) -> Config:
    linked = check(f"preset:{preset}").linked
    assert linked is not None
    return linked.config


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.md").write_text("one\n", encoding="utf-8")
    (folder / "Makefile").write_text("test:\n\t@echo passed\n", encoding="utf-8")
    (folder / ".env").write_text("KEY=1\n", encoding="utf-8")
    (folder / "AGENTS.md").write_text("Tabs, not spaces.\n", encoding="utf-8")
    return folder


def played(preset: str, project: Path) -> Path:
    """The same agent, whose models play `CALLS`."""
    replies = "".join(
        f'{json.dumps(said)} = {{ match = {json.dumps(said)}, steps = [{{ tool = "{tool}", args = {_toml(args)} }},'
        ' { text = "{result}" }] }\n'
        for said, (tool, args) in CALLS.items()
    )
    providers = "".join(
        f'[providers.{name}]\nadapter = "scripted"\n[providers.{name}.replies]\n{replies}'
        for name in configuration(preset).providers
    )
    return _overlay(preset, providers, project)


def on_loopback(preset: str, url: str, project: Path) -> Path:
    """The same agent, whose providers are a server here, which lists no models."""
    catalogs = "".join(
        f"catalogs.{name}.remove = true\n"
        for name, catalog in configuration(preset).catalogs.items()
        if catalog.discover
    )
    providers = "".join(
        f'[providers.{name}]\nbase_url = "{url}/v1"\napi_key = {{ env = "LOOPBACK_KEY" }}\n'
        for name in configuration(preset).providers
    )
    return _overlay(preset, catalogs + providers, project)


def _overlay(preset: str, text: str, project: Path) -> Path:
    overlay = project.parent / "overlay.toml"
    overlay.write_text(f'schema = 1\nextends = ["preset:{preset}"]\n{text}', encoding="utf-8")
    return overlay


def _toml(args: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in args.items()) + "}"


async def verdicts(talk: Conversation, *words: str) -> dict[str, str]:
    return {said: await talk.verdict(said) for said in words}


# ------------------------------------------------------------------------------------------------ all of them


def test_these_are_the_presets_and_the_docs_have_a_chapter_for_each() -> None:
    assert tuple(layers.presets()) == PRESETS
    assert sorted(re.findall(r"^## `([a-z-]+)`", DOCS, re.MULTILINE)) == list(PRESETS)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_valid_without_a_warning_and_explains_itself(preset: str) -> None:
    checked = check(f"preset:{preset}")
    assert re.fullmatch(r"OK: [^;\n]*", summary(checked))
    agent = configuration(preset).agent
    assert agent.name == f"agentoml-{preset.removesuffix('-models').removesuffix('-gateway')}"
    assert agent.title and agent.description and agent.instructions
    assert (assets.folder("configs") / f"{preset}.toml").read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("preset", PRESETS)
def test_the_docs_name_the_modes_options_and_commands_of_a_preset(preset: str) -> None:
    [chapter] = re.findall(rf"^## `{preset}`$(.*?)(?=^## |\Z)", DOCS, re.MULTILINE | re.DOTALL)
    config = configuration(preset)
    named = {*config.modes, *config.options, *(f"/{command}" for command in config.commands)} - {"mode"}
    assert named <= set(re.findall(r"`([^`\n]+)`", chapter))


def asked_as(preset: str, request: http_server.Request) -> bool:
    """Whether a request carries the key, the instructions of the preset and those of the project."""
    key = f"{request.headers.get('authorization')}{request.headers.get('x-api-key')}"
    body = json.dumps(request.json)
    first_line = json.dumps(str(configuration(preset).agent.instructions).split("\n")[0])[1:-1]
    return "sk-loopback" in key and first_line in body and "Tabs, not spaces." in body


@pytest.mark.parametrize("preset", ["architect", "team-gateway"])
async def test_a_preset_asks_its_first_model_with_the_key_and_the_instructions(preset: str, project: Path) -> None:
    config = configuration(preset)
    key, first = next(iter(config.models.items()))
    async with http_server.HttpServer(ADAPTERS[first.provider or ""](Said(["Hello."]))) as server:
        async with conversation(on_loopback(preset, server.url, project), project, environment=KEY) as talk:
            assert await talk.said("hi") == "Hello."
    [request] = server.requests
    assert request.json["model"] == (first.id or key)
    assert asked_as(preset, request)


def effort(request: http_server.Request) -> Any:
    body = request.json
    return (body.get("output_config") or body.get("reasoning") or {}).get("effort")


# ------------------------------------------------------------------------------------------- keys and models


async def test_a_preset_is_run_by_its_name_and_without_a_key_says_which_one_is_missing(project: Path) -> None:
    async with agent_process(Path("preset:coder"), environment=NO_KEYS, initialize=False) as agent:
        answer = await agent.initialize()
        assert (answer["agentInfo"]["name"], answer["agentInfo"]["title"]) == ("agentoml-coder", "Coder")
        prompts = {"image": True, "audio": False, "embeddedContext": True}
        assert answer["agentCapabilities"]["promptCapabilities"] == prompts
        talk = Conversation(agent, await agent.new_session(project), project)
        assert "environment variable ANTHROPIC_API_KEY is not set" in await talk.said("hi")
        assert (await talk.set("model", "sol"))["model"] == "sol"
        assert "environment variable OPENAI_API_KEY is not set" in await talk.said("hi")


async def test_it_begins_with_a_model_whose_key_is_there(project: Path) -> None:
    async with conversation(Path("preset:coder"), project, environment={**NO_KEYS, "OPENAI_API_KEY": "sk"}) as talk:
        assert shown(talk.options())["model"] == "sol"
        groups = [group["name"] for group in talk.option("model")["options"]]
        assert groups == ["Anthropic", "OpenAI"]


@pytest.mark.parametrize("preset", ["coder", "team-gateway"])
def test_ids_sizes_and_prices_are_those_of_the_map_that_ships_with_litellm(preset: str) -> None:
    found = find_spec("litellm")
    assert found is not None and found.origin is not None
    known = json.loads(Path(found.origin).with_name(MAP).read_text(encoding="utf-8"))
    for key, model in configuration(preset).models.items():
        listed = known[model.id or key]
        assert model.limit.output == listed["max_output_tokens"]
        assert listed["max_input_tokens"] in (model.limit.context, model.limit.context - model.limit.output)
        prices = {
            "input": "input_cost_per_token",
            "output": "output_cost_per_token",
            "cache_read": "cache_read_input_token_cost",
            "cache_write": "cache_creation_input_token_cost",
        }
        for ours, theirs in prices.items():
            assert getattr(model.cost, ours) == pytest.approx(listed[theirs] * 1e6), (key, ours)
        assert "none" not in model.reasoning.values or listed["supports_none_reasoning_effort"]


# ------------------------------------------------------------------------------------------------ each of them


async def test_ask_has_only_tools_that_read_and_reads_no_secrets(project: Path) -> None:
    async with http_server.HttpServer(anthropic.reply(Said(["Here."]))) as server:
        overlay = on_loopback("ask", server.url, project)
        async with conversation(overlay, project, environment=KEY) as talk:
            await talk.set("detail", "tour")
            await talk.said("where is this?")
    [request] = server.requests
    assert asked_as("ask", request)
    told = {tool["name"] for tool in request.json["tools"]}
    assert told == {"read_file", "list_files", "search_files", "update_plan"}
    assert "end with what to read next" in json.dumps(request.json["system"])
    async with conversation(played("ask", project), project, "reject_once") as talk:
        assert await verdicts(talk, "read", "secret") == {"read": "ran", "secret": "denied"}
        assert "There is no tool 'write_file'" in await talk.said("write")


async def test_coder_asks_as_much_as_its_mode_says(project: Path) -> None:
    expected = {
        "code": {"write": "asked", "outside": "asked", "print": "asked", "push": "asked"},
        "plan": {"write": "denied", "outside": "denied", "print": "asked", "push": "asked"},
        "edits": {"write": "ran", "outside": "asked", "print": "asked", "push": "asked"},
        "auto": {"write": "ran", "delete": "ran", "print": "ran", "push": "asked"},
    }
    always = {"read": "ran", "status": "ran", "secret": "denied"}
    async with conversation(played("coder", project), project, "reject_once") as talk:
        assert await talk.listed("mode") == list(expected)
        for mode, said in expected.items():
            await talk.set("mode", mode)
            found = await verdicts(talk, *always, *said)
            assert found == {**always, **said}, mode


async def test_coder_plans_with_more_thought_and_asks_how_to_go_on(project: Path) -> None:
    calls = Said(calls=[Call("1", "exit_plan", {})])
    answers = [anthropic.reply(said) for said in (Said(["Hm."]), calls, Said(["Go."]), Said(["Done."]))]
    async with http_server.HttpServer(*answers) as server:
        overlay = on_loopback("coder", server.url, project)
        async with conversation(overlay, project, "1", environment=KEY) as talk:
            await talk.said("hi")
            await talk.set("model", "opus")
            assert await talk.set("mode", "plan") == {"mode": "plan", "model": "opus", "thought_level": "high"}
            await talk.said("plan it")
            assert shown(talk.options()) == {"mode": "edits", "model": "opus", "thought_level": "medium"}
            await talk.said("and now?")
    assert all(asked_as("coder", request) for request in server.requests)
    tools = [{tool["name"] for tool in request.json["tools"]} for request in server.requests]
    assert ["exit_plan" in names for names in tools] == [False, True, False, False]
    assert [effort(request) for request in server.requests] == ["high", "high", "medium", "medium"]


async def test_reviewer_changes_nothing_until_it_is_to_mend(project: Path) -> None:
    async with conversation(played("reviewer", project), project, "reject_once") as talk:
        before = {"read": "ran", "status": "ran", "write": "denied", "delete": "denied", "test": "asked"}
        assert await verdicts(talk, *before) == before
        await talk.set("mode", "mend")
        assert await verdicts(talk, "write", "secret") == {"write": "asked", "secret": "denied"}


async def test_reviewer_has_a_command_that_brings_its_focus_along(project: Path) -> None:
    async with http_server.HttpServer(*[anthropic.reply(Said(["Fine."]))] * 2) as server:
        overlay = on_loopback("reviewer", server.url, project)
        async with conversation(overlay, project, environment=KEY) as talk:
            await talk.set("mode", "mend")
            await talk.said("/security main...")
            assert shown(talk.options())["mode"] == "mend", "it comes back"
            await talk.said("thanks")
    assert all(asked_as("reviewer", request) for request in server.requests)
    systems = [json.dumps(request.json["system"]) for request in server.requests]
    assert ["Look only for security" in system for system in systems] == [True, False]
    assert "Review this change: main..." in json.dumps(server.requests[0].json["messages"])


async def test_architect_writes_markdown_and_nothing_else(project: Path) -> None:
    async with conversation(played("architect", project), project, "0") as talk:
        before = {"write": "denied", "program": "denied"}
        assert await verdicts(talk, *before) == before
        assert shown(talk.options()) == {"mode": "explore", "model": "sonnet", "thought_level": "high"}
        await talk.said("design ready")
        assert shown(talk.options())["mode"] == "write"
        assert await verdicts(talk, "write", "program") == {"write": "asked", "program": "denied"}


async def test_local_models_are_those_that_are_known_and_those_that_a_server_lists(project: Path) -> None:
    def answer(request: http_server.Request) -> http_server.Answer:
        if request.target == "/v1/models":
            ids = ("devstral:24b", "gpt-oss:20b", "nomic-embed-text")
            return http_server.json_answer({"object": "list", "data": [{"id": name} for name in ids]})
        return openai.says("Hi.")

    assert all(provider.api_key is None for provider in configuration("local-models").providers.values())
    async with http_server.HttpServer(*[answer] * 5) as server:
        nobody = 'providers.vllm.base_url = "http://127.0.0.1:9/v1"\n'
        overlay = _overlay("local-models", f'{nobody}providers.ollama.base_url = "{server.url}/v1"\n', project)
        async with conversation(overlay, project) as talk:
            assert [group["name"] for group in talk.option("model")["options"]] == ["Ollama", "vLLM", "LM Studio"]
            await talk.said("one")
            await talk.agent.until(lambda: "devstral:24b" in offered(talk.option("model")))
            assert "nomic-embed-text" not in await talk.listed("model")
            await talk.set("model", "devstral:24b")
            await talk.said("two")
            await talk.set("model", "Qwen/Qwen3-Coder-30B-A3B-Instruct")
            assert "127.0.0.1:9 refused the connection" in await talk.said("three")
    asked = [request.json for request in server.requests if request.method == "POST"]
    assert [body["model"] for body in asked] == ["gpt-oss:20b", "devstral:24b"]
    assert [body.get("reasoning_effort") for body in asked] == ["medium", None]


async def test_the_team_s_gateway_has_the_modes_that_the_team_wants(project: Path) -> None:
    async with conversation(played("team-gateway", project), project, "reject_once") as talk:
        assert await talk.listed("mode") == ["code", "plan", "edits", "unattended"]
        with pytest.raises(RequestFailed) as refused:
            await talk.set("mode", "auto")
        assert refused.value.code == -32602
        await talk.set("mode", "edits")
        assert await verdicts(talk, "write", "pipeline", "commit") == {
            "write": "ran", "pipeline": "asked", "commit": "asked",
        }  # fmt: skip
        await talk.set("mode", "unattended")
        alone = {"write": "ran", "test": "ran", "print": "denied", "delete": "denied", "secret": "denied"}
        assert await verdicts(talk, *alone) == alone


@pytest.mark.parametrize("text", re.findall(r"^```toml\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL))
def test_what_the_docs_write_over_a_preset_is_valid(text: str, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(text, encoding="utf-8")
    checked = check(str(tmp_path / "agent.toml"))
    assert checked.problems == ()
    assert checked.linked is not None
