"""What child processes inherit: our environment without any variable that a secret names."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agentoml.config.notation import Secret
from agentoml.snapshot.snapshot import Snapshot
from agentoml.tools.tool import child_environment


def environment(snapshot: Snapshot) -> dict[str, str]:
    """Return the environment for commands that run under a configuration."""
    return child_environment(os.environ, frozenset(_secret_variables(snapshot)))


def _secret_variables(snapshot: Snapshot) -> Iterator[str]:
    declared: list[object] = [provider.api_key for provider in snapshot.providers.values()]
    for server in snapshot.servers.values():
        declared += (*server.env.values(), *server.headers.values())
    for secret in declared:
        if isinstance(secret, Secret) and secret.env is not None:
            yield secret.env
