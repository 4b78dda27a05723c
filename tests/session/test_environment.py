from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.session.environment import ChildEnvironment
from agentoml.snapshot.build import build
from agentoml.snapshot.snapshot import Snapshot


def snapshot(tmp_path: Path, *secrets: str) -> Snapshot:
    config = tmp_path / "agent.toml"
    providers = (f'[providers.p{name}]\nadapter = "openai"\napi_key = {{ env = "{name}" }}\n' for name in secrets)
    config.write_text("schema = 1\n" + "".join(providers), encoding="utf-8")
    built = build(config)
    assert built.snapshot is not None, built.problems
    return built.snapshot


def test_children_see_no_variable_that_a_secret_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", "one")
    monkeypatch.setenv("SECOND", "two")
    seen = ChildEnvironment()
    seen.hide_secrets_of(snapshot(tmp_path, "FIRST"))
    assert "FIRST" not in seen
    assert seen["SECOND"] == "two"
    assert "FIRST" not in dict(seen)


def test_what_a_reload_declares_is_hidden_and_what_it_drops_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRST", "one")
    monkeypatch.setenv("SECOND", "two")
    seen = ChildEnvironment()
    seen.hide_secrets_of(snapshot(tmp_path, "FIRST"))
    seen.hide_secrets_of(snapshot(tmp_path, "SECOND"))
    assert not {"FIRST", "SECOND"} & set(seen)
    assert len(seen) == len(dict(seen))
