"""What `agentoml init` writes is valid and runs: each template through the real process, as a newcomer uses it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_process import shown
from agentoml.cli.check import check, summary
from agentoml.cli.init import templates
from conversation import conversation
from servers import anthropic, http_server, openai
from servers.said import Call, Said

pytestmark = pytest.mark.usefixtures("own_home")

MCP_SERVER = Path(__file__).parent / "tools" / "tiny_mcp_server.py"


def init(template: str, folder: Path) -> Path:
    """Run `agentoml init` and return the configuration that it wrote."""
    command = [sys.executable, "-P", "-m", "agentoml", "init", template, str(folder / "agent")]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return folder / "agent" / "agent.toml"


def project(folder: Path) -> Path:
    (folder / "project").mkdir()
    return folder / "project"


@pytest.mark.parametrize("template", templates())
def test_what_is_written_is_valid_without_a_warning(template: str, tmp_path: Path) -> None:
    checked = check(str(init(template, tmp_path)))
    assert re.fullmatch(r"OK: [^;\n]*", summary(checked)), checked.problems


async def test_minimal_runs_without_a_key_and_switches(tmp_path: Path) -> None:
    async with conversation(init("minimal", tmp_path), project(tmp_path)) as talk:
        assert shown(talk.options()) == {"mode": "code", "model": "sonnet"}
        assert "You said: hello" in await talk.said("hello")
        assert await talk.verdict("write") == "asked"
        assert await talk.set("mode", "plan") == {"mode": "plan", "model": "sonnet"}
        assert await talk.verdict("write") == "denied"
        assert await talk.set("model", "opus") == {"mode": "plan", "model": "opus"}


async def test_minimal_takes_a_real_provider_in_the_lines_that_it_names(tmp_path: Path) -> None:
    config = init("minimal", tmp_path)
    text = config.read_text(encoding="utf-8")
    lines = re.findall(r"^#   (.*\n)", text, re.MULTILINE)
    assert len(lines) == 3
    text = re.sub(r"(?m)^\[providers.main\]\n.*?\n\n", "".join(lines) + "\n", text, flags=re.DOTALL)
    async with http_server.HttpServer(anthropic.reply(Said(["Hello."]))) as server:
        real = text.replace('\nadapter = "anthropic"', f'\nadapter = "anthropic"\nbase_url = "{server.url}"')
        config.write_text(real, encoding="utf-8")
        async with conversation(config, project(tmp_path), environment={"ANTHROPIC_API_KEY": "sk-mine"}) as talk:
            assert await talk.said("hi") == "Hello."
    assert server.requests[0].json["model"] == "claude-sonnet-5-5"
    assert server.requests[0].headers["x-api-key"] == "sk-mine"


async def test_team_asks_the_gateway_by_the_house_rules(tmp_path: Path) -> None:
    config = init("team", tmp_path)
    reads = Said(calls=[Call("1", "read_file", {"path": "data/customers/list.csv"})])
    answers = [openai.reply(said) for said in (Said(["Hi."]), reads, Said(["No."]))]
    async with http_server.HttpServer(*answers) as server:
        text = config.read_text(encoding="utf-8")
        assert "http://127.0.0.1:4000/v1" in text
        config.write_text(text.replace("http://127.0.0.1:4000/v1", f"{server.url}/v1"), encoding="utf-8")
        async with conversation(config, project(tmp_path), environment={"GATEWAY_KEY": "sk-team"}) as talk:
            assert shown(talk.options())["model"] == "large"
            assert await talk.listed("mode") == ["code", "plan", "edits", "unattended"]
            await talk.said("hi")
            assert await talk.verdict("read") == "denied"
            assert (await talk.set("model", "small"))["model"] == "small"
    first = server.requests[0]
    assert (first.json["model"], first.json["reasoning_effort"]) == ("claude-opus-5-5", "medium")
    assert (first.headers["authorization"], first.headers["x-team"]) == ("Bearer sk-team", "our-team")
    assert "House rules:" in json.dumps(first.json["messages"][0])


async def test_mcp_has_a_switch_for_each_server(tmp_path: Path) -> None:
    config = init("mcp", tmp_path)
    written = config.read_text(encoding="utf-8")
    server_command = f'command = ["{sys.executable}", "{MCP_SERVER}"]'
    config.write_text(written.replace('command = ["uvx", "mcp-server-time"]', server_command), encoding="utf-8")
    async with http_server.HttpServer(*[anthropic.reply(Said(["Hi."]))] * 2) as server:
        overlay = tmp_path / "overlay.toml"
        loopback = f'{{ base_url = "{server.url}", api_key = {{ env = "LOOPBACK_KEY" }} }}'
        overlay.write_text(
            f'schema = 1\nextends = ["agent/agent.toml"]\nproviders.anthropic = {loopback}\n', encoding="utf-8"
        )
        async with conversation(overlay, project(tmp_path), environment={"LOOPBACK_KEY": "sk"}) as talk:
            options = shown(talk.options())
            assert {key: options[key] for key in ("servers/git", "servers/time")} == {
                "servers/git": False,
                "servers/time": False,
            }
            await talk.said("one")
            await talk.set("servers/time", True)
            await talk.said("two")
    told = [{tool["name"] for tool in request.json["tools"]} for request in server.requests]
    assert told[1] > told[0] and all(name.startswith("mcp__time__") for name in told[1] - told[0])


async def test_catalog_offers_both_and_is_swapped_under_an_open_session(tmp_path: Path) -> None:
    config = init("catalog", tmp_path)
    async with conversation(config, project(tmp_path), environment={"ANTHROPIC_API_KEY": ""}) as talk:
        assert await talk.listed("model") >= ["quick", "daily"]
        assert "claude-opus-5-5" in await talk.listed("model")
        assert shown(talk.options()) == {"model": "daily", "thought_level": "medium"}
        assert "ANTHROPIC_API_KEY is not set" in await talk.said("hi")
        catalog = config.with_name("catalog.toml")
        text = catalog.read_text(encoding="utf-8")
        renamed = text.replace("[models.daily]", '[models.everyday]\naliases = ["daily"]')
        catalog.write_text(renamed, encoding="utf-8")
        await talk.agent.until(lambda: shown(talk.options())["model"] == "everyday")
