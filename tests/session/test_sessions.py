"""Sessions in this process: who is told what when the configuration changes, and when."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentoml.errors import InvalidParams
from agentoml.permissions.calls import Call
from agentoml.session.permission import judge
from agentoml.session.session import Session
from agentoml.session.sessions import Sessions
from agentoml.snapshot.build import build
from agentoml.snapshot.resolve import ClientFacts
from agentoml.snapshot.snapshot import Snapshot
from session.quiet_client import QuietClient
from watched import agent

PLAN = '[modes.plan]\nset = { permissions = "no-changes" }\n'
VOICE = """[options.voice]
default = "bold"
values.bold = {}
values.shy = { set = { permissions = "no-changes" } }
"""
CODE = '[modes.code]\n[options.mode]\ndefault = "code"\n'


def snapshot(tmp_path: Path, *models: str, more: str = "") -> Snapshot:
    config = tmp_path / "agent.toml"
    config.write_text(agent(*models, more=more), encoding="utf-8")
    built = build(config)
    assert built.snapshot is not None, [one.one_line() for one in built.problems]
    return built.snapshot


def opened(sessions: Sessions, client: QuietClient, snapshot: Snapshot, tmp_path: Path) -> Session:
    session = sessions.new(client, snapshot, ClientFacts(), {"cwd": str(tmp_path)})
    session.opening()
    session.tell_commands()
    return session


def kinds(client: QuietClient) -> list[str]:
    return [update["sessionUpdate"] for _, update in client.updates]


def models(update: Any) -> str:
    return str(update["configOptions"].json.decode())


def test_nothing_is_sent_where_nothing_visible_changed(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    opened(sessions, client, snapshot(tmp_path, "one"), tmp_path)
    assert sessions.take(snapshot(tmp_path, "one", more='[agent]\ninstructions = "New."\n'), ClientFacts()) == 0
    assert client.updates == []


def test_what_is_sent_along_is_another_where_its_type_is(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    voice = "[options.voice]\nmeta = {{ pitch = {} }}\nvalues.bold.meta = {{ pitch = {} }}\n"
    opened(sessions, client, snapshot(tmp_path, "one", more=voice.format(1, 1)), tmp_path)
    for pitches in (("true", "1"), ("true", "true")):
        assert sessions.take(snapshot(tmp_path, "one", more=voice.format(*pitches)), ClientFacts()) == 1
    assert models(client.updates[-1][1]).count('"pitch":true') == 2


@pytest.mark.parametrize("path", ["/nowhere", "/" + "long" * 2000, "/\ud800"])
def test_a_directory_that_can_not_be_is_refused_by_name(tmp_path: Path, path: str) -> None:
    for params in ({"cwd": path}, {"cwd": str(tmp_path), "additionalDirectories": [path]}):
        with pytest.raises(InvalidParams) as refused:
            Sessions().new(QuietClient(), snapshot(tmp_path, "one"), ClientFacts(), params)
        assert refused.value.data == {
            "path": "$.cwd" if len(params) == 1 else "$.additionalDirectories",
            "reason": "not_a_directory",
        }


@pytest.mark.parametrize(
    ("more", "sent"),
    [
        ('[commands.review]\nprompt = "Review."\n', ["available_commands_update"]),
        (
            '[options.voice]\nvalues.short = {}\nvalues.long = { set = { reminder = "Long." } }\n',
            ["config_option_update"],
        ),
        (PLAN, ["config_option_update"]),
    ],
)
def test_exactly_what_differs_is_sent(tmp_path: Path, more: str, sent: list[str]) -> None:
    sessions, client = Sessions(), QuietClient()
    opened(sessions, client, snapshot(tmp_path, "one"), tmp_path)
    assert sessions.take(snapshot(tmp_path, "one", more=more), ClientFacts()) == 1
    assert kinds(client) == sent


def test_a_mode_that_is_gone_is_told_to_both_views(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    session = opened(sessions, client, snapshot(tmp_path, "one", more=PLAN + CODE), tmp_path)
    session.set_config_option("mode", "plan")
    client.updates.clear()
    sessions.take(snapshot(tmp_path, "one", more=CODE), ClientFacts())
    assert kinds(client) == ["notice", "config_option_update", "current_mode_update"]


async def test_of_several_changes_a_slow_client_is_told_the_last(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    for _ in range(3):
        opened(sessions, client, snapshot(tmp_path, "one"), tmp_path)
    client.unread = 1
    for number in range(5):
        assert sessions.take(snapshot(tmp_path, "one", f"m{number}"), ClientFacts()) == 3
    await asyncio.sleep(0)
    assert client.updates == []
    client.unread = 0
    client.read.set()
    await client.has_heard(3)
    assert kinds(client) == ["config_option_update"] * 3
    assert all('"m4"' in models(update) and '"m3"' not in models(update) for _, update in client.updates)
    await sessions.close()


async def test_an_answer_that_came_first_makes_a_late_update_needless(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    session = opened(sessions, client, snapshot(tmp_path, "one"), tmp_path)
    client.unread = 1
    sessions.take(snapshot(tmp_path, "one", "two"), ClientFacts())
    session.set_config_option("model", "two")
    client.unread = 0
    client.read.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert client.updates == []
    await sessions.close()


def test_a_list_is_serialised_once_for_all_who_see_it(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    before, after = snapshot(tmp_path, "one"), snapshot(tmp_path, "one", "two")
    for _ in range(3):
        opened(sessions, client, before, tmp_path)
    sessions.take(after, ClientFacts())
    assert len({id(update["configOptions"]) for _, update in client.updates}) == 1


def test_what_is_picked_in_a_turn_binds_in_it_and_after_it(tmp_path: Path) -> None:
    """R50: the turn goes by what it pinned, also where the user picks while another snapshot is the newest."""
    sessions, client = Sessions(), QuietClient()
    first = snapshot(tmp_path, "one", "two")
    session = opened(sessions, client, first, tmp_path)
    running: asyncio.Future[Any] = asyncio.Future(loop=asyncio.new_event_loop())
    session.turn = running  # type: ignore[assignment]
    session.begin_turn()
    sessions.take(snapshot(tmp_path, "one", "two", "three"), ClientFacts())
    session.set_config_option("model", "two")
    assert session.resolved(first).profile.model == "two"
    session.set_config_option("model", "three")
    assert session.resolved(first).profile.model == "two"
    assert session.resolved().profile.model == "three"
    session.turn = None
    session.end_turn()
    assert session.resolved().profile.model == "three"
    running.get_loop().close()


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        pytest.param(PLAN + CODE, CODE, True, id="a mask goes"),
        pytest.param(
            PLAN + CODE, PLAN.replace("plan", "ask") + CODE.replace('= "code"', '= "ask"'), False, id="the same mask"
        ),
        pytest.param(
            '[modes.plan]\nset = { auto_answers = "everything" }\n' + CODE, CODE, False, id="what allowed more goes"
        ),
        pytest.param(
            "[modes.plan]\n" + CODE,
            '[modes.code]\nset = { auto_answers = "everything" }\n[options.mode]\ndefault = "code"\n',
            True,
            id="the replacement answers by itself",
        ),
        pytest.param(
            '[modes.plan]\npreselect = { voice = "shy" }\n' + CODE + VOICE,
            CODE + VOICE,
            True,
            id="what it preselected was a mask",
        ),
    ],
)
def test_permissions_of_a_value_that_is_gone_are_kept_where_its_replacement_is_looser(
    tmp_path: Path, before: str, after: str, kept: bool
) -> None:
    sessions, client = Sessions(), QuietClient()
    session = opened(sessions, client, snapshot(tmp_path, "one", more=before), tmp_path)
    session.set_config_option("mode", "plan")
    sessions.take(snapshot(tmp_path, "one", more=after), ClientFacts())
    assert bool(session.kept) is kept
    sessions.take(snapshot(tmp_path, "one", "two", more=after), ClientFacts())
    assert bool(session.kept) is kept
    session.set_config_option("model", "two")
    assert bool(session.kept) is kept, "another option says nothing about it"
    session.set_mode(str(session.resolved().option("mode").current))  # type: ignore[union-attr]
    assert session.kept == ()


def test_what_is_loosened_where_nobody_s_value_went_is_not_kept(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    session = opened(sessions, client, snapshot(tmp_path, "one", "two", more=PLAN + CODE), tmp_path)
    session.set_config_option("mode", "plan")
    session.set_config_option("model", "two")
    sessions.take(snapshot(tmp_path, "one", more="[modes.plan]\n" + CODE), ClientFacts())
    assert session.kept == ()
    assert [update["title"] for _, update in client.updates if update["sessionUpdate"] == "notice"] == [
        "model: two is gone"
    ]


def test_of_an_option_that_is_gone_its_value_is_told(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    opened(sessions, client, snapshot(tmp_path, "one", more=VOICE), tmp_path)
    sessions.take(snapshot(tmp_path, "one"), ClientFacts())
    [notice] = [update for _, update in client.updates if update["sessionUpdate"] == "notice"]
    assert (notice["title"], notice["description"]) == ("voice is gone", "It was bold.")


def test_restrictions_of_what_is_held_bind_already(tmp_path: Path) -> None:
    sessions, client = Sessions(), QuietClient()
    session = opened(sessions, client, snapshot(tmp_path, "one"), tmp_path)
    call = Call("shell", "execute", {"command": "true"})
    assert judge(session, call).verdict == "ask"
    wide_and_strict = '[permissions.standard]\nkinds = { execute = "deny", edit = "allow" }\n'
    sessions.hold(snapshot(tmp_path, "one", more=wide_and_strict))
    assert judge(session, call).verdict == "deny"
    assert judge(session, Call("write_file", "edit", {"path": "a"}, (str(tmp_path / "a"),))).verdict == "ask"
    late = opened(sessions, client, snapshot(tmp_path, "one"), tmp_path)
    assert judge(late, call).verdict == "deny"
    sessions.hold(None)
    assert judge(session, call).verdict == "ask"


FORGETFUL = """[options.careful]
when = { trusted = false }
forget = true
values.yes = {}
values.no = {}
"""


def test_what_is_forgotten_goes_when_a_project_is_trusted_though_its_files_say_the_same(tmp_path: Path) -> None:
    sessions, inert = Sessions(), ClientFacts(trusted=False)
    same = snapshot(tmp_path, "one", more=FORGETFUL)
    session = sessions.new(QuietClient(), same, inert, {"cwd": str(tmp_path)})
    session.opening()
    session.set_config_option("careful", "no")
    sessions.take(same, ClientFacts(trusted=True))
    sessions.take(same, inert)
    careful = session.resolved().option("careful")
    assert careful is not None and careful.current == "yes"
