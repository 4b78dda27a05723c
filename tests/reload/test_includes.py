"""R30 to R35: files that extend others."""

from __future__ import annotations

from pathlib import Path

from watched import agent, last, names, record, shows, watched


def extends(*targets: str, more: str = "") -> str:
    listed = ", ".join(f'"{target}"' for target in targets)
    return f"schema = 1\nextends = [{listed}]\n{more}"


def model(name: str) -> str:
    return f'schema = 1\n[models.{name}]\nprovider = "offline"\n'


async def test_r30_a_circle_is_named_with_every_place_and_changes_nothing(config: Path) -> None:
    base = config.with_name("base.toml")
    base.write_text(agent("one"))
    config.write_text(extends("base.toml"))
    async with watched(config) as store:
        base.write_text(extends("agent.toml"))
        failed = await record(store, "rejected")
        problem = failed.problems[0]
        places = {Path(problem.file).name, *(Path(note.file).name for note in problem.related)}
        assert places == {"agent.toml", "base.toml"}
        assert all(note.line for note in problem.related)
        assert names(store) == ("one",)


async def test_r31_a_file_reached_by_two_ways_counts_once(config: Path) -> None:
    folder = config.parent
    (folder / "base.toml").write_text(agent("base"))
    (folder / "left.toml").write_text(extends("base.toml", more=model("left").removeprefix("schema = 1\n")))
    (folder / "right.toml").write_text(extends("base.toml", more=model("right").removeprefix("schema = 1\n")))
    config.write_text(extends("left.toml", "right.toml"))
    async with watched(config) as store:
        assert names(store) == ("base", "left", "right")
        (folder / "base.toml").write_text(agent("base", "new"))
        await shows(store, "base", "new", "left", "right")


async def test_r32_what_is_not_there_is_blamed_on_the_line_that_names_it(config: Path) -> None:
    async with watched(config) as store:
        config.write_text(agent("one").replace("schema = 1\n", 'schema = 1\nextends = ["bose.toml"]\n'))
        failed = await record(store, "rejected")
        problem = failed.problems[0]
        assert (Path(problem.file).name, problem.line, problem.source_line) == (
            "agent.toml",
            2,
            'extends = ["bose.toml"]',
        )
        assert names(store) == ("one",)


async def test_r33_a_broken_file_that_is_extended_stays_watched(config: Path) -> None:
    base = config.with_name("base.toml")
    base.write_text(agent("one"))
    config.write_text(extends("base.toml"))
    async with watched(config) as store:
        base.write_text("[models.one\n")
        failed = await record(store, "rejected")
        assert Path(failed.problems[0].file).name == "base.toml"
        base.write_text(agent("one", "two"))
        await shows(store, "one", "two")
        base.unlink()
        await record(store, "rejected", after=last(store))
        base.write_text(agent("three"))
        await shows(store, "three")


async def test_r34_a_file_that_is_no_longer_extended_is_no_longer_watched(config: Path) -> None:
    base = config.with_name("base.toml")
    base.write_text(agent("one"))
    config.write_text(extends("base.toml"))
    async with watched(config) as store:
        assert base in store.files
        config.write_text(agent("two"))
        await shows(store, "two")
        assert base not in store.files


async def test_r35_two_files_written_together_are_one_change(config: Path) -> None:
    base = config.with_name("base.toml")
    base.write_text(agent("old"))
    config.write_text(extends("base.toml", more='[options.model]\ndefault = "old"\n'))
    async with watched(config) as store:
        generations = []
        store.subscribe(lambda _before, after: generations.append(tuple(after.models)) or 0)
        base.write_text(agent("new"))
        config.write_text(extends("base.toml", more='[options.model]\ndefault = "new"\n'))
        done = await shows(store, "new")
        assert generations == [("new",)]
        assert (done.generation, {one.state for one in store.records}) == (2, {"applied"})


async def test_a_prompt_in_a_file_of_its_own_is_watched(config: Path) -> None:
    prompt = config.with_name("prompt.md")
    prompt.write_text("Be brief.")
    config.write_text(agent("one", more='[agent]\ninstructions = { file = "prompt.md" }\n'))
    async with watched(config) as store:
        prompt.write_text("Be kind.")
        done = await record(store, "applied", after=1)
        assert [change.area for change in done.changes] == ["agent"]
