from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.tools.names import SAFE, model_name

NAMES = st.one_of(
    st.text(max_size=80),
    st.from_regex(r"mcp:[a_.-]{1,5}/[a_.-]{1,5}", fullmatch=True),
    st.from_regex(r"mcp__[a_]{1,8}", fullmatch=True),
)


def test_plain_names_stay_and_those_of_servers_are_joined() -> None:
    assert model_name("read_file") == "read_file"
    assert model_name("mcp:github/create_issue") == "mcp__github__create_issue"


def test_a_long_name_stays_within_64() -> None:
    name = model_name(f"mcp:server/{'x' * 80}")

    assert len(name) == 64
    assert name != model_name(f"mcp:server/{'x' * 81}")


@given(st.sets(NAMES, max_size=30))
@settings(max_examples=50)
def test_names_are_accepted_and_no_two_are_the_same(names: set[str]) -> None:
    for_models = {model_name(name) for name in names}

    assert len(for_models) == len(names)
    assert all(map(SAFE.match, for_models))
