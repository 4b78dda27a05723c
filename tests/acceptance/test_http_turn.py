"""A turn through the real process and a real loopback endpoint that speaks Chat Completions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from socket import socket

import pytest

from agent_process import RequestFailed, agent_process, choose, shown, text
from servers import http_server, openai

AGENT = """
schema = 1
[agent]
instructions = "Be exact."
[providers.loopback]
adapter = "openai"
base_url = "{url}/v1"
api_key = {{ env = "LOOPBACK_KEY" }}
params = {{ seed = 7 }}
[models.m]
provider = "loopback"
id = "the-model"
limit = {{ context = 1000 }}
cost = {{ input = 1.0, output = 2.0 }}
reasoning = {{ values = ["low", "high"], default = "high" }}
params = {{ temperature = 0.5 }}
[options.effort]
values_from = "model.reasoning"
"""

KEY = {"LOOPBACK_KEY": "sk-marker-5e1f"}


async def test_reasoning_two_parallel_tool_calls_and_usage(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first\n", encoding="utf-8")
    reads = openai.answer(
        openai.thought("Both "),
        openai.thought("files."),
        openai.tool_call(0, "one", "read_file", '{"path": '),
        openai.tool_call(1, "two", "list_files", '{"path": "."}'),
        openai.tool_call(0, None, None, '"a.txt"}'),
        openai.finish("tool_calls"),
        openai.usage(100, 20),
    )
    async with http_server.HttpServer(reads, openai.says("It says ", "first.", read=150)) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        async with agent_process(config, environment=KEY) as agent:
            session = await agent.new_session(tmp_path)
            assert await agent.prompt(session, "what do they say?") == {"stopReason": "end_turn"}

    assert agent.said("agent_thought_chunk") == "Both files."
    assert agent.said() == "It says first."
    calls = {update["toolCallId"]: update["kind"] for update in agent.updates("tool_call")}
    assert sorted(calls.values()) == ["read", "search"]
    finals = [update for update in agent.updates("tool_call_update") if update["status"] == "completed"]
    assert {update["toolCallId"] for update in finals} == set(calls)
    usage = agent.updates("usage_update")
    assert [(update["used"], update["size"]) for update in usage] == [(120, 1000), (152, 1000)]
    assert usage[-1]["cost"] == {"amount": pytest.approx((250 * 1.0 + 22 * 2.0) / 1e6), "currency": "USD"}

    first, second = server.requests
    assert first.headers["authorization"] == "Bearer sk-marker-5e1f"
    assert (first.json["model"], first.json["seed"], first.json["temperature"]) == ("the-model", 7, 0.5)
    assert first.json["reasoning_effort"] == "high"
    results = [message for message in second.json["messages"] if message["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == ["one", "two"]
    assert "first" in results[0]["content"] and "a.txt" in results[1]["content"]


async def test_cancel_closes_the_upstream_connection_before_the_prompt_is_answered(tmp_path: Path) -> None:
    never = asyncio.Event()
    endless = openai.answer(openai.text("Once upon a time"), never)
    async with http_server.HttpServer(endless, openai.says("Still here.")) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        async with agent_process(config, environment=KEY) as agent:
            session = await agent.new_session(tmp_path)
            running = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[text("a story")])
            await agent.until(lambda: agent.said())
            agent.notify("session/cancel", sessionId=session["sessionId"])
            answer = await asyncio.wait_for(running, 20)
            assert answer == {"stopReason": "cancelled"}
            await asyncio.wait_for(server.exchanges[0].hung_up.wait(), 20)
            assert await agent.prompt(session, "are you there?") == {"stopReason": "end_turn"}
    roles = [message["role"] for message in server.requests[1].json["messages"]]
    assert roles == ["system", "user", "assistant", "user"], "what was heard before the cancel is kept"


async def test_a_request_that_is_given_up_twice_is_answered_once_its_turn_is_over(tmp_path: Path) -> None:
    stubborn = {"command": "trap '' TERM; echo started; while true; do sleep 0.1; done"}
    async with http_server.HttpServer(openai.calls(("1", "shell", stubborn)), openai.says("Here.")) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        answers = {"session/request_permission": choose("allow_once")}
        async with agent_process(config, environment=KEY, answers=answers) as agent:
            session = await agent.new_session(tmp_path)
            running = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[text("go")])
            await agent.until(lambda: "started\\n" in str(agent.updates("tool_call_update")))
            for _ in range(2):
                agent.notify("$/cancel_request", requestId=3)
                with pytest.raises(RequestFailed):
                    await agent.request("_what/was_sent_before_was_read")
            assert await running == {"stopReason": "cancelled"}
            assert agent.updates()[-1]["status"] == "failed"
            await agent.prompt(session, "are you there?")
    assert [message["role"] for message in server.requests[1].json["messages"]][1:] == [
        "user", "assistant", "tool", "user"
    ]  # fmt: skip


async def test_a_provider_that_fails_ends_the_turn_with_a_message_and_the_session_lives(tmp_path: Path) -> None:
    refusal = http_server.json_answer({"error": {"message": "no such model: sk-marker-5e1f"}}, 404)
    async with http_server.HttpServer(refusal, openai.says("Hello.")) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        async with agent_process(config, environment=KEY) as agent:
            session = await agent.new_session(tmp_path)
            answer = await agent.prompt(session, "hi")
            assert answer["stopReason"] == "end_turn"
            assert answer["_meta"]["agentoml"]["error"]["kind"] == "bad_request"
            assert "no such model" in agent.said()
            assert await agent.prompt(session, "hi again") == {"stopReason": "end_turn"}
    assert "sk-marker" not in f"{agent.frames}{agent.errors}", "a key is never shown, also where a provider echoes it"


async def test_a_missing_credential_is_said_when_it_is_needed(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(AGENT.format(url="http://127.0.0.1:9"), encoding="utf-8")
    async with agent_process(config, environment={"LOOPBACK_KEY": ""}) as agent:
        session = await agent.new_session(tmp_path)
        answer = await agent.prompt(session, "hi")
        assert answer["_meta"]["agentoml"]["error"]["kind"] == "auth"
        assert "LOOPBACK_KEY" in agent.said()


async def test_a_call_that_is_rejected_does_not_run_and_the_model_is_told(tmp_path: Path) -> None:
    writes = openai.calls(("w", "write_file", {"path": "new.txt", "content": "x"}))
    async with http_server.HttpServer(writes, openai.says("As you wish.")) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        answers = {"session/request_permission": choose("reject_once")}
        async with agent_process(config, environment=KEY, answers=answers) as agent:
            session = await agent.new_session(tmp_path)
            await agent.prompt(session, "write")
    assert not (tmp_path / "new.txt").exists()
    assert agent.updates("tool_call_update")[-1]["status"] == "failed"
    result = server.requests[1].json["messages"][-1]
    assert result["role"] == "tool" and "rejected" in result["content"]


async def test_one_question_is_asked_at_a_time_and_its_answer_may_settle_the_next(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    for folder in (outside, project):
        folder.mkdir()
    for name in "ab":
        (outside / name).write_text(f"text of {name}", encoding="utf-8")
    reads = openai.calls(*((name, "read_file", {"path": str(outside / name)}) for name in "ab"))
    async with http_server.HttpServer(reads, openai.says("Read.")) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        answers = {"session/request_permission": choose("allow_always")}
        async with agent_process(config, environment=KEY, answers=answers) as agent:
            await agent.prompt(await agent.new_session(project), "read them")
    assert [frame.get("method") for frame in agent.frames].count("session/request_permission") == 1
    assert {name: "text of" in told for name, told in openai.tool_results(server.requests[1].json).items()} == {
        "a": True,
        "b": True,
    }


async def test_a_second_prompt_while_one_runs_is_refused(tmp_path: Path) -> None:
    never = asyncio.Event()
    async with http_server.HttpServer(openai.answer(openai.text("One"), never)) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        async with agent_process(config, environment=KEY) as agent:
            session = await agent.new_session(tmp_path)
            running = agent.start_request("session/prompt", sessionId=session["sessionId"], prompt=[text("one")])
            await agent.until(lambda: agent.said())
            with pytest.raises(RequestFailed) as refused:
                await agent.prompt(session, "two")
            assert (refused.value.code, refused.value.data) == (-32600, {"reason": "prompt_in_progress"})
            agent.notify("session/cancel", sessionId=session["sessionId"])
            assert (await asyncio.wait_for(running, 20))["stopReason"] == "cancelled"


FALLBACK = """
schema = 1
[providers.big]
adapter = "openai"
base_url = "{url}/v1"
retry = {{ attempts = 2, base = "1ms", max = "2ms" }}
[providers.gone]
adapter = "openai"
base_url = "http://127.0.0.1:{closed}/v1"
retry = {{ attempts = 2, base = "1ms", max = "2ms" }}
[providers.small]
adapter = "openai"
base_url = "{url}/v1"
[models.big]
provider = "big"
fallback = ["gone", "small"]
[models.gone]
provider = "gone"
[models.small]
provider = "small"
[options.model]
values_from = "models"
"""


async def test_a_provider_is_asked_again_and_what_stays_away_is_replaced(tmp_path: Path) -> None:
    overloaded = http_server.json_answer({"error": {"message": "overloaded"}}, 503)
    limited = http_server.json_answer({"error": {"message": "slow down"}}, 429, Retry_After="0")
    answers = (overloaded, openai.says("Second try."), limited, overloaded, openai.says(" From the small one."))
    with socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken and not listened at
        async with http_server.HttpServer(*answers) as server:
            config = tmp_path / "agent.toml"
            config.write_text(FALLBACK.format(url=server.url, closed=closed.getsockname()[1]), encoding="utf-8")
            async with agent_process(config) as agent:
                session = await agent.new_session(tmp_path)
                assert await agent.prompt(session, "one") == {"stopReason": "end_turn"}
                assert agent.said() == "Second try."
                assert await agent.prompt(session, "two") == {"stopReason": "end_turn"}
                assert agent.said() == "Second try. From the small one."
    assert [request.json["model"] for request in server.requests] == ["big"] * 4 + ["small"]
    seen = [shown(update["configOptions"])["model"] for update in agent.updates("config_option_update")]
    assert seen == ["gone", "small", "big"], "what answers is shown while it does"


async def test_arguments_that_are_no_json_are_told_to_the_model_and_the_session_lives(tmp_path: Path) -> None:
    wrong = openai.answer(
        openai.tool_call(0, "one", "read_file", '{"path": "a.txt", "line": NaN}'), openai.finish("tool_calls")
    )
    async with http_server.HttpServer(wrong, openai.says("I see."), openai.says("Yes.")) as server:
        config = tmp_path / "agent.toml"
        config.write_text(AGENT.format(url=server.url), encoding="utf-8")
        async with agent_process(config, environment=KEY) as agent:
            session = await agent.new_session(tmp_path)
            assert await agent.prompt(session, "read") == {"stopReason": "end_turn"}
            assert await agent.prompt(session, "still there?") == {"stopReason": "end_turn"}
    assert "NaN, which is no number that JSON has" in openai.tool_results(server.requests[1].json)["one"]
    (call,) = (call for message in server.requests[2].json["messages"] for call in message.get("tool_calls", ()))
    assert json.loads(call["function"]["arguments"], parse_constant=pytest.fail)
    assert agent.updates("tool_call")[0]["status"] == "failed"
