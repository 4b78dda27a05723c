"""What child processes inherit: our environment without any variable that a secret names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from agentoml.config.secrets import Vault
from agentoml.config.vocabulary.notation import Secret
from agentoml.snapshot.snapshot import Snapshot


class ChildEnvironment(Mapping[str, str]):
    """The variables that a child process which starts now may see.

    What a secret named once stays hidden as long as this process lives: whoever edits a file must not lay it open.
    """

    def __init__(self, vault: Vault | None = None) -> None:
        self.vault = vault or Vault()

    def hide_secrets_of(self, snapshot: Snapshot) -> None:
        """Hide what the secrets of a snapshot name, too."""
        self.vault.declare(_secrets(snapshot))

    def __getitem__(self, name: str) -> str:
        if name in self.vault.variables:
            raise KeyError(name)
        return os.environ[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in os.environ if name not in self.vault.variables)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _secrets(snapshot: Snapshot) -> Iterator[Secret]:
    declared: list[object] = [provider.api_key for provider in snapshot.providers.values()]
    for server in snapshot.servers.values():
        declared += (*server.env.values(), *server.headers.values())
    return (secret for secret in declared if isinstance(secret, Secret))
