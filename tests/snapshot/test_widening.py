"""Whatever is edited: where that is told to allow no more, no session may do what it might not do before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentoml.permissions.calls import Call, World
from agentoml.permissions.verdict import InForce, strictness, verdict
from agentoml.session.standing import Standing, gone
from agentoml.snapshot.build import build
from agentoml.snapshot.diff import diff
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.selections import Refused, Selections, pick
from agentoml.snapshot.snapshot import Snapshot

AGENT = """schema = 1
[providers.p]
adapter = "scripted"
[models.a]
provider = "p"
reasoning = {{ values = ["low", "high"] }}
{a}
[models.b]
provider = "p"
reasoning = {{ values = ["low", "high"], default = "high" }}
{b}
[models."x/*"]
provider = "p"
set.permissions = "soft"
[agent]
{agent}
[permissions.team]
{team}
[permissions.soft]
{soft}
[modes.plan]
{plan}
[modes.code]
{code}
[options.mode]
{mode}
[options.model]
values_from = "models"
{model}
[options.level]
values_from = "model.reasoning"
{level}
[options.persona]
{persona}
values.shy = {{ {shy} }}
values.bold = {{ {bold} }}
[options.free]
open = true
values.one = {{}}
other = {{ {other} }}
[options.docs]
type = "boolean"
{docs}
[mcp.docs]
command = ["docs"]
{server}
[mcp.more]
command = ["more"]
"""
SETS = (
    'set.permissions = "no-changes"',
    'set.permissions = "team"',
    'set.auto_answers.add = ["soft"]',
    "set.auto_answers = []",
    "set.mcp.more = false",
    'set.mcp."*" = true',
)
WORDS = (
    'default = "deny"',
    'default = "allow"',
    'kinds = { edit = "allow" }',
    'kinds = { execute = "always_ask", edit = "deny" }',
)
LINES: Mapping[str, tuple[str, ...]] = {
    "a": ("", 'capabilities = ["images"]', 'set.permissions = "team"', 'aliases = ["c"]', "when.trusted = true"),
    "b": ("", 'capabilities = ["images"]', 'set.permissions = "no-changes"', 'preselect.persona = "bold"'),
    "agent": ("", 'permissions.add = ["team"]', 'auto_answers = ["soft"]', 'mcp."m*" = false', 'model = "b"'),
    "team": WORDS,
    "soft": WORDS,
    "plan": ("", *SETS, 'preselect.persona = "bold"', 'set.model = "a"', 'when.persona = "shy"'),
    "code": ("", *SETS, 'preselect.model = "b"', 'preselect.free = "two"', "hidden = true"),
    "mode": ("", 'default = "code"', 'default = [{ value = "code", when = { trusted = true } }, "plan"]'),
    "model": ("", 'default = "b"', 'order = "newest"', "open = true\nother.set.permissions = 'team'"),
    "level": ("", 'values.high = { set.permissions = "team" }', "values.high.when.trusted = true"),
    "persona": ("", 'default = "bold"', 'when.capability = "images"', 'default = "b*"'),
    "shy": ("", *SETS, 'when = { capability = "images" }'),
    "bold": ("", *SETS, 'when = { level = "high" }', "hidden = { docs = true }"),
    "other": ('name = "Other"', *SETS),
    "docs": ("", "default = true", "on.set.mcp.docs = true", "on.preselect.free = 'one'"),
    "server": ("", "enabled = false"),
}
FILES = st.fixed_dictionaries({name: st.sampled_from(lines) for name, lines in LINES.items()})
EDITS = st.sampled_from([(name, line) for name, lines in LINES.items() for line in lines])
CLIENTS = st.builds(ClientFacts, trusted=st.booleans(), credentials=st.sampled_from([frozenset(), frozenset("p")]))
PICKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=3)
WORLD = World(cwd="/work", roots=("/work",), home="/home/me")
KINDS = ("read", "edit", "execute", "other")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("edited") / "agent.toml"


def compiled(file: Path, lines: Mapping[str, str]) -> Snapshot:
    file.write_text(AGENT.format(**lines), encoding="utf-8")
    snapshot = build(file).snapshot
    assume(snapshot is not None)
    assert snapshot is not None
    return snapshot


def picked(snapshot: Snapshot, client: ClientFacts, picks: list[tuple[int, int]]) -> Standing:
    standing = Standing(snapshot, client, Selections())
    for number, other in picks:
        offered = standing.resolved().options
        option = offered[number % len(offered)]
        value = option.values[other % len(option.values)].value if option.values else other > 1
        value = "two" if option.id == "free" and other else value
        try:
            standing = Standing(snapshot, client, pick(snapshot, client, standing.selections, option.id, value))
        except Refused:
            assert option.id
    return standing


def strictest(standing: Standing) -> dict[str, int]:
    """How strictly a call of each kind is judged, and whether each server is off."""
    profile = standing.resolved().profile
    in_force = InForce(profile.permissions_base, profile.permissions_patches, profile.auto_answers)
    sets = standing.snapshot.permissions
    judged = {kind: verdict(Call(kind, kind, {}), in_force, sets, WORLD).verdict for kind in KINDS}
    return {kind: strictness(word) for kind, word in judged.items()} | {
        name: 0 if on else 1 for name, on in profile.mcp.items()
    }


@given(FILES, st.lists(EDITS, min_size=1, max_size=2), st.lists(st.tuples(CLIENTS, PICKS), min_size=3, max_size=3))
@settings(max_examples=40)
def test_what_is_told_to_allow_no_more_does_not(
    file: Path,
    lines: dict[str, str],
    edits: list[tuple[str, str]],
    sessions: list[tuple[ClientFacts, list[tuple[int, int]]]],
) -> None:
    before, after = compiled(file, lines), compiled(file, lines | dict(edits))
    widens = any(change.widens for change in diff(before, after))
    for client, picks in sessions if not widens else ():
        was = picked(before, client, picks)
        if not gone(was, after):  # what is gone is kept in force until the user picks
            now = was.under(after, client)
            old, new = strictest(was), strictest(now)
            assert [name for name in old if new[name] < old[name]] == []
