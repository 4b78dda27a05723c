"""Policies: what they leave out is not there, what they say no mode lifts, and they never widen anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentoml.cli.check import Checked, check
from agentoml.config.schema import McpServer
from agentoml.permissions.calls import Call, World
from agentoml.permissions.sets import ReadyRule, ReadySet
from agentoml.permissions.verdict import InForce, strictness, verdict
from agentoml.snapshot import clip
from agentoml.snapshot.build import build
from agentoml.snapshot.clip import why_no_model
from agentoml.snapshot.profile import Profile
from agentoml.snapshot.resolve import ClientFacts, Resolved, resolve
from agentoml.snapshot.selections import Refused, Selections, pick
from agentoml.snapshot.snapshot import Snapshot

AGENT = """
schema = 1
[agent]
model = "opus"
auto_answers = ["everything"]
[providers.gateway]
adapter = "openai"
base_url = "http://127.0.0.1:4000/v1"
[providers.other]
adapter = "anthropic"
[models.sonnet]
provider = "gateway"
fallback = ["opus"]
[models.opus]
provider = "gateway"
aliases = ["big"]
[models.haiku]
provider = "other"
[models."openai/*"]
provider = "gateway"
id = "*"
[modes.code]
[modes.audit]
set = { model = "opus", permissions = "everything" }
[options.model]
values_from = "models"
open = true
other = { set = { permissions = "no-changes" } }
[options.servers]
each = "mcp"
[mcp.docs]
url = "http://docs.acme.com/mcp"
[mcp.shell]
command = ["shell-mcp"]
"""
FACTS = ClientFacts(name="tests", booleans=True, trusted=True, credentials=frozenset({"gateway", "other"}))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home/agentoml").mkdir(parents=True)
    return tmp_path / "home/agentoml/agent.toml"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    file = tmp_path / "agent.toml"
    file.write_text(AGENT, encoding="utf-8")
    return file


def under(agent: Path, own: Path, policy: str) -> Snapshot:
    own.write_text(f"schema = 1\n[policy]\n{policy}\n", encoding="utf-8")
    built = build(agent)
    assert built.problems == ()
    assert built.snapshot is not None
    return built.snapshot


def in_force(snapshot: Snapshot, selections: Selections | None = None) -> Resolved:
    return resolve(snapshot, FACTS, selections or Selections())


def offered(snapshot: Snapshot, option: str) -> list[str]:
    [found] = [one for one in in_force(snapshot).options if one.id == option]
    return [value.value for value in found.values]


def test_models_that_are_left_out_are_not_there_whatever_names_them(agent: Path, own: Path) -> None:
    snapshot = under(agent, own, 'models = ["*", "!opus"]')

    assert offered(snapshot, "model") == ["sonnet", "haiku"]
    assert in_force(snapshot).profile.model == "sonnet"
    audit = pick(snapshot, FACTS, Selections(), "mode", "audit", now=0)
    assert in_force(snapshot, audit).profile.model == "sonnet"
    for name in ("opus", "big"):
        with pytest.raises(Refused, match=f'"opus" is left out by the policy of {own}'):
            pick(snapshot, FACTS, Selections(), "model", name, now=0)
    assert [key for key in snapshot.models["sonnet"].fallback if key in snapshot.models] == []


def test_what_a_starred_entry_serves_is_left_out_too(agent: Path, own: Path) -> None:
    snapshot = under(agent, own, 'models = ["sonnet", "openai/gpt-5"]')

    assert pick(snapshot, FACTS, Selections(), "model", "openai/gpt-5", now=0)
    with pytest.raises(Refused):
        pick(snapshot, FACTS, Selections(), "model", "openai/gpt-6", now=0)


def test_a_provider_goes_with_its_models_and_so_does_one_whose_host_may_not_be_reached(agent: Path, own: Path) -> None:
    assert offered(under(agent, own, 'providers = "other"'), "model") == ["haiku"]
    assert offered(under(agent, own, 'hosts = ["127.0.0.1"]'), "model") == ["sonnet", "opus"]
    assert offered(under(agent, own, 'hosts = ["!127.*"]'), "model") == ["haiku"]


def test_servers_that_are_left_out_are_not_there_and_not_offered(agent: Path, own: Path) -> None:
    snapshot = under(agent, own, 'mcp = ["docs"]')

    assert [option.id for option in in_force(snapshot).options] == ["mode", "model", "servers/docs"]
    assert in_force(snapshot).profile.mcp == {"docs": True}
    assert list(under(agent, own, 'hosts = ["*.example"]').servers) == ["shell"]


def test_servers_that_a_client_brings_are_left_out_too(agent: Path, own: Path) -> None:
    theirs = McpServer(url="http://theirs.acme.com/mcp")
    assert under(agent, own, 'mcp = ["docs"]').ceiling.allows_server("theirs", theirs) is False
    assert under(agent, own, 'hosts = ["docs.acme.com"]').ceiling.allows_server("theirs", theirs) is False
    assert under(agent, own, 'hosts = ["*.acme.com"]').ceiling.allows_server("theirs", theirs) is True


def test_limits_are_the_least(agent: Path, own: Path) -> None:
    agent.write_text(AGENT.replace('model = "opus"', "limits.turn = { model_calls = 5, tokens = 10 }", 1))
    snapshot = under(agent, own, "limits.turn = { model_calls = 9, tokens = 3 }")
    turn = in_force(snapshot).profile.limits.turn

    assert turn is not None
    assert (turn.model_calls, turn.tokens) == (5, 3)


COMPANY = """permissions = ["company"]
hosts = ["*.acme.com", "!evil.acme.com"]
[permissions.company]
default = "allow"
rules.push = { tool = "shell", command = "git push *", action = "deny" }
rules.secrets = { path = "**/.env", action = "always_ask" }
rules.everything = { tool = "*", action = "allow" }
rules.edits = { kind = "edit", action = "ask" }
"""
WORLD = World(cwd="/work", roots=("/work",), home="/home/me")


def judged(snapshot: Snapshot, profile: Profile, call: Call) -> str:
    in_force = InForce(profile.permissions_base, profile.permissions_patches, profile.auto_answers)
    return verdict(call, in_force, snapshot.permissions, WORLD).verdict


def test_its_rules_hold_in_every_mode_and_nothing_of_it_allows(agent: Path, own: Path) -> None:
    snapshot = under(agent, own, COMPANY)
    push = Call("shell", "execute", {"command": "git push origin"}, (), None)
    make = Call("shell", "execute", {"command": "make"}, (), None)
    edit = Call("edit_file", "edit", {"path": "a.py"}, ("/work/a.py",), None)
    secret = Call("read_file", "read", {"path": ".env"}, ("/work/.env",), None)

    audit = in_force(snapshot, pick(snapshot, FACTS, Selections(), "mode", "audit", now=0)).profile
    assert [judged(snapshot, audit, call) for call in (push, make, edit, secret)] == [
        "deny", "allow", "allow", "always_ask",
    ]  # fmt: skip
    asking = Profile(permissions_base=("no-changes", "standard"))
    assert [judged(snapshot, asking, call) for call in (push, make, edit, secret)] == [
        "deny", "ask", "deny", "always_ask",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "expected"), [("api.acme.com", "allow"), ("evil.acme.com", "deny"), ("example.com", "deny")]
)
def test_other_hosts_are_denied_to_tools(agent: Path, own: Path, host: str, expected: str) -> None:
    snapshot = under(agent, own, COMPANY)
    call = Call("fetch_url", "fetch", {"url": f"https://{host}/"}, (), host)
    assert judged(snapshot, in_force(snapshot).profile, call) == expected


def test_the_sets_of_a_policy_can_not_be_changed_by_any_other_layer(agent: Path, own: Path) -> None:
    agent.write_text(AGENT + "[permissions.company]\nremove = true\n")
    snapshot = under(agent, own, COMPANY)
    push = Call("shell", "execute", {"command": "git push"}, (), None)
    assert judged(snapshot, in_force(snapshot).profile, push) == "deny"


def test_the_administrators_policy_and_the_users_both_count(
    agent: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = tmp_path / "policy.toml"
    admin.write_text('schema = 1\n[policy]\nmodels = ["*", "!opus"]\n', encoding="utf-8")
    monkeypatch.setenv("AGENTOML_POLICY", str(admin))

    assert offered(under(agent, own, 'models = ["opus", "haiku"]'), "model") == ["haiku"]


def codes(checked: Checked) -> list[tuple[str, str, str]]:
    return [(problem.code, Path(problem.file).name, problem.key) for problem in checked.problems]


def test_check_tells_what_a_policy_leaves_out_and_where_it_stands(agent: Path, own: Path) -> None:
    own.write_text('schema = 1\n[policy]\nmodels = "sonnet"\nhosts = "*.com"\n', encoding="utf-8")
    assert codes(check(str(agent))) == [
        ("AGT352", "agent.toml", "policy.models"),
        ("AGT352", "agent.toml", "policy.hosts"),
    ]


def test_a_provider_whose_host_nobody_knows_is_told_what_to_say(agent: Path, own: Path) -> None:
    cloud = 'schema = 1\n[providers.cloud]\nadapter = "litellm/bedrock"\n[models.sonnet]\nprovider = "cloud"\n'
    agent.write_text(cloud, encoding="utf-8")
    snapshot = under(agent, own, 'hosts = "*.amazonaws.com"')

    for once_more in (snapshot, clip.under(snapshot, snapshot.ceiling)):
        assert why_no_model(once_more) == f"the policy of {own} leaves no model: `agentoml check` says what and why"
    [_, problem] = check(str(agent)).problems
    assert (problem.message, problem.hint) == (
        'the policy leaves out "cloud" of [providers]',
        'nothing says which host "cloud" asks: write its `base_url`',
    )

    agent.write_text(cloud.replace("[models", 'base_url = "https://bedrock.eu.amazonaws.com"\n[models'))
    assert list(under(agent, own, 'hosts = "*.amazonaws.com"').models) == ["sonnet"]


def test_an_agent_without_models_is_told_to_declare_some(agent: Path, own: Path) -> None:
    agent.write_text("schema = 1\n", encoding="utf-8")
    assert "write [models.NAME]" in why_no_model(under(agent, own, 'hosts = "*.com"'))


@pytest.mark.parametrize(
    ("policy", "code", "key"),
    [
        ("[policy]\nmodel = ['a']\n", "AGT101", "policy.model"),
        ("[policy]\nmodels = 3\n", "AGT102", "policy.models"),
        ("[policy]\npermissions = ['companny']\n[permissions.company]\n", "AGT201", "policy.permissions[0]"),
        ("[policy\n", "AGT012", ""),
        ("[policy]\n[agent]\nmodel = 'a'\n", "AGT310", "agent"),
    ],
)
def test_a_policy_that_can_not_be_understood_fails_closed(
    agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, code: str, key: str
) -> None:
    admin = tmp_path / "policy.toml"
    admin.write_text(f"schema = 1\n{policy}", encoding="utf-8")
    monkeypatch.setenv("AGENTOML_POLICY", str(admin))

    assert codes(check(str(agent))) == [(code, "policy.toml", key)]
    assert build(agent).snapshot is None


def test_a_policy_file_that_is_not_there_fails_closed(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTOML_POLICY", "/nowhere/policy.toml")
    assert [code for code, _, _ in codes(check(str(agent)))] == ["AGT001"]


def test_a_policy_in_any_other_file_is_refused(agent: Path) -> None:
    agent.write_text(AGENT + "[policy]\nmodels = ['sonnet']\n", encoding="utf-8")
    assert codes(check(str(agent))) == [("AGT310", "agent.toml", "policy")]


def test_what_a_policy_always_asks_is_no_way_around_an_answer_that_denies() -> None:
    asks = ReadySet("policy", rules=(ReadyRule("policy", "r", "always_ask", tool=("*",)),), ceiling=True)
    sets = {"base": ReadySet("base", "ask"), "dont-ask": ReadySet("dont-ask", "deny"), "policy": asks}
    call = Call("shell", "execute", {"command": "make"}, (), None)
    assert verdict(call, InForce(("base",), (), ("dont-ask",)), sets, WORLD).verdict == "deny"
    assert verdict(call, InForce(("base",)), sets, WORLD).verdict == "always_ask"


ACTIONS = st.sampled_from(["allow", "ask", "always_ask", "deny"])
RULES = st.lists(
    st.builds(
        lambda number, action, tool, command, kind: ReadyRule("set", str(number), action, tool, kind, command=command),
        st.integers(),
        ACTIONS,
        st.sampled_from([None, ("*",), ("shell",), ("edit_file",)]),
        st.sampled_from([None, ("git *",), ("git push *",), ("!git *",)]),
        st.sampled_from([None, ("execute",), ("edit", "read")]),
    ),
    max_size=3,
)
SETS = st.builds(
    lambda rules, kinds, default: ReadySet("set", default, kinds, tuple(rules)),
    RULES,
    st.dictionaries(st.sampled_from(["execute", "edit", "read"]), ACTIONS),
    st.none() | ACTIONS,
)
CALLS = st.sampled_from(
    [
        Call("shell", "execute", {"command": "git push origin"}, (), None),
        Call("shell", "execute", {"command": "git status && make > out"}, (), None),
        Call("shell", "execute", {"command": "$X"}, (), None),
        Call("edit_file", "edit", {"path": "a.py"}, ("/work/a.py",), None),
        Call("read_file", "read", {"path": "/etc/hosts"}, ("/etc/hosts",), None),
    ]
)


@given(base=SETS, patch=SETS, answers=SETS, policy=SETS, call=CALLS)
@settings(max_examples=300)
def test_a_policy_never_widens(
    base: ReadySet, patch: ReadySet, answers: ReadySet, policy: ReadySet, call: Call
) -> None:
    in_force = InForce(("base",), (("patch",),), ("answers",))
    sets = {"base": base, "patch": patch, "answers": answers}
    strict = ReadySet("policy", rules=tuple(rule for rule in policy.rules if rule.action != "allow"), ceiling=True)
    before = verdict(call, in_force, sets, WORLD).verdict
    after = verdict(call, in_force, {**sets, "policy": strict}, WORLD).verdict
    assert strictness(after) >= strictness(before)
