"""TLS on loopback: a certificate made on the spot."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

from attrs import frozen


@frozen
class LoopbackTls:
    """A server's context for 127.0.0.1, and a client's that trusts it."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def make_loopback_tls(openssl: str, folder: Path) -> LoopbackTls:
    """Make a certificate for 127.0.0.1 and provider.example with the program `openssl`."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=loopback"
    names = "subjectAltName=IP:127.0.0.1,DNS:provider.example"
    subprocess.run(
        [openssl, *words.split(), "-addext", names, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    return LoopbackTls(server, ssl.create_default_context(cafile=str(certificate)))
