"""Lists of providers are asked for again in the background, each from its own provider, and kept on disk."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agentoml.config.catalogs.lists import list_file_of
from agentoml.session.discovery import Discovery
from agentoml.snapshot.build import build
from agentoml.snapshot.snapshot import Snapshot
from servers.http_server import Answer, HttpServer, json_answer

WAIT_SECONDS = 20.0


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("FIRST_KEY", "sk-first")
    monkeypatch.setenv("SECOND_KEY", "sk-second")


def provider(name: str, url: str) -> str:
    key = f'{{ env = "{name.upper()}_KEY" }}'
    return f'[providers.{name}]\nadapter = "openai"\nbase_url = "{url}"\napi_key = {key}\n'


def compiled(folder: Path, text: str) -> Snapshot:
    file = folder / "agent.toml"
    file.write_text(f"schema = 1\n{text}", encoding="utf-8")
    built = build(file)
    assert built.snapshot is not None, built.problems
    return built.snapshot


def listed(*ids: str) -> Answer:
    return json_answer({"data": [{"id": model} for model in ids]})


@asynccontextmanager
async def discovering(fresh_seconds: float = 0.0, again_seconds: float = 0.0) -> AsyncIterator[Discovery]:
    discovery = Discovery(fresh_seconds, again_seconds)
    try:
        yield discovery
    finally:
        await discovery.close()


async def asked(server: HttpServer, times: int) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while len(server.exchanges) < times:
            server.arrived.clear()
            await server.arrived.wait()


async def test_a_list_that_grew_old_is_asked_for_again(tmp_path: Path) -> None:
    async with HttpServer(listed("one"), listed("two"), listed("three")) as server:
        snapshot = compiled(tmp_path, provider("first", server.url) + '[catalogs.x]\ndiscover = "first"\n')
        async with discovering() as discovery:
            discovery.follow(snapshot)
            await asked(server, 3)
        kept = json.loads(list_file_of("first", snapshot.providers["first"]).read_bytes())
    assert kept["models"].keys() == {"two"} or kept["models"].keys() == {"three"}


async def test_each_provider_gets_its_own_credential_and_no_other(tmp_path: Path) -> None:
    async with HttpServer(listed("one")) as one, HttpServer(listed("two")) as two, HttpServer() as third:
        providers = provider("first", one.url) + provider("second", two.url) + provider("third", third.url)
        snapshot = compiled(tmp_path, f'{providers}[catalogs]\na.discover = "first"\nb.discover = "second"\n')
        async with discovering(fresh_seconds=3600) as discovery:
            discovery.follow(snapshot)
            discovery.follow(snapshot)
            await asked(one, 1)
            await asked(two, 1)
        assert [request.headers["authorization"] for request in (*one.requests, *two.requests)] == [
            "Bearer sk-first",
            "Bearer sk-second",
        ]
        assert third.connections == 0, "a provider that no catalog names is not asked"


async def test_after_a_failure_the_provider_is_asked_again_and_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    down = json_answer({"error": {"message": "down"}}, 503)
    async with HttpServer(down, down, json_answer({"data": []}), listed("one")) as server:
        snapshot = compiled(tmp_path, provider("first", server.url) + '[catalogs.x]\ndiscover = "first"\n')
        async with discovering(fresh_seconds=3600) as discovery:
            discovery.follow(snapshot)
            await asked(server, 4)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2 and "503" in told[0] and "lists no models" in told[1], told
    assert all("provider first" in line and "there is no list yet" in line for line in told)


async def test_a_provider_declared_anew_is_asked_at_once_and_one_that_is_gone_no_more(tmp_path: Path) -> None:
    catalog = '[catalogs.x]\ndiscover = "first"\n'
    async with HttpServer(listed("one")) as old, HttpServer(listed("two")) as new:
        async with discovering(fresh_seconds=3600) as discovery:
            discovery.follow(compiled(tmp_path, provider("first", old.url) + catalog))
            await asked(old, 1)
            discovery.follow(compiled(tmp_path, provider("first", new.url) + catalog))
            await asked(new, 1)
            discovery.follow(compiled(tmp_path, provider("first", old.url)))
        assert len(old.requests) == 1


async def test_a_missing_credential_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warned = asyncio.Event()
    monkeypatch.delenv("FIRST_KEY")
    monkeypatch.setattr("agentoml.session.discovery.logger.warning", lambda *_: warned.set())
    async with HttpServer() as server:
        snapshot = compiled(tmp_path, provider("first", server.url) + '[catalogs.x]\ndiscover = "first"\n')
        async with discovering(again_seconds=3600) as discovery:
            discovery.follow(snapshot)
            await asyncio.wait_for(warned.wait(), WAIT_SECONDS)
        assert server.connections == 0
