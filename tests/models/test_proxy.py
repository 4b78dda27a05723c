from __future__ import annotations

import pytest

from agentoml.errors import ModelError
from agentoml.models.proxy import proxy_authorization, proxy_for
from agentoml.models.urls import parse_url

PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("url", "environ", "through"),
    [
        ("https://api.example.com/", {}, False),
        ("https://api.example.com/", {"HTTPS_PROXY": PROXY}, True),
        ("https://api.example.com/", {"https_proxy": PROXY, "HTTPS_PROXY": "http://other.example"}, True),
        ("https://api.example.com/", {"HTTP_PROXY": PROXY}, False),
        ("http://api.example.com/", {"HTTP_PROXY": PROXY}, True),
        ("http://api.example.com/", {"ALL_PROXY": PROXY}, True),
        ("http://api.example.com/", {"HTTP_PROXY": "proxy.example:3128"}, True),
        ("http://127.0.0.1:4000/", {"ALL_PROXY": PROXY}, False),
        ("http://localhost/", {"ALL_PROXY": PROXY}, False),
        ("https://api.example.com/", {"ALL_PROXY": PROXY, "NO_PROXY": "*"}, False),
        ("https://api.example.com/", {"ALL_PROXY": PROXY, "NO_PROXY": "a.example, example.com"}, False),
        ("https://api.example.com/", {"ALL_PROXY": PROXY, "no_proxy": ".example.com"}, False),
        ("https://api.example.com/", {"ALL_PROXY": PROXY, "no_proxy": "*.example.com:443"}, False),
        ("https://api.example.com/", {"ALL_PROXY": PROXY, "no_proxy": "example.com:8443"}, True),
        ("https://badexample.com/", {"ALL_PROXY": PROXY, "no_proxy": "example.com"}, True),
        ("http://[fe80::1]/", {"ALL_PROXY": PROXY, "no_proxy": "[fe80::1]"}, False),
    ],
)
def test_the_environment_says_which_proxy(url: str, environ: dict[str, str], through: bool) -> None:
    found = proxy_for(parse_url(url), environ)

    assert (found is not None) is through
    assert found is None or found.address == "proxy.example:3128"


def test_a_proxy_of_an_unknown_kind_is_a_clear_error() -> None:
    with pytest.raises(ModelError, match="proxy for https") as error:
        proxy_for(parse_url("https://x.example"), {"ALL_PROXY": "socks5://u:secret@proxy.example"})

    assert "secret" not in str(error.value)


def test_credentials_of_a_proxy_become_its_header() -> None:
    assert proxy_authorization(parse_url("http://aladdin:open%20sesame@p.example")) == {
        "Proxy-Authorization": "Basic YWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    }
    assert proxy_authorization(parse_url("http://p.example")) == {}
