"""What tests of every folder may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
"""A machine may be busy: how long an example takes is no fault."""


@pytest.fixture
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home for this test and the processes it starts: no configuration, state or lists of the user's reach it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    return home


@pytest.fixture(scope="session", autouse=True)
def no_layer_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests may have a configuration of their own, and an administrator with a policy: not here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("nobody")))
        patch.delenv("AGENTOML_POLICY", raising=False)
        yield
