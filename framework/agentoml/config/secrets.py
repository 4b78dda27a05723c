"""Where a secret is declared -> the secret, resolved at the moment a request needs it; and masked wherever it shows."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentoml.config.vocabulary.notation import Secret
from agentoml.errors import AgentomlError
from agentoml.threads import in_thread

if TYPE_CHECKING:
    import re

ANSWER_SECONDS = 30.0
"""How long a file, a command or a keyring may take to give a secret."""
SHORTEST_MASKED = 6
"""A shorter value is not masked: it would be found everywhere, and protects nothing."""
MASK = "***"
PR_SET_DUMPABLE = 4


class SecretMissing(AgentomlError):
    """A secret that can't be had. Its text names where it was looked for, never what was found."""


class Vault:
    """What this process knows of secrets: the values to be masked and the variables that children don't see.

    Both only grow: what was a secret once stays one as long as this process lives, whoever edits the files.
    """

    def __init__(self) -> None:
        self.variables: frozenset[str] = frozenset()
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def declare(self, secrets: Iterable[Secret]) -> None:
        """Hide the variables that these secrets name, and mask their values. No file is read and no command run."""
        names = {secret.env for secret in secrets if secret.env is not None} - self.variables
        self.variables |= names
        for name in names:
            self.keep(os.environ.get(name, ""))

    async def resolve(self, secret: Secret) -> str:
        """Return the secret, without a final newline, and mask it from now on.

        Raises:
            SecretMissing: it can't be had (`resolve_secret`).
        """
        keep_from_others()
        inherited = {name: value for name, value in os.environ.items() if name not in self.variables}
        value = await resolve_secret(secret, inherited)
        self.keep(value)
        return value

    def keep(self, value: str) -> None:
        """Mask a value from now on, also each of its long lines, and as JSON and URLs write it."""
        if value in self._values:
            return
        self._values |= {value}
        forms = {form for known in self._values for form in _forms(known)}
        if forms:
            import re  # not needed by an agent without secrets

            longest_first = sorted(forms, key=lambda form: (-len(form), form))
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def masked(self, value: Any) -> Any:
        """Return a text, or the texts in JSON data, without the known secrets."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self._pattern.sub(MASK, value)
        if isinstance(value, Mapping):
            return {name: self.masked(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.masked(inner) for inner in value)
        return value


@lru_cache(maxsize=1)
def keep_from_others() -> None:
    """Have the kernel keep our memory out of core files, and our environment from other processes of the same user.

    Only Linux knows how; what we start is as ever.
    """
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # not needed before there is a secret

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


class MaskingFormatter(logging.Formatter):
    """Formats log records, tracebacks included, without the known secrets."""

    def __init__(self, vault: Vault, text: str) -> None:
        super().__init__(text)
        self._vault = vault

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return str(self._vault.masked(super().format(record)))


def _forms(value: str) -> Iterable[str]:
    import json
    from urllib.parse import quote

    for text in {value, *(line.strip() for line in value.splitlines())}:
        if len(text) >= SHORTEST_MASKED:
            yield from (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], quote(text, safe=""))


async def resolve_secret(secret: Secret, environment: Mapping[str, str] | None = None) -> str:
    """Return the secret, without a final newline. `environment` is that of a command; left out: all of ours.

    Raises:
        SecretMissing: the variable is not set, the file can't be read, the command failed, the keyring can't be asked,
            or there is nothing in it.
    """
    if secret.env is not None:
        value, place = os.environ.get(secret.env, ""), f"the environment variable {secret.env}"
    elif secret.file is not None:
        value, place = await _from_file(secret.file), f"the file {secret.file}"
    elif secret.command is not None:
        value, place = await _from_command(secret.command, environment), f"the command {secret.command[0]}"
    else:
        value, place = await _from_keyring(secret.keyring or ""), f"the keyring entry {secret.keyring}"
    value = value.strip("\r\n")
    if not value:
        missing = "is not set where the agent was started" if secret.env is not None else "gives no secret"
        raise SecretMissing(f"{place} {missing}")
    return value


def seems_there(secret: Secret) -> bool:
    """Tell whether the secret is there, as far as that can be told without running anything (E23)."""
    if secret.env is not None:
        return bool(os.environ.get(secret.env))
    if secret.file is not None:
        return Path(secret.file).expanduser().is_file()
    return True


async def _from_file(name: str) -> str:
    """Read a file; in a thread, because it may be a pipe of a password manager, or on a disk that is not there."""
    import asyncio

    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await in_thread(partial(_content, name), "secret")
    except TimeoutError:
        raise SecretMissing(f"the file {name} gave nothing for {ANSWER_SECONDS:.0f} s") from None
    except (OSError, RuntimeError, ValueError) as error:  # no home directory, no text, no name of a file at all
        raise SecretMissing(f"the file {name} can't be read: {type(error).__name__}") from None


def _content(name: str) -> str:
    return Path(name).expanduser().read_text(encoding="utf-8")


async def _from_command(argv: tuple[str, ...], environment: Mapping[str, str] | None) -> str:
    import asyncio  # only where a secret is really asked for

    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=None if environment is None else dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SecretMissing(f"the command {argv[0]} can't be started: {why}") from None
    try:
        output, _ = await asyncio.wait_for(process.communicate(), ANSWER_SECONDS)
    except TimeoutError:
        raise SecretMissing(f"the command {argv[0]} gave nothing for {ANSWER_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise SecretMissing(f"the command {argv[0]} failed with exit code {process.returncode}")
    return output.decode("utf-8", "replace")


async def _from_keyring(entry: str) -> str:
    """Ask the keyring of the user for `service/user`; in a thread, because it may ask the user in turn."""
    import asyncio

    service, _, user = entry.rpartition("/")
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await in_thread(partial(_password, service, user), "keyring") or ""
    except TimeoutError:
        raise SecretMissing(f"the keyring gave nothing for {ANSWER_SECONDS:.0f} s") from None


def _password(service: str, user: str) -> str | None:
    from importlib import import_module

    try:
        keyring = import_module("keyring")
    except ImportError:
        raise SecretMissing("the keyring needs the library of that name: pip install 'agentoml[keyring]'") from None
    try:
        found: str | None = keyring.get_password(service, user)
        return found
    except Exception as error:  # each backend has its own; what it says may quote anything
        raise SecretMissing(f"the keyring can't be asked: {type(error).__name__}") from None
