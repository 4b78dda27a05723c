"""What the tests of models share: a certificate for loopback."""

from __future__ import annotations

import shutil

import pytest

from servers.loopback_tls import LoopbackTls, make_loopback_tls


@pytest.fixture(scope="session")
def loopback_tls(tmp_path_factory: pytest.TempPathFactory) -> LoopbackTls:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here to make a certificate with")
    return make_loopback_tls(openssl, tmp_path_factory.mktemp("tls"))
