"""Where a secret is declared -> the secret, resolved at the moment a request needs it and kept nowhere."""

from __future__ import annotations

import os
from pathlib import Path

from agentoml.config.notation import Secret
from agentoml.errors import AgentomlError

COMMAND_SECONDS = 30.0


class SecretMissing(AgentomlError):
    """A secret that can't be had. Its text names where it was looked for, never what was found."""


async def resolve_secret(secret: Secret) -> str:
    """Return the secret, without a final newline.

    Raises:
        SecretMissing: the variable is not set, the file can't be read, the command failed, or it is empty.
    """
    if secret.env is not None:
        value = os.environ.get(secret.env, "")
        missing = f"the environment variable {secret.env} is not set where the agent was started"
    elif secret.file is not None:
        value, missing = _from_file(secret.file), f"the file {secret.file} is empty"
    elif secret.command is not None:
        value, missing = await _from_command(secret.command), f"the command {secret.command[0]} printed nothing"
    else:
        raise SecretMissing("a keyring can't be asked yet; use env, file or command")
    value = value.strip("\r\n")
    if not value:
        raise SecretMissing(missing)
    return value


def seems_there(secret: Secret) -> bool:
    """Tell whether the secret is there, as far as that can be told without running anything (E23)."""
    if secret.env is not None:
        return bool(os.environ.get(secret.env))
    if secret.file is not None:
        return Path(secret.file).expanduser().is_file()
    return True


def _from_file(name: str) -> str:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SecretMissing(f"the file {name} can't be read: {type(error).__name__}") from None


async def _from_command(argv: tuple[str, ...]) -> str:
    import asyncio  # only where a secret is really asked for

    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise SecretMissing(f"the command {argv[0]} can't be started: {error.strerror}") from None
    try:
        output, _ = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
    except TimeoutError:
        raise SecretMissing(f"the command {argv[0]} gave nothing for {COMMAND_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise SecretMissing(f"the command {argv[0]} failed with exit code {process.returncode}")
    return output.decode("utf-8", "replace")
