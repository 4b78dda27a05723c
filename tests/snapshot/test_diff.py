"""What an edit changes, in sentences; and whether it allows more, which must never be missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.snapshot.build import Built, build

START = """
schema = 1
[agent]
name = "acme"
instructions = "Be kind."
permissions.add = ["team"]
[providers.gateway]
adapter = "openai"
base_url = "http://127.0.0.1:1/v1"
api_key = { env = "GATEWAY_KEY" }
[models.one]
provider = "gateway"
[models.two]
provider = "gateway"
[modes.plan]
set = { permissions = "no-changes" }
[modes.code]
[options.mode]
default = "plan"
[options.model]
values_from = "models"
[options.docs]
type = "boolean"
on = { set = { mcp.docs = true } }
[mcp.docs]
enabled = false
command = ["docs-server"]
env = { TOKEN = { env = "DOCS_TOKEN" } }
[tools.count]
kind = "read"
command = ["wc", "{path}"]
locations = ["path"]
parameters = { path = { type = "string" } }
[tool_kinds]
"mcp:docs/get_*" = "read"
[commands.review]
prompt = "Review."
[permissions.team]
kinds = { delete = "deny" }
rules.push = { tool = "shell", command = "git push *", action = "always_ask" }
"""


def edited(tmp_path: Path, *changes: tuple[str, str]) -> Built:
    config = tmp_path / "agent.toml"
    config.write_text(START, encoding="utf-8")
    before = build(config)
    assert before.snapshot is not None, [problem.one_line() for problem in before.problems]
    text = START
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    config.write_text(text, encoding="utf-8")
    after = build(config, before=before)
    assert not after.problems, [problem.one_line() for problem in after.problems]
    return after


WIDENING = {
    "a denial goes": ('kinds = { delete = "deny" }', ""),
    "a denial is weakened": ('delete = "deny"', 'delete = "ask"'),
    "a rule that always asks goes": ('action = "always_ask" }', 'action = "ask" }'),
    "a rule covers less": ('"git push *"', '"git push origin *"'),
    "a set is left out": ('permissions.add = ["team"]', ""),
    "an allow rule": ("[permissions.team]", '[permissions.team]\nrules.all = { tool = "shell", action = "allow" }'),
    "questions are answered": ('permissions.add = ["team"]', 'permissions.add = ["team"]\nauto_answers = "everything"'),
    "a mode restricts less": ('[modes.plan]\nset = { permissions = "no-changes" }', "[modes.plan]"),
    "a mode answers by itself": ("[modes.code]", '[modes.code]\nset = { auto_answers = "everything" }'),
    "another mode by default": ('default = "plan"', 'default = "code"'),
    "another destination of a key": ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"),
    "another secret": ("GATEWAY_KEY", "OTHER_KEY"),
    "a provider more": ("[models.one]", '[providers.other]\nadapter = "openai"\n[models.one]'),
    "another program": ('["docs-server"]', '["other-server"]'),
    "another secret of a server": ("DOCS_TOKEN", "OTHER_TOKEN"),
    "a server that is on": ("enabled = false", "enabled = true"),
    "a server more": ("[tools.count]", '[mcp.more]\ncommand = ["more"]\n[tools.count]'),
    "another command of a tool": ('["wc", "{path}"]', '["rm", "{path}"]'),
    "another kind of a tool": ('kind = "read"\ncommand', 'kind = "think"\ncommand'),
    "paths of a tool are not judged": ('locations = ["path"]\n', ""),
    "another kind of a server's tools": ('"mcp:docs/get_*" = "read"', '"mcp:docs/*" = "read"'),
    "files from elsewhere": ('name = "acme"', 'name = "acme"\ncontext_files = ["AGENTS.md", "~/notes/*"]'),
    "a mode with files from elsewhere": (
        "[modes.code]",
        '[modes.code]\nset = { context_files.add = ["a/../../b.md"] }',
    ),
    "a command that answers by itself": ('prompt = "Review."', 'prompt = "Review."\nset.auto_answers = "everything"'),
    "a command that enters a mode": ('prompt = "Review."', 'prompt = "Review."\npreselect = { mode = "code" }'),
    "a command that leaves a mode": ('prompt = "Review."', 'prompt = "Review."\nswitch_to = { mode = "code" }'),
    "an answer that leaves a mode": (
        "[tools.count]",
        '[tools.ask]\nchoices = [{ name = "Go on", switch_to = { mode = "code" } }]\n[tools.count]',
    ),
}

NOT_WIDENING = {
    "a denial more": ('delete = "deny"', 'delete = "deny", execute = "deny"'),
    "a rule that denies": (
        "rules.push",
        'rules.no = { tool = "shell", command = "rm *", action = "deny" }\nrules.push',
    ),
    "a mode that restricts": ("[modes.code]", '[modes.code]\nset = { permissions = "no-changes" }'),
    "a model more": ("[models.two]", '[models.three]\nprovider = "gateway"\n[models.two]'),
    "a model less": ('[models.two]\nprovider = "gateway"\n', ""),
    "an option more": ("[options.docs]", "[options.x]\nvalues.a = {}\nvalues.b = {}\n[options.docs]"),
    "another prompt": ("Be kind.", "Be brief."),
    "files of the session's directory": ('name = "acme"', 'name = "acme"\ncontext_files = ["docs/**/*.md"]'),
    "another name": ('name = "acme"', 'name = "ACME"'),
    "a tool less": (START[START.index("[tools.count]") : START.index("[tool_kinds]")], ""),
    "a command less": ('[commands.review]\nprompt = "Review."\n', ""),
    "a command for another model": ('prompt = "Review."', 'prompt = "Review."\npreselect = { model = "two" }'),
    "an answer for another model": (
        "[tools.count]",
        '[tools.ask]\nchoices = [{ name = "Go on", switch_to = { model = "two" } }]\n[tools.count]',
    ),
    "a limit": ('name = "acme"', 'name = "acme"\nlimits.turn = { model_calls = 3 }'),
}


@pytest.mark.parametrize("change", WIDENING.values(), ids=WIDENING)
def test_what_allows_more_is_told_first(tmp_path: Path, change: tuple[str, str]) -> None:
    built = edited(tmp_path, change)
    assert built.widens
    assert built.changes[0].widens


@pytest.mark.parametrize("change", NOT_WIDENING.values(), ids=NOT_WIDENING)
def test_what_allows_no_more_asks_nobody(tmp_path: Path, change: tuple[str, str]) -> None:
    built = edited(tmp_path, change)
    assert built.changes
    assert not built.widens, [one for one in built.changes if one.widens]


def test_changes_are_sentences_without_secrets_in_a_fixed_order(tmp_path: Path) -> None:
    built = edited(tmp_path, WIDENING["another secret"], NOT_WIDENING["a model more"], NOT_WIDENING["another name"])
    assert [(change.area, change.sentence) for change in built.changes] == [
        ("providers", 'provider "gateway" changed: api_key'),
        ("models", 'model "three" added'),
        ("connection", "[agent] name changed: clients see it from the next connection on"),
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a rule that always asks goes", 'permission set "team" changed: rule "push" says ask instead of always_ask'),
        ("a rule covers less", 'permission set "team" changed: rule "push" says always_ask for other calls (command)'),
        ("an allow rule", 'permission set "team" changed: rule "all", which says allow, added'),
        ("a mode restricts less", 'mode "plan" changed: permissions none instead of [no-changes]'),
        ("a mode answers by itself", 'mode "code" changed: auto_answers [everything]'),
        ("a command that answers by itself", 'command "review" changed: auto_answers [everything]'),
    ],
)
def test_who_is_asked_reads_what_would_be_allowed(tmp_path: Path, name: str, told: str) -> None:
    assert edited(tmp_path, WIDENING[name]).changes[0].sentence == told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('other.name = "Other"', 'other.set.auto_answers = "everything"', 'value of "free": "any other" changed'),
        ('"a_*" = "read"\n"*_b" = "edit"', '"*_b" = { kind = "edit", title = "B" }\n"a_*" = "read"', "the order of"),
    ],
    ids=["a value that nobody lists", "kinds in another order and one with a title"],
)
def test_what_is_easily_overlooked_widens_too(tmp_path: Path, old: str, new: str, told: str) -> None:
    free = '[options.free]\nopen = true\nvalues.a = {}\nother.name = "Other"\n'
    more = f'{free}[tool_kinds]\n"a_*" = "read"\n"*_b" = "edit"\n'
    before = edited(tmp_path, ("[tool_kinds]\n", more))
    text = (tmp_path / "agent.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "agent.toml").write_text(text.replace(old, new), encoding="utf-8")
    after = build(tmp_path / "agent.toml", before=before)
    [widening] = [change.sentence for change in after.changes if change.widens]
    assert widening.startswith(told)


MODES = '[modes.plan]\nset = { permissions = "no-changes" }\n', "[modes.code]\n"


def test_another_order_is_a_change(tmp_path: Path) -> None:
    built = edited(tmp_path, ("".join(MODES), "".join(reversed(MODES))))
    assert [change.sentence for change in built.changes] == [
        "the modes stand in another order",
        "the list of modes changed: clients that know no config options see it from the next session on",
    ]
    options = '[options.mode]\ndefault = "plan"\n', '[options.model]\nvalues_from = "models"\n'
    docs = START[START.index("[options.docs]") : START.index("[mcp.docs]")]
    built = edited(tmp_path, (options[1] + docs, docs + options[1]))
    assert [change.sentence for change in built.changes] == ["the options stand in another order"]


@pytest.mark.parametrize("default", ["", 'default = "c*"\n', 'default = ["gone*", "plan"]\n'])
def test_another_order_widens_where_it_may_decide_about_the_mode(tmp_path: Path, default: str) -> None:
    config = tmp_path / "agent.toml"
    text = START.replace('[options.mode]\ndefault = "plan"\n', f"[options.mode]\n{default}")
    config.write_text(text, encoding="utf-8")
    before = build(config)
    assert before.snapshot is not None, [problem.one_line() for problem in before.problems]
    config.write_text(text.replace("".join(MODES), "".join(reversed(MODES))), encoding="utf-8")
    after = build(config, before=before)
    assert after.widens


DEPENDENT = """
schema = 1
[providers.p]
adapter = "scripted"
[models.seeing]
provider = "p"
capabilities = ["images"]
reasoning = { values = ["low", "high"], default = "high" }
[models.strict]
provider = "p"
set = { permissions = "no-changes" }
[modes.audit]
set = { model = "strict" }
[options.model]
values_from = "models"
[options.level]
values_from = "model.reasoning"
values.high = { when = { trusted = true }, set = { permissions = "no-changes" } }
[options.persona]
default = "shy"
values.bold = {}
values.shy = {}
[options.care]
default = [{ value = "much", when = { capability = "images" } }, "some"]
values.much.set = { permissions = "no-changes" }
values.some = {}
[options.voice]
default = [{ value = "low", when = { persona = "shy" } }, "loud"]
values.low.set = { permissions = "no-changes" }
values.loud = {}
[permissions.tight]
group = "offered"
default = "deny"
[permissions.wide]
default = "allow"
[options.rights]
values_from = "permissions"
filter = { group = "offered" }
order = "name"
[options.temper]
default = "t*"
values.none = {}
values.tame.set = { permissions = "no-changes" }
values.true = {}
"""
YOLO = '[options.yolo]\ntype = "boolean"\non.set.auto_answers.add = ["everything"]\n'
NEVER = '[options.never]\ntype = "boolean"\ndefault = true\non.set.auto_answers.remove = ["everything"]\n'
BRAVE = '[options.brave]\ntype = "boolean"\ndefault = true\non.preselect.yolo = true\n'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('capabilities = ["images"]', 'capabilities = ["tools"]'),
        ("[permissions.wide]", '[permissions.wide]\ngroup = "offered"\nname = "A"'),
        ('set = { model = "strict" }', ""),
        ('default = "shy"', 'default = "bold"'),
        ("trusted = true", "trusted = false"),
        (YOLO, BRAVE + YOLO),
        (YOLO + NEVER, NEVER + YOLO),
        (NEVER, ""),
        ('values.tame.set = { permissions = "no-changes" }', ""),
    ],
    ids=[
        "what a model can",
        "what a filter lets through",
        "what is forced",
        "what a default asks",
        "what a level asks",
        "what is preselected",
        "what is folded last",
        "an option less",
        "the first of a pattern",
    ],
)
def test_what_decides_about_grants_from_afar_widens(tmp_path: Path, old: str, new: str) -> None:
    config = tmp_path / "agent.toml"
    text = DEPENDENT + YOLO + NEVER
    config.write_text(text, encoding="utf-8")
    before = build(config)
    assert before.snapshot is not None, [problem.one_line() for problem in before.problems]
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")
    after = build(config, before=before)
    assert not after.problems, [problem.one_line() for problem in after.problems]
    assert after.widens


UNLISTED = """
schema = 1
[agent]
mcp."f*" = false
[providers.p]
adapter = "scripted"
[models."x/*"]
provider = "p"
set.permissions = "no-changes"
[models.y]
provider = "p"
[modes.still]
set.mcp.calm = false
set.permissions = "no-changes"
[modes.lively]
[options.model]
values_from = "models"
open = true
[options.persona]
open = true
other = { preselect = { mode = "still" } }
values.plain = {}
[options.care]
open = true
other.set.permissions = "no-changes"
values.some = {}
[options.silence]
type = "boolean"
default = true
on.set.mcp.quiet = false
[options.noise]
type = "boolean"
on.set.mcp.noise = true
[mcp.noise]
command = ["noise"]
[mcp.free]
command = ["free"]
[mcp.calm]
command = ["calm"]
[mcp.quiet]
command = ["quiet"]
[tool_kinds]
"mcp:free/a*" = "edit"
"mcp:free/*a" = "read"
"""
TURNED_OFF = 'mcp."f*" = false\n', "set.mcp.calm = false\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('provider = "p"\nset.permissions = "no-changes"', 'provider = "p"'),
        ('other = { preselect = { mode = "still" } }', 'other = { preselect = { mode = "lively" } }'),
        ('other.set.permissions = "no-changes"', ""),
        ("values.plain = {}", 'values.plain = {}\nvalues.bold.preselect.mode = "lively"'),
        ("on.set.mcp.noise = true", ""),
        (TURNED_OFF[0], ""),
        (TURNED_OFF[1], ""),
        (UNLISTED[UNLISTED.index("[options.silence]") : UNLISTED.index("[options.noise]")], ""),
        (
            '"mcp:free/a*" = "edit"\n"mcp:free/*a" = "read"\n',
            '"mcp:free/*a" = "read"\n"mcp:free/a*" = { kind = "edit", title = "A" }\n',
        ),
    ],
    ids=[
        "models that are not listed",
        "what other values preselect",
        "what other values set",
        "a value that was not listed and may be in force",
        "a server that an option does not own any more",
        "servers that are not turned off any more",
        "a server that a mode does not turn off any more",
        "an option less, which turned a server off",
        "the order of kinds beside another title",
    ],
)
def test_what_is_not_listed_and_what_is_turned_off_widens(tmp_path: Path, old: str, new: str) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(UNLISTED, encoding="utf-8")
    before = build(config)
    assert before.snapshot is not None, [problem.one_line() for problem in before.problems]
    assert old in UNLISTED
    config.write_text(UNLISTED.replace(old, new), encoding="utf-8")
    after = build(config, before=before)
    assert not after.problems, [problem.one_line() for problem in after.problems]
    assert after.widens


def test_a_value_of_another_type_is_a_change(tmp_path: Path) -> None:
    built = edited(tmp_path, ("[models.two]", "[models.one.params]\nseed = 1\n[models.two]"))
    assert built.snapshot is not None
    again = build(tmp_path / "agent.toml", before=built)
    assert again.snapshot is None, "nothing changed"
    config = tmp_path / "agent.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("seed = 1", "seed = true"), encoding="utf-8")
    assert build(config, before=built).snapshot is not None


def test_a_prompt_that_is_read_from_elsewhere_is_something_to_ask_about(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("Very secret.", encoding="utf-8")
    config = tmp_path / "agent" / "agent.toml"
    config.parent.mkdir()
    (config.parent / "prompt.md").write_text("Be kind.", encoding="utf-8")
    config.write_text(START, encoding="utf-8")
    before = build(config)

    def changed(file: str) -> Built:
        config.write_text(START.replace('"Be kind."', f'{{ file = "{file}" }}'), encoding="utf-8")
        return build(config, before=before)

    assert not changed("prompt.md").widens
    assert changed("../secret.md").changes[0].sentence == 'the text file "../secret.md" is read from elsewhere'
    assert changed(f"{tmp_path}/secret.md").widens


def test_a_server_that_would_start_anew_is_told_so(tmp_path: Path) -> None:
    built = edited(tmp_path, WIDENING["another program"])
    assert [(change.name, change.restarts) for change in built.changes] == [("docs", True)]
    only_tools = edited(tmp_path, ('command = ["docs-server"]', 'command = ["docs-server"]\ntools = ["get_*"]'))
    assert [(change.name, change.restarts) for change in only_tools.changes] == [("docs", False)]


def test_a_policy_that_leaves_more_widens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "policy.toml"
    monkeypatch.setenv("AGENTOML_POLICY", str(policy))
    config = tmp_path / "agent.toml"
    config.write_text(START, encoding="utf-8")

    def changed(before: str, after: str) -> Built:
        policy.write_text(f"schema = 1\n{before}", encoding="utf-8")
        first = build(config)
        assert first.snapshot is not None, [problem.one_line() for problem in first.problems]
        policy.write_text(f"schema = 1\n{after}", encoding="utf-8")
        second = build(config, before=first)
        assert not second.problems, [problem.one_line() for problem in second.problems]
        return second

    strict = '[policy]\npermissions = ["house"]\n[permissions.house]\nkinds = { execute = "deny" }\n'
    assert changed(strict, "[policy]\n").widens
    assert not changed("[policy]\n", strict).widens
    assert changed('[policy]\nhosts = ["127.0.0.1"]\n', '[policy]\nhosts = ["*"]\n').widens


def test_that_nobody_is_asked_any_more_is_something_to_ask_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    own = tmp_path / "home" / "agentoml" / "agent.toml"
    own.parent.mkdir(parents=True)
    own.write_text("schema = 1\n", encoding="utf-8")
    config = tmp_path / "agent.toml"
    config.write_text(f'{START}[reload]\nwidening = "apply"\n', encoding="utf-8")
    before = build(config)
    assert not before.applies_widening, "only the user's own configuration may say so"
    own.write_text('schema = 1\n[reload]\nwidening = "apply"\n', encoding="utf-8")
    after = build(config, before=before)
    assert [change.name for change in after.changes if change.widens] == ["reload.widening"]
