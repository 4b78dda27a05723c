from __future__ import annotations

import pytest

from agentoml.models.urls import parse_url


@pytest.mark.parametrize(
    ("text", "address", "target"),
    [
        ("http://127.0.0.1:4000/v1", "127.0.0.1:4000", "/v1"),
        ("https://api.example.com", "api.example.com", "/"),
        ("https://api.example.com:443/v1/", "api.example.com", "/v1/"),
        ("http://[::1]:8080/v1?api-version=2", "[::1]:8080", "/v1?api-version=2"),
        ("HTTPS://API.Example.com/V1", "api.example.com", "/V1"),
        ("https://bücher.example/v1", "xn--bcher-kva.example", "/v1"),
    ],
)
def test_a_url_is_taken_apart(text: str, address: str, target: str) -> None:
    url = parse_url(text)

    assert (url.address, url.target) == (address, target)


def test_a_path_goes_beneath_the_base_and_its_query_stays() -> None:
    assert parse_url("https://x.example/v1").under("chat/completions").target == "/v1/chat/completions"
    assert parse_url("https://x.example").under("chat").target == "/chat"
    assert parse_url("https://x.example/d/?v=1").under("chat").target == "/d/chat?v=1"


@pytest.mark.parametrize(
    "text", ["", "api.example.com/v1", "ftp://x.example", "http://", "http://x:y", "http://a b/", "http://x/ü", "//x"]
)
def test_what_is_no_url_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_url(text)

    assert not text or text not in str(error.value)


def test_credentials_are_kept_apart() -> None:
    url = parse_url("http://name:p%40ss@proxy.example:3128")

    assert url.user == "name:p@ss"
    assert url.address == "proxy.example:3128"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.0.0.5", True),
        ("[::1]", True),
        ("10.0.0.1", False),
        ("x.example", False),
    ],
)
def test_it_knows_this_machine(host: str, loopback: bool) -> None:
    assert parse_url(f"http://{host}/").loopback is loopback
