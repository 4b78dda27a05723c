"""Tools without code, kinds as data, questions whose answers are picks, context files and images, in real turns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent_process import RequestFailed, agent_process, choose, shown, text
from servers import http_server, openai

AGENT = """
schema = 1
[agent]
prompt = ["image", "embedded"]
context_files = ["AGENTS.md", "docs/*.md"]
[providers.loopback]
adapter = "openai"
base_url = "{url}/v1"
[models.m]
provider = "loopback"
capabilities = ["tools", "images"]
[models.blind]
provider = "loopback"
capabilities = ["tools"]
[options.model]
values_from = "models"
[modes.plan]
name = "Plan"
[modes.code]
name = "Code"
[tools.count]
description = "Count"
kind = "read"
title = "Count {{word}}"
command = ["{python}", "-c", "import sys; print(sys.argv[1] * 3)", "{{word}}"]
parameters = {{ word = {{ description = "what" }} }}
[tools.exit_plan]
description = "Plan is ready"
choices = [
  {{ name = "Yes", switch_to = {{ mode = "code" }} }},
  {{ name = "Yes, with the other model", switch_to = {{ mode = "code", model = "blind" }} }},
  {{ name = "No, keep planning", reject = true }},
]
[tool_kinds]
write_file = {{ kind = "other", title = "Put {{path}}" }}
"""


def write(tmp_path: Path, url: str) -> Path:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT.format(url=url, python=sys.executable), encoding="utf-8")
    return config


async def test_a_tool_without_code_runs_its_command(tmp_path: Path) -> None:
    calls = openai.calls(("1", "count", {"word": "ab"}))
    async with http_server.HttpServer(calls, openai.says("Done.")) as server:
        async with agent_process(write(tmp_path, server.url)) as agent:
            await agent.prompt(await agent.new_session(tmp_path), "go")
    assert [(call["title"], call["kind"]) for call in agent.updates("tool_call")] == [("Count ab", "read")]
    assert "ababab" in server.requests[1].json["messages"][-1]["content"]


async def test_tool_kinds_decide_what_permissions_and_the_user_see(tmp_path: Path) -> None:
    calls = openai.calls(("1", "write_file", {"path": "x.txt", "content": "x"}))
    async with http_server.HttpServer(calls, openai.says("Done.")) as server:
        answers = {"session/request_permission": choose("allow_once")}
        async with agent_process(write(tmp_path, server.url), answers=answers) as agent:
            await agent.prompt(await agent.new_session(tmp_path), "go")
    assert [(call["title"], call["kind"]) for call in agent.updates("tool_call")] == [("Put x.txt", "other")]
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize(
    ("answer", "after", "told"),
    [
        ("0", {"model": "m", "mode": "code"}, "Yes"),
        ("1", {"model": "blind", "mode": "code"}, "Yes, with the other model"),
        ("2", {"model": "m", "mode": "plan"}, "No, keep planning"),
    ],
)
async def test_a_question_with_three_answers_switches_for_good(
    tmp_path: Path, answer: str, after: dict[str, str], told: str
) -> None:
    calls = openai.calls(("1", "exit_plan", {}))
    async with http_server.HttpServer(calls, openai.says("Well.")) as server:
        asked = []

        def choose_and_note(params: dict[str, object]) -> dict[str, object]:
            asked.append(params)
            return choose(answer)({})

        async with agent_process(
            write(tmp_path, server.url), answers={"session/request_permission": choose_and_note}
        ) as agent:
            session = await agent.new_session(tmp_path)
            await agent.prompt(session, "go")
            now = shown(
                (
                    await agent.request(
                        "session/set_config_option",
                        sessionId=session["sessionId"],
                        configId="model",
                        value=after["model"],
                    )
                )["configOptions"]
            )
    assert len(asked) == 1, "the question is the only one"
    assert now == after
    assert told in server.requests[1].json["messages"][-1]["content"]


async def test_the_shipped_switch_mode_asks_and_switches(tmp_path: Path) -> None:
    calls = openai.calls(("1", "switch_mode", {"mode": "code", "reason": "the plan is ready"}))
    async with (
        http_server.HttpServer(calls, openai.says("Well.")) as server,
        agent_process(write(tmp_path, server.url), answers={"session/request_permission": choose("0")}) as agent,
    ):
        await agent.prompt(await agent.new_session(tmp_path), "go")
    assert agent.updates("current_mode_update") == [{"sessionUpdate": "current_mode_update", "currentModeId": "code"}]
    assert agent.updates("tool_call")[0]["kind"] == "switch_mode"


async def test_context_files_stand_in_the_system_prompt(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Read me.", encoding="utf-8")
    async with http_server.HttpServer(openai.says("Hi.")) as server:
        async with agent_process(write(tmp_path, server.url)) as agent:
            await agent.prompt(await agent.new_session(tmp_path), "go")
    system = server.requests[0].json["messages"][0]["content"]
    assert '<file path="AGENTS.md">\nUse tabs.\n</file>' in system and '<file path="docs/a.md">' in system


async def test_images_and_resources_reach_a_model_that_takes_them_and_no_other(tmp_path: Path) -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    resource = {"type": "resource", "resource": {"uri": "file:///n.md", "text": "Notes."}}
    async with http_server.HttpServer(openai.says("Nice."), openai.says("Yes.")) as server:
        async with agent_process(write(tmp_path, server.url)) as agent:
            session = await agent.new_session(tmp_path)
            prompt = [text("look"), image, resource]
            await agent.request("session/prompt", sessionId=session["sessionId"], prompt=prompt)
            await agent.set(session, "model", "blind")
            with pytest.raises(RequestFailed) as refused:
                await agent.request("session/prompt", sessionId=session["sessionId"], prompt=prompt)
            assert (refused.value.code, refused.value.data["path"]) == (-32602, "$.prompt[1]")
            assert "blind" in str(refused.value)
            await agent.prompt(session, "still there?")
    content = server.requests[0].json["messages"][1]["content"]
    assert content[1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert "Notes." in content[2]["text"]
