"""What is particular about litellm; what it has in common with the others: test_every_adapter.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentoml.config.vocabulary.notation import Secret
from agentoml.errors import ModelError
from agentoml.models.litellm import Litellm, _arguments
from agentoml.models.model import ModelRequest, TextPart, ToolSpec, UserMessage
from agentoml.models.settings import Credential
from servers.http_server import HttpServer, json_answer

OBSERVE = """
import asyncio, json, os, sys
from agentoml.config.schema import Provider
from agentoml.errors import ModelError
from agentoml.models import litellm
from agentoml.models.adapters import open_adapter
from agentoml.models.model import ModelRequest, TextPart, ToolSpec, UserMessage

async def main():
    adapter = open_adapter("p", Provider(adapter="litellm/no-such-provider"), None)
    seen = {"before": "litellm" in sys.modules}
    environment = dict(os.environ)
    turns, warming = 0, asyncio.gather(litellm.warm(), litellm.warm())
    while not warming.done():
        await asyncio.sleep(0.005)
        turns += 1
    first, second = await warming
    seen |= {"same": first is second, "environment_kept": dict(os.environ) == environment}
    seen |= {"loop_went_on": turns > 5, "from_the_project": os.environ.get("FROM_THE_PROJECT")}
    try:
        await anext(adapter.stream(ModelRequest("m", "", (UserMessage((TextPart("x"),)),))))
    except ModelError as error:
        seen |= {"kind": error.kind, "message": str(error)}
    await litellm.close_connections()
    print(json.dumps(seen))

asyncio.run(main())
"""


@pytest.mark.litellm
@pytest.mark.xdist_group("litellm")
def test_it_is_imported_beside_the_event_loop_quietly_and_leaves_the_environment_alone(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_THE_PROJECT=yes\n", encoding="utf-8")

    ran = subprocess.run([sys.executable, "-c", OBSERVE], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert ran.stderr == ""
    (line,) = ran.stdout.splitlines()  # nothing else was printed
    seen = json.loads(line)
    message = seen.pop("message")
    assert seen == {
        "before": False,
        "same": True,
        "environment_kept": True,
        "loop_went_on": True,
        "from_the_project": None,
        "kind": "bad_request",
    }
    assert message.startswith("litellm/no-such-provider failed: ")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"max_output": 100}, {"max_tokens": 100}),
        ({"max_output": 100, "params": {"max_completion_tokens": 50}}, {"max_completion_tokens": 50}),
        ({"reasoning": "high"}, {"reasoning_effort": "high"}),
        ({"params": {"num_retries": 2, "aws_region_name": "x"}}, {"num_retries": 2, "aws_region_name": "x"}),
    ],
)
def test_its_arguments_are_those_of_chat_completions_with_words_of_its_own(
    more: dict[str, object], expected: dict[str, object]
) -> None:
    plain = _arguments(ModelRequest("m", "", ()), "here")

    arguments = _arguments(ModelRequest("m", "", (), **more), "here")  # type: ignore[arg-type]

    assert plain["num_retries"] == plain["max_retries"] == 0
    assert {name: value for name, value in arguments.items() if plain.get(name) != value} == expected


def asked(name: str, api_base: str) -> Litellm:
    async def resolve(_: Secret) -> str:
        return "sk-very-secret"

    return Litellm(name, Credential("p", Secret(env="KEY"), resolve), {"api_base": api_base}, 20.0)


@pytest.mark.litellm
@pytest.mark.xdist_group("litellm")
@pytest.mark.filterwarnings("ignore")  # it warns of itself
@pytest.mark.parametrize("name", ["anthropic", "azure", "gemini", "openai"])
async def test_no_redirect_is_followed_with_the_key(name: str) -> None:
    async with HttpServer() as elsewhere:
        moved = f"http://localhost:{elsewhere.url.rpartition(':')[2]}/v1"
        async with HttpServer(json_answer({}, 307, Location=moved)) as server:
            request = ModelRequest("m", "", (UserMessage((TextPart("x"),)),), params={"api_version": "2026-01-01"})
            with pytest.raises(ModelError):
                await anext(asked(name, server.url).stream(request))

            assert len(server.requests) == 1
        assert elsewhere.connections == 0


@pytest.mark.litellm
@pytest.mark.xdist_group("litellm")
@pytest.mark.filterwarnings("ignore")  # it warns of itself
async def test_what_a_model_does_not_take_is_told_with_a_remedy_in_our_words() -> None:
    tools = (ToolSpec("count", "", {"type": "object"}),)
    request = ModelRequest("m", "", (UserMessage((TextPart("x"),)),), tools)

    with pytest.raises(ModelError) as refused:
        await anext(asked("petals", "http://127.0.0.1:9").stream(request))

    assert refused.value.kind == "bad_request"
    assert str(refused.value) == (
        "litellm/petals failed: petals does not support parameters: ['tools'], for model=m; "
        "leave them out of `params`; where it is `tools`, write `capabilities = []` in the model"
    )


@pytest.mark.parametrize(
    "name", ["api_base", "base_url", "aws_bedrock_runtime_endpoint", "custom_llm_provider", "fallbacks", "ssl_verify"]
)
async def test_params_send_no_call_elsewhere(name: str) -> None:
    request = ModelRequest("m", "", (), params={"api_version": "1", "aws_region_name": "x", name: "elsewhere"})

    with pytest.raises(ModelError, match=f"params can't say {name}") as refused:
        await anext(asked("openai", "http://127.0.0.1:9").stream(request))

    assert refused.value.kind == "bad_request"


@pytest.mark.parametrize("value", ["eu-central-1.evil.example/", "a@b", "", 1, None])
async def test_a_region_is_a_word(value: object) -> None:
    request = ModelRequest("m", "", (), params={"vertex_location": "global", "aws_region_name": value})

    with pytest.raises(ModelError, match="params can't say aws_region_name; write one word"):
        await anext(asked("openai", "http://127.0.0.1:9").stream(request))
