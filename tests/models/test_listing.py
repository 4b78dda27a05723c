"""The lists of models that providers give, in the dialects of those who have one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentoml.config.catalogs.lists import list_file_of, provided_models
from agentoml.config.schema import Provider
from agentoml.config.secrets import resolve_secret
from agentoml.config.vocabulary.notation import Secret
from agentoml.errors import ModelError
from agentoml.models.listing import list_models, refresh_list
from servers.http_server import Answer, HttpServer, json_answer


async def models_of(answer: Any, adapter: str = "openai") -> dict[str, dict[str, Any]]:
    async with HttpServer(json_answer(answer)) as server:
        return await list_models("p", Provider(adapter=adapter, base_url=f"{server.url}/v1"), resolve_secret)


async def test_the_plain_list_of_openai_gives_ids_and_dates_in_its_order() -> None:
    found = await models_of({"object": "list", "data": [{"id": "b", "created": 1767225600}, {"id": "a", "created": 0}]})
    assert found == {"b": {"released": "2026-01-01"}, "a": {}}
    assert list(found) == ["b", "a"]


async def test_a_bare_array_is_a_list_too() -> None:
    assert list(await models_of([{"id": "a"}, {"id": "b"}, "nonsense", {"name": "without an id"}])) == ["a", "b"]


async def test_what_a_router_tells_of_a_model_is_taken_over() -> None:
    entry = {
        "id": "vendor/m",
        "name": "Vendor: M",
        "context_length": 200000,
        "top_provider": {"max_completion_tokens": 8000},
        "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003", "image": "x"},
        "architecture": {"input_modalities": ["text", "image", "file"]},
        "supported_parameters": ["tools", "reasoning", "temperature"],
    }
    assert await models_of({"data": [entry]}) == {
        "vendor/m": {
            "name": "Vendor: M",
            "limit": {"context": 200000, "output": 8000},
            "cost": {"input": 3.0, "output": 15.0, "cache_read": 0.3},
            "capabilities": ["tools", "reasoning", "images", "documents"],
        }
    }


@pytest.mark.parametrize("key", ["max_model_len", "context_window", "max_context_length"])
async def test_the_context_window_goes_by_several_names(key: str) -> None:
    assert (await models_of({"data": [{"id": "m", key: 32768}]}))["m"] == {"limit": {"context": 32768}}


async def test_what_cannot_talk_is_left_out_where_the_list_says_so() -> None:
    data = [{"id": "embed", "capabilities": {"completion_chat": False}}, {"id": "chat", "capabilities": {}}]
    assert list(await models_of({"data": data})) == ["chat"]


async def test_oddities_of_an_entry_are_left_out_and_the_entry_stays() -> None:
    odd = {"id": "m", "created": "soon", "pricing": {"prompt": "NaN", "completion": "-1"}, "context_length": "many"}
    assert await models_of({"data": [odd]}) == {"m": {}}


async def test_anthropic_gives_its_list_page_by_page() -> None:
    first = {"data": [{"id": "a", "display_name": "A", "created_at": "2026-02-03T00:00:00Z"}], "has_more": True}
    pages = [json_answer({**first, "last_id": "a"}), json_answer({"data": [{"id": "b"}], "has_more": False})]
    async with HttpServer(*pages) as server:
        provider = Provider(adapter="anthropic", base_url=server.url, api_key=Secret(env="ANTHROPIC_MARK"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_MARK", "sk-mark")
            found = await list_models("p", provider, resolve_secret)
    assert found == {"a": {"name": "A", "released": "2026-02-03"}, "b": {}}
    assert [request.target for request in server.requests] == [
        "/v1/models?limit=1000",
        "/v1/models?limit=1000&after_id=a",
    ]
    assert all(request.headers["x-api-key"] == "sk-mark" for request in server.requests)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (json_answer({"error": {"message": "no"}}, 401), "401"),
        (json_answer({"models": []}), "no list of models"),
        (Answer(["<html>"], 200, {"Content-Type": "text/html"}, framing="length"), "web page"),
        (Answer(["{"], 200, {"Content-Type": "application/json"}, framing="length"), "no JSON"),
        (json_answer({"data": []}), "lists no models"),
    ],
)
async def test_what_is_no_list_leaves_the_kept_one(
    answer: Answer, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    async with HttpServer(json_answer({"data": [{"id": "kept"}]}), answer) as server:
        provider = Provider(adapter="openai", base_url=server.url)
        content = await refresh_list("p", provider, resolve_secret)
        with pytest.raises(ModelError, match=says):
            await refresh_list("p", provider, resolve_secret)
    assert list_file_of("p", provider).read_bytes() == content
    assert provided_models(content, "p") == {"kept": {"provider": "p"}}


async def test_an_adapter_without_a_list_says_so() -> None:
    with pytest.raises(ModelError, match="scripted has no list"):
        await list_models("p", Provider(adapter="scripted"), resolve_secret)
