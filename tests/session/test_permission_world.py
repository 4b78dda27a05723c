"""How the file system is asked before a call is judged: symlinks, `..`, globs, letter case; never an exception."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentoml.config.schema import PermissionSet, Rule
from agentoml.permissions.calls import Call
from agentoml.permissions.sets import compile_sets
from agentoml.permissions.verdict import InForce, verdict
from agentoml.session.world import entries, exists, is_case_sensitive, realpath, world_of

SETS = compile_sets({
    "all": PermissionSet(default="allow"),
    "no-secrets": PermissionSet(rules={"no": Rule(path=("secrets/**",), action="deny")}),
    "src": PermissionSet(default="ask", rules={"src": Rule(kind=("edit",), path=("src/**",), action="allow")}),
})  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir("/")  # a session's cwd is not ours
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("secrets", "src"):
        (tmp_path / "project" / folder).mkdir(parents=True)
    (tmp_path / "project" / "secrets" / ".env").write_text("x", encoding="utf-8")
    (tmp_path / "project" / "src" / "link").symlink_to("../secrets/.env")
    return tmp_path / "project"


def judged(project: Path, call: Call, *base: str) -> str:
    return verdict(call, InForce(base), SETS, world_of(str(project), ())).verdict


@pytest.mark.parametrize(
    "line",
    [
        *("cat secrets/.e*", "cat s*/.e*", "cd secrets; cat .e*", "cat src/link", "cat src/l*"),
        *("cat src/../secrets/.env", "cat ~/project/secrets/.env", "cat < src/link", "rm -r secrets"),
        *("cat src/link\0x", "cat 'secrets/\ud800.env'"),
    ],
)
def test_a_locked_folder_is_locked_however_it_is_reached(project: Path, line: str) -> None:
    assert judged(project, Call("shell", "execute", {"command": line}), "all", "no-secrets") in ("deny", "ask")


def test_the_way_back_out_of_a_symlinked_folder_is_the_kernels(project: Path) -> None:
    (project / "deep" / "er").mkdir(parents=True)
    (project / "short").symlink_to("deep/er")
    (project / "deep" / "secrets").symlink_to("../secrets")
    call = Call("shell", "execute", {"command": "cat short/../secrets/.env"})
    assert judged(project, call, "all", "no-secrets") == "deny"


@pytest.mark.parametrize("path", ["src/link", "src/../secrets/a", "/src/a", "../src/a", "src/\0", "src"])
def test_an_allow_needs_the_path_as_written_and_behind_its_symlinks(project: Path, path: str) -> None:
    expected = "allow" if path == "src/\0" else "ask"
    assert judged(project, Call("write_file", "edit", {"path": path}, (path,)), "src") == expected
    assert judged(project, Call("write_file", "edit", {"path": "src/a"}, ("src/a",)), "src") == "allow"


def test_asking_the_file_system_never_raises() -> None:
    for path in ("\0", "\ud800", "a" * 70_000, "/proc/self/mem/x"):
        assert not exists(path)
        assert realpath(path)
        assert list(entries(path)) == []


def test_letter_case_is_asked_of_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "Name").write_text("", encoding="utf-8")
    expected = not (tmp_path / "nAME").exists()
    assert is_case_sensitive(str(tmp_path)) is expected
    assert is_case_sensitive(str(tmp_path / "nothing here")) is True
    assert is_case_sensitive(os.sep) is True
