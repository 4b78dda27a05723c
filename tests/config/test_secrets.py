"""Secrets from each of their places, and what is masked of them."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from agentoml.config.secrets import MaskingFormatter, SecretMissing, Vault, resolve_secret
from agentoml.config.vocabulary.notation import Secret

VALUE = 'hush "hush" 0815'


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of that name of our own, in place of a real one that would ask the machine's."""
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "keyring.py"


async def test_a_secret_comes_from_a_variable_a_file_a_command_or_a_keyring(
    tmp_path: Path, keyring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", VALUE)
    (tmp_path / "key").write_text(f"{VALUE}\n", encoding="utf-8")
    keyring.write_text('def get_password(service, user): return f"{service} and {user}"', encoding="utf-8")
    assert await resolve_secret(Secret(env="KEY")) == VALUE
    assert await resolve_secret(Secret(file=str(tmp_path / "key"))) == VALUE
    assert await resolve_secret(Secret(command=("echo", VALUE))) == VALUE
    assert await resolve_secret(Secret(keyring="https://acme/x/jo")) == "https://acme/x and jo"


@pytest.mark.parametrize(
    ("library", "said"),
    [
        ("raise ImportError", "pip install 'agentoml\\[keyring\\]'"),
        ("def get_password(service, user): return None", "the keyring entry acme/jo gives no secret"),
        (f"def get_password(service, user): raise OSError({VALUE!r})", "the keyring can't be asked: OSError"),
    ],
)
async def test_a_keyring_that_gives_nothing_is_said_so_without_what_it_says(
    keyring: Path, library: str, said: str
) -> None:
    keyring.write_text(library, encoding="utf-8")
    with pytest.raises(SecretMissing, match=said) as raised:
        await resolve_secret(Secret(keyring="acme/jo"))
    assert VALUE not in str(raised.value)


@pytest.mark.parametrize(
    "secret", [Secret(file="a\0b"), Secret(command=("a\0b",)), Secret(file="/"), Secret(command=("/",))]
)
async def test_a_name_that_can_not_be_gives_no_secret_and_is_said_so(secret: Secret) -> None:
    with pytest.raises(SecretMissing, match=r"can't be (read|started)"):
        await resolve_secret(secret)


async def test_a_command_sees_no_variable_that_another_secret_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", VALUE)
    vault = Vault()
    vault.declare([Secret(env="OTHER_KEY")])
    with pytest.raises(SecretMissing, match="exit code"):
        await vault.resolve(Secret(command=("printenv", "OTHER_KEY")))


async def test_what_was_resolved_is_masked_from_then_on(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(VALUE, encoding="utf-8")
    vault = Vault()
    assert vault.masked(VALUE) == VALUE
    await vault.resolve(Secret(file=str(tmp_path / "key")))
    assert vault.masked(f"a {VALUE} b") == "a *** b"
    assert vault.masked({"a": [VALUE, 1, None], "b": (VALUE,)}) == {"a": ["***", 1, None], "b": ("***",)}
    assert vault.masked(json.dumps({"key": VALUE})) == '{"key": "***"}'
    assert vault.masked("?key=hush%20%22hush%22%200815") == "?key=***"


def test_declared_variables_are_masked_before_anybody_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", VALUE)
    vault = Vault()
    vault.declare([Secret(env="KEY"), Secret(env="NOT_SET"), Secret(file="/nowhere")])
    assert vault.masked(VALUE) == "***"
    assert vault.variables == {"KEY", "NOT_SET"}


def test_each_line_of_a_long_secret_is_masked_and_what_is_short_is_not() -> None:
    vault = Vault()
    vault.keep("-----BEGIN KEY-----\nAAAABBBB\nxy\n-----END KEY-----")
    assert vault.masked("1  AAAABBBB\n2  xy") == "1  ***\n2  xy"
    vault.keep("short")
    assert vault.masked("short") == "short"


def test_the_longest_of_several_secrets_is_masked_first() -> None:
    vault = Vault()
    vault.keep("abcdef")
    vault.keep("abcdefghi")
    assert vault.masked("abcdefghi abcdef") == "*** ***"


def test_logs_are_masked_also_in_tracebacks() -> None:
    vault = Vault()
    vault.keep(VALUE)
    record = logging.LogRecord("a", logging.ERROR, "a.py", 1, "it is %s", (VALUE,), None)
    try:
        raise ValueError(VALUE)
    except ValueError:
        record.exc_info = sys.exc_info()
    told = MaskingFormatter(vault, "%(message)s").format(record)
    assert VALUE not in told
    assert "it is ***" in told and "ValueError: ***" in told
