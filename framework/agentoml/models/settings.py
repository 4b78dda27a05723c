"""What an adapter over HTTP is told of its provider, and how it comes by the credential."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from attrs import field, frozen

from agentoml.config.vocabulary.notation import Secret
from agentoml.errors import AgentomlError, ModelError
from agentoml.models.urls import Url

SecretResolver = Callable[[Secret], Awaitable[str]]
"""Where a secret is declared -> the secret; raises an AgentomlError that does not contain it."""


class Credential:
    """A provider's credential, had when a request needs it.

    A variable or file is read for every request, so a rotated one counts at once. What a command or keyring gave
    (slow, perhaps with a question to the user) is kept until the provider refuses it.
    """

    def __init__(self, provider: str, secret: Secret | None, resolve: SecretResolver) -> None:
        self._provider = provider
        self._secret = secret
        self._resolve = resolve
        self._kept: str | None = None
        self._lock = asyncio.Lock()

    async def get(self) -> str | None:
        """Return the credential, None where the provider needs none.

        Raises:
            ModelError: auth; it can't be had.
        """
        if self._secret is None:
            return None
        async with self._lock:
            if self._kept is not None:
                return self._kept
            try:
                key = await self._resolve(self._secret)
            except ModelError:
                raise
            except AgentomlError as error:
                raise ModelError("auth", f"the credential of provider {self._provider} is missing: {error}") from None
            if self._secret.env is None and self._secret.file is None:
                self._kept = key
            return key

    def forget(self) -> None:
        """Drop what was kept: the provider refused it."""
        self._kept = None


@frozen
class HttpSettings:
    """Where a provider is and how it is asked. Times are in seconds."""

    base_url: Url
    credential: Credential = field(repr=False)
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    connect: float = 10.0
    idle: float = 300.0
