from __future__ import annotations

import subprocess
import sys

import pytest

from agentoml.config.schema import Provider, ScriptReply, ScriptStep
from agentoml.config.vocabulary.notation import Secret
from agentoml.errors import ModelError
from agentoml.models.adapters import ADAPTERS, open_adapter, provider_fault
from agentoml.models.model import ModelRequest, TextDelta, TextPart, UserMessage


async def no_secret(secret: Secret) -> str:
    raise AssertionError("a secret was read")


async def test_a_scripted_provider_plays_its_replies() -> None:
    provider = Provider(adapter="scripted", replies={"r": ScriptReply(steps=(ScriptStep(text="hi"),))})

    adapter = open_adapter("offline", provider, no_secret)

    request = ModelRequest("m", "", (UserMessage((TextPart("x"),)),))
    assert await anext(adapter.stream(request)) == TextDelta("hi")
    await adapter.aclose()


@pytest.mark.parametrize("adapter", [*ADAPTERS, "litellm/openai"])
async def test_opening_an_adapter_connects_nowhere_and_reads_no_secret(adapter: str) -> None:
    opened = open_adapter("p", Provider(adapter=adapter, api_key=Secret(env="KEY")), no_secret)

    await opened.aclose()


@pytest.mark.parametrize(
    ("provider", "key", "words"),
    [
        (Provider(), "adapter", "no adapter"),
        (Provider(adapter="opnai"), "adapter", "no adapter 'opnai'; there are scripted, openai, "),
        (Provider(adapter="litellm/"), "adapter", "litellm/NAME"),
        (Provider(adapter="replay"), "adapter", "not supported yet"),
        (Provider(adapter="openai", base_url="localhost:1"), "base_url", "http://"),
        (Provider(adapter="openai", base_url="https://u:p@x.example"), "base_url", "credentials"),
    ],
)
def test_a_provider_with_a_fault_is_told_by_key_and_sentence(provider: Provider, key: str, words: str) -> None:
    fault = provider_fault(provider)

    assert fault is not None
    assert fault.key == key
    assert words in fault.message
    with pytest.raises(ModelError, match="provider gateway: "):
        open_adapter("gateway", provider, no_secret)


def test_a_sound_provider_has_no_fault() -> None:
    assert provider_fault(Provider(adapter="openai", base_url="http://127.0.0.1:4000/v1")) is None


def test_a_scripted_agent_imports_no_network_code() -> None:
    code = (
        "import sys\n"
        "from agentoml.config.schema import Provider\n"
        "from agentoml.models.adapters import open_adapter\n"
        "open_adapter('p', Provider(adapter='scripted'), None)\n"
        "print(*[m for m in ('httptools', 'litellm', 'agentoml.models.http') if m in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == []
