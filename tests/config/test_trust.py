from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentoml.config import layers, trust
from agentoml.config.layering.projects import project_root
from agentoml.config.layers import Chosen, in_directory, read
from agentoml.config.trust import Project


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("config", "state"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / kind))
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(root: Path, text: str, name: str = "agent.toml") -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def project(root: Path) -> Project:
    found = read(Chosen("preset:offline", project=root)).project
    assert found is not None
    return found


def counts(root: Path) -> bool:
    return any(text.layer == "project" for text in read(Chosen("preset:offline", project=root)).texts)


def claimed(root: Path, text: str) -> list[tuple[str, str]]:
    write(root, text)
    return [(claim.kind, claim.line()) for claim in project(root).claims]


def test_a_project_counts_once_its_user_agreed_and_no_more_when_that_is_forgotten(root: Path) -> None:
    write(root, "schema = 1\n[mcp.x]\ncommand = ['x']\n")
    assert (project(root).status, counts(root)) == ("new", False)
    trust.record(project(root), granted=True)
    assert (project(root).status, counts(root)) == ("trusted", True)
    assert trust.forget(root) is True
    assert (project(root).status, counts(root), trust.forget(root)) == ("new", False, False)


def test_what_would_run_is_shown_with_nothing_hidden_or_turned_around(root: Path) -> None:
    text = r"""schema = 1
[mcp."a\u202eb"]
command = ["sh", "-c", "evil \u001b[2K\r\u009b2K \u202e\u200b ok ä"]
"""

    assert claimed(root, text) == [
        ("runs", r"""mcp."a\u202eb".command = ["sh", "-c", "evil \u001b[2K\r\u009b2K \u202e\u200b ok ä"]""")
    ]


def test_what_is_shown_is_shown_whole(root: Path) -> None:
    name, line = "a b" * 50, "true; " * 50
    assert claimed(root, f"[tools.'{name}']\ncommand = ['sh', '-c', '{line}']") == [
        ("runs", f'tools."{name}".command = ["sh", "-c", "{line}"]')
    ]


def test_what_was_refused_is_not_asked_about_until_it_changes(root: Path) -> None:
    write(root, "schema = 1\n[mcp.x]\ncommand = ['x']\n")
    trust.record(project(root), granted=False)
    assert (project(root).status, counts(root)) == ("refused", False)
    write(root, "schema = 1\n[mcp.x]\ncommand = ['y']\n")
    assert project(root).status == "new"


def test_any_other_claim_is_another_configuration_and_words_are_none(root: Path) -> None:
    text = "schema = 1\n[agent]\ninstructions = 'a'\n[mcp.x]\ncommand = ['x']\nname = 'X'\n"
    write(root, text)
    trust.record(project(root), granted=True)
    write(root, text.replace("'a'", "'b'").replace("'X'", "'Y'"))
    assert counts(root)
    write(root, text.replace("['x']", "['x', '--all']"))
    assert (project(root).status, counts(root)) == ("changed", False)
    assert project(root).wanted() == (
        ("It would run", (("-", 'mcp.x.command = ["x"]'), ("+", 'mcp.x.command = ["x", "--all"]'))),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "[modes.ask]\n[modes.yolo]\nset.auto_answers.add = ['everything']\n",
            "[modes.yolo]\nset.auto_answers.add = ['everything']\n[modes.ask]\n",
        ),
        ("options.x.values = { a.set.tools = ['!*'], b = {} }", "options.x.values = { b = {}, a.set.tools = ['!*'] }"),
        ("extends = ['parts/strict.toml', 'parts/loose.toml']", "extends = ['parts/loose.toml', 'parts/strict.toml']"),
    ],
)  # fmt: skip
def test_what_comes_first_and_which_file_wins_is_agreed_to_as_well(root: Path, before: str, after: str) -> None:
    write(root, "permissions.team.default = 'deny'\n", "parts/strict.toml")
    write(root, "permissions.team.default = 'allow'\n", "parts/loose.toml")
    write(root, before)
    trust.record(project(root), granted=True)
    write(root, after)
    assert (project(root).status, counts(root)) == ("changed", False)
    assert (project(root).wanted(), "order" in project(root).silence) == ((), True)


def test_a_table_that_moves_as_a_whole_is_what_was_agreed_to(root: Path) -> None:
    write(root, "[mcp.x]\ncommand = ['x']\n[tools.y]\ncommand = ['y']\n")
    trust.record(project(root), granted=True)
    write(root, "[tools.y]\ncommand = ['y']\n[mcp.x]\ncommand = ['x']\n")
    assert counts(root)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[mcp.x]\ncommand = ['x']", [("runs", 'mcp.x.command = ["x"]')]),
        ("[tools.x]\ncommand = ['x']\ndescription = 'd'", [("runs", 'tools.x.command = ["x"]')]),
        ("[mcp.x]\nurl = 'http://h/'", [("reaches", 'mcp.x.url = "http://h/"')]),
        ("[providers.p]\nbase_url = 'http://me:pa55@h/'", [("reaches", "providers.p.base_url = (not shown)")]),
        ("[providers.p]\napi_key.env = 'K'", [("reads", 'providers.p.api_key.env = "K"')]),
        ("[providers.p]\napi_key.command = ['op']", [("runs", 'providers.p.api_key.command = ["op"]')]),
        ("[mcp.x]\nheaders = { A = 'Bearer pa55' }", [("reaches", "mcp.x.headers.A = (not shown)")]),
        ("[tool_kinds]\nname = 'read'", [("allows", 'tool_kinds.name = "read"')]),
        ("[permissions.standard.rules.x]\nremove = true", [("allows", "permissions.standard.rules.x.remove = true")]),
        ("[agent]\nauto_answers.add = ['everything']", [("allows", 'agent.auto_answers.add = ["everything"]')]),
        ("[agent]\nmcp.name = true", [("allows", "agent.mcp.name = true")]),
        ("[agent]\ncontext_files = ['a']", [("allows", 'agent.context_files = ["a"]')]),
        ("[modes.x]\nname = 'X'\nset.instructions_append = 'a'", [("allows", "modes.x")]),
        ("options.x.values.y.name = 'Y'\noptions.x.on.name = 'on'", [("allows", "options.x.values.y")]),
        ("[options.mode]\ndefault = 'yolo'", [("allows", 'options.mode.default = "yolo"')]),
        ("[options.x]\norder = 'name'", [("allows", 'options.x.order = "name"')]),
        ("[options.x.on.preselect]\nmode = 'yolo'", [("allows", 'options.x.on.preselect.mode = "yolo"')]),
        ("[options.x.on.set]\npermissions = 'a'", [("allows", 'options.x.on.set.permissions = "a"')]),
        ("[commands.x]\nprompt = 'p'\nswitch_to.mode = 'yolo'", [("allows", 'commands.x.switch_to.mode = "yolo"')]),
        ("[catalogs.x]\nfile = '/etc/x.toml'", [("reaches", 'catalogs.x.file = "/etc/x.toml"')]),
        ("[models.m]\nprovider = 'p'\n[options.x.on]\nset.instructions_append = 'a'\nname = 'X'", []),
        ("agent.instructions = 'a'\ncommands.x.prompt = 'p'\npermissions.x.name = 'X'", []),
    ],
)  # fmt: skip
def test_what_is_not_harmless_is_claimed(root: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert claimed(root, text) == expected


def test_what_its_files_extend_is_claimed_too(root: Path) -> None:
    write(root, "schema = 1\n[mcp.x]\ncommand = ['x']\n", "parts/servers.toml")
    assert claimed(root, "extends = ['parts/servers.toml']\n") == [("runs", 'mcp.x.command = ["x"]')]


@pytest.mark.parametrize("text", ["extends = ['{}']", "agent.instructions = {{ file = '{}' }}"])
def test_nothing_outside_of_the_project_is_read(root: Path, tmp_path: Path, text: str) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text("agent.title = 'pa55'\n", encoding="utf-8")
    (root / "link.toml").symlink_to(secret)
    for name in (str(secret), "../secret.toml", "link.toml", "~/x.toml"):
        write(root, text.format(name))
        found = project(root)
        assert [problem.code for one in found.texts for problem in one.problems] == ["AGT309"]
        assert found.broken and "pa55" not in repr(found)


def test_what_a_trusted_project_breaks_is_told_and_what_another_breaks_is_not(root: Path) -> None:
    write(root, "schema = 1\n")
    trust.record(project(root), granted=True)
    write(root, "schema = \n")
    assert counts(root)
    trust.forget(root)
    assert not counts(root)


def test_what_the_user_said_is_for_them_alone_and_holds_no_secret(root: Path) -> None:
    write(root, "schema = 1\n[mcp.x]\nurl = 'http://h/'\nheaders = { A = 'pa55' }\n")
    trust.record(project(root), granted=True)
    file = trust.record_file(root)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "pa55" not in file.read_text(encoding="utf-8")
    assert file in read(Chosen("preset:offline", project=root)).files


@pytest.mark.parametrize("damage", ["", "root = 1", "granted = true", "x"])
def test_a_damaged_record_is_no_agreement(root: Path, damage: str) -> None:
    write(root, "schema = 1\n")
    trust.record(project(root), granted=True)
    trust.record_file(root).write_text(damage, encoding="utf-8")
    assert not counts(root)


def test_the_project_of_a_directory_is_found_up_to_the_top_of_its_repository(root: Path) -> None:
    file = write(root, "schema = 1\n", ".agentoml/agent.toml")
    (root / "a/b").mkdir(parents=True)
    assert project_root(root / "a/b") is None
    (root / ".git").mkdir()
    assert project_root(root / "a/b") == root
    beside = write(root, "schema = 1\n", "beside/agent.toml").parent
    assert project_root(root / "beside/../a/b") == root, "it lies not in beside"
    assert project_root(root / "a/../beside") == beside
    assert in_directory(Chosen("preset:offline"), root / "a").project == root
    assert in_directory(Chosen(file), root / "a").project is None
    assert layers.read(Chosen(file, project=None)).project is None


AUDITED = """
import sys
seen = []
def hook(event, args):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.__new__"):
        seen.append(event)
    if event == "open" and "secret" in str(args[0]):
        seen.append(f"open {args[0]}")
sys.addaudithook(hook)
from pathlib import Path
from agentoml.config.layers import Chosen
from agentoml.snapshot.build import build
root = Path(sys.argv[1])
built = build(Chosen("preset:offline", project=root))
assert built.snapshot is not None and built.reading.project.status == "new", built
assert "x" not in built.snapshot.servers
import agentoml.cli.trust
agentoml.cli.trust.main(["show", str(root)])
assert seen == [], seen
"""


def test_loading_a_project_that_is_not_trusted_starts_nothing_reaches_nothing_and_reads_no_secret(
    root: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("marker", encoding="utf-8")
    write(
        root,
        f"""
extends = ["../secret", "{secret}"]
agent.instructions = {{ file = "{secret}" }}
agent.context_files = ["{secret}"]
providers.p = {{ adapter = "openai", base_url = "http://127.0.0.1:1", api_key = {{ command = ["cat", "{secret}"] }} }}
providers.q = {{ adapter = "openai", api_key = {{ file = "{secret}" }} }}
catalogs.c = {{ discover = "p" }}
catalogs.d = {{ file = "{secret}" }}
mcp.x = {{ command = ["touch", "{tmp_path / "ran"}"] }}
""",
    )
    done = subprocess.run([sys.executable, "-P", "-c", AUDITED, str(root)], capture_output=True, text=True, check=False)
    assert (done.returncode, "marker" in done.stdout + done.stderr) == (0, False), done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "text",
    [
        "extends = ['a\u0000b']",
        "extends = ['" + "x/" * 3000 + "']",
        "agent.instructions = { file = 'a\u0000b' }",
        "extends = ['package:\u0000', 'git+', 'https://\u0000#\u0000', 'package:os/..']",
        "x = 3",
        "agent = 3",
        "mcp = 'x'",
        "policy = 3",
    ],
)
def test_whatever_a_project_says_is_read_without_a_fault(root: Path, text: str) -> None:
    write(root, text.replace("'", '"').replace("\u0000", "\\u0000"))
    assert project(root).status == "new"
    assert not counts(root)
