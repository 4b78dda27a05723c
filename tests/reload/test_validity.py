"""R40 to R47: files that are not valid, and what is in force meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.config import trust
from agentoml.config.layers import Chosen, read
from agentoml.snapshot import last_good
from agentoml.snapshot.store import Store
from watched import agent, last, names, record, shows, watched

BROKEN = agent("two").replace("[models.two]", "[models.two")


async def test_r40_the_last_good_configuration_stays_and_every_problem_is_told(config: Path) -> None:
    async with watched(config) as store:
        before = store.current
        config.write_text(agent("one", "two", more='[modes.plan]\nnane = "Plan"\n[options.x]\ntype = "bool"\n'))
        failed = await record(store, "rejected")
        assert [problem.key for problem in failed.problems] == ["modes.plan.nane", "options.x.type"]
        assert all(problem.line for problem in failed.problems)
        assert (failed.generation, failed.told, store.problems) == (1, 0, failed.problems)
        assert store.current is before


async def test_r41_a_repaired_file_is_picked_up(config: Path) -> None:
    async with watched(config) as store:
        for number in range(2):
            config.write_text(BROKEN)
            await record(store, "rejected", after=last(store))
            config.write_text(agent("one", f"m{number}"))
            await shows(store, "one", f"m{number}")
            assert store.problems == ()


async def test_r42_a_file_put_back_as_it_was_is_unchanged_and_its_problems_are_gone(config: Path) -> None:
    good = config.read_text()
    async with watched(config) as store:
        config.write_text(BROKEN)
        await record(store, "rejected")
        config.write_text(good)
        done = await record(store, "unchanged")
        assert (done.generation, store.problems) == (1, ())


async def test_r43_beside_a_broken_file_nothing_of_the_others_is_applied(config: Path) -> None:
    base = config.with_name("base.toml")
    base.write_text(agent("one"))
    config.write_text('schema = 1\nextends = ["base.toml"]\n')
    async with watched(config) as store:
        base.write_text(agent("one", "two", more='[modes.plan]\nnane = "Plan"\n'))
        config.write_text('schema = 1\nextends = ["base.toml"]\n[models.three]\nprovidr = "offline"\n')
        failed = await record(store, "rejected")
        assert {Path(problem.file).name for problem in failed.problems} == {"agent.toml", "base.toml"}
        assert names(store) == ("one",)
        base.write_text(agent("one", "two"))
        config.write_text('schema = 1\nextends = ["base.toml"]\n[models.three]\nprovider = "offline"\n')
        await shows(store, "one", "two", "three")


async def test_r44_problems_are_replaced_never_added_up(config: Path) -> None:
    async with watched(config) as store:
        config.write_text(agent("one", more="[modes.plan]\nnane = 1\n"))
        first = await record(store, "rejected")
        config.write_text(agent("one", more="[modes.plan]\nname = 1\n"))
        second = await record(store, "rejected", after=first.number)
        assert [problem.code for problem in first.problems] == ["AGT101"]
        assert [problem.code for problem in second.problems] == ["AGT102"]
        assert store.problems == second.problems


async def test_r46_broken_at_the_start_the_last_good_configuration_is_served(config: Path) -> None:
    async with watched(config) as store:
        config.write_text(agent("one", "two"))
        await shows(store, "one", "two")
    config.write_text(BROKEN)
    async with watched(config) as restarted:
        start = restarted.records[0]
        assert (start.state, start.generation, names(restarted)) == ("rejected", 1, ("one", "two"))
        config.write_text(agent("three"))
        await shows(restarted, "three")


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy of the administrator that leaves the model `two` out."""
    file = tmp_path / "policy.toml"
    file.write_text('schema = 1\n[policy]\nmodels = ["!two"]\n', encoding="utf-8")
    monkeypatch.setenv("AGENTOML_POLICY", str(file))
    return file


async def test_r45_an_unknown_key_in_a_policy_fails_closed(config: Path, policy: Path) -> None:
    config.write_text(agent("one", "two", "three"))
    async with watched(config) as store:
        assert names(store) == ("one", "three")
        policy.write_text('schema = 1\n[policy]\nmodel = ["one"]\n')
        failed = await record(store, "rejected")
        assert [(Path(problem.file).name, problem.key) for problem in failed.problems] == [
            ("policy.toml", "policy.model")
        ]
        assert names(store) == ("one", "three")
        policy.write_text('schema = 1\n[policy]\nmodels = ["one"]\n')
        await shows(store, "one")

    for broken in ('schema = 1\n[policy]\nmodel = ["one"]\n', "no TOML", None):
        policy.unlink() if broken is None else policy.write_text(broken)
        store = Store(config)
        await store.reload("start")
        assert store.current is None


async def test_r45_what_was_kept_is_served_under_the_policy_of_today(config: Path, policy: Path) -> None:
    config.write_text(agent("one", "two", "three"))
    async with watched(config):
        pass
    config.write_text(BROKEN)
    policy.write_text('schema = 1\n[policy]\nmodels = ["one", "two"]\n')
    store = Store(config)
    await store.reload("start")
    assert names(store) == ("one",)


async def test_r46_what_was_kept_of_a_project_is_served_while_it_is_trusted(config: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "agent.toml").write_text('schema = 1\n[models.theirs]\nprovider = "offline"\n')
    chosen = Chosen(config, project=root)
    project = read(chosen).project
    assert project is not None
    trust.record(project, granted=True)
    async with watched(chosen) as store:
        assert names(store) == ("theirs", "one")
    config.write_text(BROKEN)
    for trusted, models in ((True, ("theirs", "one")), (False, ("one",))):
        if not trusted:
            trust.forget(root)
        store = Store(chosen)
        await store.reload("start")
        assert names(store) == models


async def test_r46_broken_at_the_start_and_never_good_nothing_is_served(config: Path) -> None:
    config.write_text(BROKEN)
    async with watched(config) as store:
        assert (store.records[0].state, store.current) == ("rejected", None)
        config.write_text(agent("one"))
        await shows(store, "one")


async def test_r46_what_another_version_kept_is_not_served(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(config):
        pass
    config.write_text(BROKEN)
    monkeypatch.setattr(last_good, "__version__", "0.0.0")
    store = Store(config)
    await store.reload("start")
    assert store.current is None


async def test_r46_the_last_good_configuration_holds_no_secret_and_is_for_its_owner(
    config: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "sk-very-secret")
    config.write_text(agent("one", more='[providers.gateway]\nadapter = "openai"\napi_key = { env = "GATEWAY_KEY" }\n'))
    async with watched(config):
        pass
    [kept] = (state_home / "agentoml" / "last-good").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o077 == 0
    assert "sk-very-secret" not in kept.read_text()


async def test_r47_no_problem_shows_a_secret(config: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with watched(config) as store:
        config.write_text(agent("one", more='[providers.gateway]\nadapter = "openai"\napi_key = "sk-very-secret"\n'))
        failed = await record(store, "rejected")
        assert failed.problems[0].line > 0
        assert "sk-very-secret" not in repr(failed)
        assert "sk-very-secret" not in caplog.text


async def test_a_fault_of_ours_is_a_problem_and_the_next_save_is_looked_at(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    async with watched(config) as store:
        with monkeypatch.context() as patch:
            patch.setattr("agentoml.snapshot.build.link", broken)
            config.write_text(agent("one", "two"))
            failed = await record(store, "rejected")
            assert [problem.code for problem in failed.problems] == ["AGT901"]
        config.write_text(agent("one", "three"))
        await shows(store, "one", "three")


GATED = """[modes.plan]
set = { permissions = "no-changes" }
[tests.plan]
gate = true
given = { mode = "plan", tool = "write_file", args = { path = "a" } }
expect.verdict = "deny"
"""


async def test_a_reload_under_which_a_gated_test_fails_changes_nothing(config: Path) -> None:
    config.write_text(agent("one", more=GATED))
    async with watched(config) as store:
        config.write_text(agent("one", "two", more=GATED.replace("no-changes", "standard")))
        failed = await record(store, "rejected")
        (problem,) = failed.problems
        assert (problem.code, problem.key, Path(problem.file).name) == (
            "AGT208", "tests.plan.expect.verdict", "agent.toml"
        )  # fmt: skip
        assert problem.message == (
            'the test "plan" expects "deny", but there is "ask" because of standard.default: write_file'
        )
        assert names(store) == ("one",)
        config.write_text(agent("one", "two", more=GATED))
        await shows(store, "one", "two")


async def test_what_a_turn_broke_is_asked_about_when_it_is_repaired_and_widens(config: Path) -> None:
    async with watched(config) as store:
        store.turn_began()
        wide = agent("one", more='[agent]\nauto_answers = "everything"\n')
        config.write_text(wide + "no TOML")
        rejected = await record(store, "rejected")
        store.turn_ended()
        store.found_unchanged()
        config.write_text(wide)
        await record(store, "held", after=rejected.number)
        config.write_text(agent("one"))
        await record(store, "unchanged")
        store.found_unchanged()
        config.write_text(wide)
        await record(store, "applied", after=last(store))


async def test_what_the_store_beside_has_logged_is_not_logged_again(
    config: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each project with files of its own has a store; what is wrong with the named file is the same in all of them."""
    project = config.parent / "project"
    project.mkdir()
    (project / "agent.toml").write_text("schema = 1\n", encoding="utf-8")
    config.write_text(BROKEN, encoding="utf-8")
    alone = Store(Chosen(config))
    await alone.reload("start")
    logged = caplog.text
    assert "no session can be opened" in logged
    beside = Store(Chosen(config, project=project), beside=alone)
    await beside.reload("start")
    assert beside.problems == alone.problems and caplog.text == logged
    config.write_text(BROKEN.replace("[models.two", "[models.three"), encoding="utf-8")
    await beside.reload("file")
    assert caplog.text != logged, "what is new is logged"
