from __future__ import annotations

import asyncio

import pytest

from agentoml.config.vocabulary.notation import Secret
from agentoml.errors import AgentomlError, ModelError
from agentoml.models.settings import Credential, HttpSettings
from agentoml.models.urls import parse_url


class Vault:
    """Counts how often it is asked; its secret can be changed."""

    def __init__(self) -> None:
        self.asked = 0
        self.key = "sk-1"

    async def resolve(self, secret: Secret) -> str:
        self.asked += 1
        await asyncio.sleep(0)
        return self.key


async def test_a_provider_without_a_secret_has_no_credential() -> None:
    vault = Vault()

    assert await Credential("gateway", None, vault.resolve).get() is None
    assert vault.asked == 0


@pytest.mark.parametrize("secret", [Secret(env="KEY"), Secret(file="key.txt")])
async def test_variables_and_files_are_read_for_every_request(secret: Secret) -> None:
    vault = Vault()
    credential = Credential("gateway", secret, vault.resolve)
    assert await credential.get() == "sk-1"

    vault.key = "sk-2"

    assert await credential.get() == "sk-2"


async def test_what_a_command_gave_is_kept_until_it_is_refused() -> None:
    vault = Vault()
    credential = Credential("gateway", Secret(command=("op", "read")), vault.resolve)

    assert await asyncio.gather(credential.get(), credential.get()) == ["sk-1", "sk-1"]
    assert vault.asked == 1

    vault.key = "sk-2"
    credential.forget()
    assert await credential.get() == "sk-2"


async def test_a_secret_that_is_missing_is_an_auth_error_that_names_the_provider() -> None:
    async def resolve(secret: Secret) -> str:
        raise AgentomlError("the environment variable KEY gives no secret")

    with pytest.raises(ModelError, match="provider gateway is missing: the environment variable KEY") as error:
        await Credential("gateway", Secret(env="KEY"), resolve).get()

    assert error.value.kind == "auth"


async def test_settings_show_no_secret() -> None:
    vault = Vault()
    credential = Credential("gateway", Secret(command=("x",)), vault.resolve)
    await credential.get()

    shown = repr(HttpSettings(parse_url("http://x.example"), credential, {"x-key": "sk-1"})) + repr(credential)

    assert "sk-1" not in shown
