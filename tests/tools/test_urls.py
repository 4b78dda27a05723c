from __future__ import annotations

import pytest

from agentoml.errors import ToolError
from agentoml.tools.urls import checked_url, host_of


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "example.com", "http://", "http://u:p@h/", "http://a b/", "http://a\\@b/", "http://h:x/"],
)
def test_what_can_not_be_fetched_has_no_host(url: str) -> None:
    with pytest.raises(ToolError):
        checked_url(url)
    assert host_of(url) is None


def test_the_host_is_the_one_that_is_asked() -> None:
    assert host_of("https://Example.COM:8443/a?b#c") == "example.com"
    assert checked_url("https://Example.COM?b#c") == "https://example.com/?b"
    assert host_of("http://[::1]:80/") == "::1"
    assert checked_url("http://bücher.example/") == "http://xn--bcher-kva.example/"
    assert checked_url("https://h/Köln%20x?q=ä&b=c%3D") == "https://h/K%C3%B6ln%20x?q=%C3%A4&b=c%3D"
