"""`agentoml catalog`: what is listed, what is written where, and what is said when it can't be."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path

import pytest

from agentoml.cli.main import main as command_line
from servers.http_server import Answer, HttpServer, json_answer

Said = pytest.CaptureFixture[str]

AGENT = """schema = 1
[providers.gateway]
adapter = "openai"
base_url = "{url}/v1"
api_key = {{ env = "GATEWAY_KEY" }}
[catalogs.kept]
discover = "gateway"
file = "lists/kept.toml"
include = "m-*"
"""
LIVE = '[catalogs.live]\ndiscover = "gateway"\n'
WHOLE = "  the whole list: what include leaves out is left out on reading\n"
KEY = "sk-of-the-gateway"


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    monkeypatch.chdir(tmp_path)


def written(url: str, more: str = "") -> str:
    Path("agent.toml").write_text(AGENT.format(url=url) + more, encoding="utf-8")
    return "agent.toml"


def listed(*ids: str) -> Answer:
    return json_answer({"data": [{"id": model, "created": 1767225600} for model in ids]})


async def agentoml(*words: str) -> int:
    return await asyncio.to_thread(command_line, list(words))


async def test_a_list_is_written_in_a_stable_order_with_where_it_is_from(capsys: Said) -> None:
    async with HttpServer(listed("m-2", "other", "m-1"), listed("other", "m-1", "m-2")) as server:
        config = written(server.url)
        assert await agentoml("catalog", "sync", config) == 0
        assert capsys.readouterr().out == f"kept: 3 models written to lists/kept.toml\n{WHOLE}"
        content = Path("lists/kept.toml").read_text(encoding="utf-8")
        assert await agentoml("catalog", "sync", config) == 0
        assert capsys.readouterr().out == f"kept: 3 models, as in lists/kept.toml already\n{WHOLE}"
    first, second, *_ = content.splitlines()
    assert first.startswith("# Written by agentoml")
    assert f"3 models of the provider gateway, {server.url}/v1, 20" in second and "agentoml catalog sync" in second
    assert list(tomllib.loads(content)["models"]) == ["m-1", "m-2", "other"]
    assert Path("lists/kept.toml").read_text(encoding="utf-8") == content, "nothing new: not a byte is changed"
    assert KEY not in content
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_what_was_written_counts_and_nobody_is_asked_for_it_again(capsys: Said) -> None:
    async with HttpServer(listed("m-2", "other", "m-1")) as server:
        config = written(server.url)
        assert await agentoml("check", config) == 2
        assert "`agentoml catalog sync` writes it" in capsys.readouterr().out
        await agentoml("catalog", "sync", config)
        assert await agentoml("check", config) == 0
        assert "2 models" in capsys.readouterr().out
        await agentoml("catalog", "list", config)
        row = capsys.readouterr().out.splitlines()[1].split()
        assert row[:3] == ["kept", "2", "lists/kept.toml"]


async def test_what_changed_is_counted(capsys: Said) -> None:
    newer = json_answer({"data": [{"id": "m-1", "created": 1767225600}, {"id": "m-2", "name": "Two"}, {"id": "m-4"}]})
    async with HttpServer(listed("m-1", "m-2", "m-3"), newer) as server:
        config = written(server.url)
        await agentoml("catalog", "sync", config)
        await agentoml("catalog", "sync", config)
    assert "(1 new, 1 changed, 1 gone)" in capsys.readouterr().out


async def test_a_failure_leaves_the_old_file_and_says_why(capsys: Said) -> None:
    refused = json_answer({"error": {"message": f"{KEY} is no key"}}, 401)
    async with HttpServer(listed("m-1"), refused, listed()) as server:
        config = written(server.url)
        await agentoml("catalog", "sync", config)
        content = Path("lists/kept.toml").read_bytes()
        capsys.readouterr()
        assert await agentoml("catalog", "sync", config) == 1
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith("kept: not written: ") and "401" in said.err
        assert KEY not in said.err
        assert await agentoml("catalog", "sync", config) == 1
        assert "lists no models" in capsys.readouterr().err
    assert Path("lists/kept.toml").read_bytes() == content
    assert [file.name for file in Path("lists").iterdir()] == ["kept.toml"]


async def test_a_place_that_can_not_be_written_is_named(capsys: Said) -> None:
    async with HttpServer(listed("m-1")) as server:
        config = written(server.url)
        Path("lists").write_text("no directory", encoding="utf-8")
        assert await agentoml("catalog", "sync", config) == 1
    assert "kept: not written: " in capsys.readouterr().err


async def test_one_that_fails_keeps_no_other_from_being_written(capsys: Said) -> None:
    down = '[providers.down]\nadapter = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nretry.attempts = 1\n'
    async with HttpServer(listed("m-1")) as server:
        config = written(server.url, down + '[catalogs.down]\ndiscover = "down"\n')
        assert await agentoml("catalog", "sync", config) == 1
    said = capsys.readouterr()
    assert "kept: 1 model written" in said.out and "down: not written" in said.err
    assert not Path("catalogs").exists()


async def test_a_hand_written_file_is_never_replaced(capsys: Said) -> None:
    Path("lists").mkdir()
    Path("lists/kept.toml").write_text("# mine\n", encoding="utf-8")
    async with HttpServer() as server:
        assert await agentoml("catalog", "sync", written(server.url)) == 1
        assert server.connections == 0
    assert "written by somebody else" in capsys.readouterr().err
    assert Path("lists/kept.toml").read_text(encoding="utf-8") == "# mine\n"


async def test_a_list_without_a_file_is_written_beside_the_configuration_and_the_key_to_add_is_said(
    capsys: Said,
) -> None:
    async with HttpServer(listed("m-1")) as server:
        assert await agentoml("catalog", "sync", written(server.url, LIVE), "live") == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "live: 1 model written to catalogs/live.toml",
        '  it counts once [catalogs.live] says file = "catalogs/live.toml"',
    ]
    assert len(server.requests) == 1, "of two catalogs the named one alone"


async def test_a_provider_that_a_policy_leaves_out_is_not_asked(
    capsys: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policy.toml").write_text('schema = 1\n[policy]\nproviders = ["other"]\n', encoding="utf-8")
    monkeypatch.setenv("AGENTOML_POLICY", str(tmp_path / "policy.toml"))
    async with HttpServer() as server:
        assert await agentoml("catalog", "sync", written(server.url)) == 1
        assert server.connections == 0
    assert "a policy leaves out" in capsys.readouterr().err


def test_litellms_map_is_written_too_for_the_declared_providers(capsys: Said) -> None:
    Path("agent.toml").write_text(
        'schema = 1\n[providers.a]\nadapter = "anthropic"\n[catalogs.map]\nbundled = "litellm"\nfile = "map.toml"\n',
        encoding="utf-8",
    )
    assert command_line(["catalog", "sync", "agent.toml"]) == 0
    content = Path("map.toml").read_text(encoding="utf-8")
    assert "of litellm 1." in content.splitlines()[1]
    models = tomllib.loads(content)["models"]
    assert models and {model["provider"] for model in models.values()} == {"a"}
    assert command_line(["check", "agent.toml"]) == 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["sync", "agent.toml", "kpt"], 2, "did you mean `kept`?"),
        (["sync", "kept"], 2, "no catalog"),
        (["sync", "missing.toml"], 2, "there is no such file"),
        (["list", "missing.toml"], 2, "there is no such file"),
    ],
)
def test_what_is_not_there_is_said(words: list[str], code: int, says: str, capsys: Said) -> None:
    written("http://127.0.0.1:9")
    assert command_line(["catalog", *words]) == code
    assert says in capsys.readouterr().err


def test_a_shipped_preset_can_not_keep_files(capsys: Said) -> None:
    assert command_line(["catalog", "sync", "preset:local-models", "ollama"]) == 1
    assert "in your own configuration" in capsys.readouterr().err


def test_a_configuration_without_catalogs_says_how_to_have_one(capsys: Said) -> None:
    assert command_line(["catalog", "list", "preset:offline"]) == 0
    assert "[catalogs.NAME]" in capsys.readouterr().out
    assert command_line(["catalog", "sync", "preset:offline"]) == 0
    assert "nothing to write" in capsys.readouterr().out


def test_of_a_configuration_that_is_not_there_nothing_is_listed(capsys: Said) -> None:
    assert command_line(["catalog", "list", "nope.toml"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "there is no such file" in said.err


async def test_the_list_of_catalogs_as_json(capsys: Said) -> None:
    Path("more.toml").write_text('[models.a]\nprovider = "gateway"\n[models.b]\n', encoding="utf-8")
    more = LIVE + '[catalogs.more]\nfile = "more.toml"\nexclude = "b"\n[catalogs.map]\nbundled = "litellm"\n'
    config = written("http://127.0.0.1:9", more)
    text = Path(config).read_text(encoding="utf-8").replace('file = "lists/kept.toml"\n', "")
    Path(config).write_text(text, encoding="utf-8")
    assert command_line(["catalog", "list", "--format", "json", config]) == 0
    found = {row["catalog"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name: (row["source"], row["models"], row["listed"]) for name, row in found.items()} == {
        "kept": ("discover", 0, 0),
        "live": ("discover", 0, 0),
        "more": ("file", 1, 2),
        "map": ("bundled", 0, 0),
    }
    assert found["live"]["as_of"] is None and found["more"]["as_of"] is not None


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('discover = "gateway"\nbundled = "litellm"\nfile = "x.toml"', "exactly one of"),
        ('discover = "gateway"\nfile = ["x.toml", "y.toml"]', "exactly one of"),
        ('include = "*"', "needs one of"),
    ],
)
def test_a_catalog_is_a_list_perhaps_with_its_file_or_files(table: str, says: str, capsys: Said) -> None:
    written("http://127.0.0.1:9", f"[catalogs.odd]\n{table}\n")
    assert command_line(["catalog", "sync", "agent.toml"]) == 2
    assert says in capsys.readouterr().err
