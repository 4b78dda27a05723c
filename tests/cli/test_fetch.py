"""What is extended from elsewhere: repositories and archives on this machine, fetched by its own command alone."""

from __future__ import annotations

import functools
import http.server
import io
import subprocess
import tarfile
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentoml.cli.check import check
from agentoml.cli.main import main
from agentoml.config import layers
from agentoml.config.layers import Reading

TEAM = 'schema = 1\nextends = ["parts/models.toml"]\n[agent]\ntitle = "Team"\ninstructions = { file = "prompt.md" }\n'
FILES = {
    "agent.toml": TEAM,
    "parts/models.toml": 'schema = 1\n[providers.offline]\nadapter = "scripted"\n[models.one]\nprovider = "offline"\n',
    "prompt.md": "Be kind.\n",
}


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("config", "state", "cache"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / kind))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server over a folder, on this machine."""
    folder = tmp_path / "site"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()
        thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def tar(files: dict[str, str], top: str = "") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(top + name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        link = tarfile.TarInfo(top + "link.toml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return packed.getvalue()


def extending(target: str) -> None:
    Path("agent.toml").write_text(f'schema = 1\nextends = ["{target}"]\n', encoding="utf-8")


def codes() -> list[str]:
    return [problem.code for problem in check("agent.toml").problems]


def named(reading: Reading) -> list[str]:
    return [text.name for text in reading.texts[1:]]


def test_an_archive_is_fetched_pinned_and_read(site: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    url, folder = site
    (folder / "team.tar.gz").write_bytes(tar(FILES, "team-1.0/"))
    extending(f"{url}/team.tar.gz")

    [problem] = check("agent.toml").problems
    assert (problem.code, problem.line, problem.column) == ("AGT311", 2, 12)
    assert "agentoml fetch" in problem.hint

    assert main(["fetch", "agent.toml"]) == 0
    digest = tomllib.loads(Path("agentoml.lock").read_text())["sources"][f"{url}/team.tar.gz"]["digest"]
    assert capsys.readouterr().out == f"{url}/team.tar.gz: {digest}\n"
    assert codes() == []
    reading = layers.read("agent.toml")
    assert named(reading) == [
        f"{url}/team.tar.gz#parts/models.toml", f"{url}/team.tar.gz#agent.toml", "agent.toml",
    ]  # fmt: skip
    assert reading.texts[2].included == {"prompt.md": "Be kind.\n"}
    assert Path("agentoml.lock").absolute() in reading.files

    assert main(["fetch", "agent.toml"]) == 0
    assert capsys.readouterr().out == "nothing to fetch: all that is extended is here\n"


def test_a_fragment_names_a_file_of_a_zip(site: tuple[str, Path]) -> None:
    url, folder = site
    with zipfile.ZipFile(folder / "team.zip", "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    extending(f"{url}/team.zip#parts/models.toml")
    assert main(["fetch"]) == 0  # of a project that is not trusted nothing is fetched
    assert codes() == ["AGT311"]
    assert main(["fetch", "agent.toml"]) == 0
    assert named(layers.read("agent.toml")) == [f"{url}/team.zip#parts/models.toml", "agent.toml"]


def test_what_is_pinned_is_fetched_elsewhere_too_and_anything_else_is_not(
    site: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url, folder = site
    (folder / "team.tar.gz").write_bytes(tar(FILES))
    extending(f"{url}/team.tar.gz")
    assert main(["fetch", "agent.toml"]) == 0

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another-machine"))
    assert codes() == ["AGT311"]
    (folder / "team.tar.gz").write_bytes(tar({**FILES, "agent.toml": TEAM.replace("Team", "Mean")}))
    capsys.readouterr()
    assert main(["fetch", "agent.toml"]) == 1
    assert "--update" in capsys.readouterr().err
    assert codes() == ["AGT311"]
    assert main(["fetch", "agent.toml", "--update"]) == 0
    assert codes() == []


def test_what_was_changed_on_disk_is_not_read(site: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = site
    (folder / "team.tar.gz").write_bytes(tar(FILES))
    extending(f"{url}/team.tar.gz")
    assert main(["fetch", "agent.toml"]) == 0
    [kept] = (tmp_path / "cache/agentoml/fetched").iterdir()
    (kept / "agent.toml").write_text(TEAM.replace("Team", "Mean"))
    [problem] = check("agent.toml").problems
    assert "is not what agentoml.lock says" in problem.message


def test_a_repository_is_fetched_at_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "team"
    for name, text in FILES.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-C", str(repository)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (repository / "agent.toml").write_text("schema = 3\n")
    subprocess.run([*git, "commit", "-qam", "two"], check=True, capture_output=True)

    monkeypatch.setenv("GIT_DIR", str(tmp_path / "of-a-hook"))
    extending(f"git+file://{repository}@v1")
    assert main(["fetch", "agent.toml"]) == 0
    assert not (tmp_path / "of-a-hook").exists()
    assert codes() == []
    assert named(layers.read("agent.toml"))[1] == f"git+file://{repository}@v1#agent.toml"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.com/x.zip", "only https://"),
        ("git+ext::sh -c true", "git is asked by"),
        ("git+https://host/x@--upload-pack=true", "git is asked by"),
        ("http://127.0.0.1:1/x.zip", "it can't be had"),
    ],
)
def test_what_can_not_be_had_is_told(url: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    extending(url)
    assert main(["fetch", "agent.toml"]) == 1
    assert why in capsys.readouterr().err
    assert not Path("agentoml.lock").exists()


@pytest.mark.parametrize("text", [None, "extends = [", 'extends = ["x.toml"]'])
def test_where_nobody_knows_what_is_extended_nothing_is_called_fetched(
    text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        Path("agent.toml").write_text(text)
    assert main(["fetch", "agent.toml"]) == 2
    said = capsys.readouterr()
    assert "error[AGT" in said.err and said.out == ""


def test_nothing_in_an_archive_leaves_its_folder(site: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = site
    (folder / "evil.tar.gz").write_bytes(tar({"../../evil.toml": "x", "/evil.toml": "x", "agent.toml": "schema = 1\n"}))
    extending(f"{url}/evil.tar.gz")
    assert main(["fetch", "agent.toml"]) == 0
    assert [file.name for file in tmp_path.rglob("evil.toml")] == []
    assert codes() == []


@pytest.mark.parametrize("inner", ["extends = ['/etc/hosts']", "agent.instructions = { file = '../../../x.md' }"])
def test_what_was_fetched_takes_no_file_from_elsewhere(site: tuple[str, Path], inner: str) -> None:
    url, folder = site
    (folder / "team.tar.gz").write_bytes(tar({"agent.toml": inner + "\n"}))
    extending(f"{url}/team.tar.gz")
    assert main(["fetch", "agent.toml"]) == 0
    assert "AGT309" in codes()


def test_what_was_fetched_may_extend_more(site: tuple[str, Path]) -> None:
    url, folder = site
    (folder / "b.tar.gz").write_bytes(tar({"agent.toml": "schema = 1\n"}))
    (folder / "a.tar.gz").write_bytes(tar({"agent.toml": f'extends = ["{url}/b.tar.gz"]\n'}))
    extending(f"{url}/a.tar.gz")
    assert main(["fetch", "agent.toml"]) == 0
    assert codes() == []
    assert len(tomllib.loads(Path("agentoml.lock").read_text())["sources"]) == 2


def test_a_package_is_extended_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "acme_agents"
    for name, text in FILES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    (package / "__init__.py").write_text("raise SystemExit('it is not imported')\n")
    monkeypatch.syspath_prepend(str(package.parent))

    extending("package:acme_agents")
    assert codes() == []
    assert named(layers.read("agent.toml"))[:2] == [
        "package:acme_agents/parts/models.toml", "package:acme_agents/agent.toml",
    ]  # fmt: skip
    extending("package:acme_agents/parts/models.toml")
    assert codes() == []
    for wrong in ("package:acme_agentz", "package:acme.agents", "package:acme_agents/none.toml"):
        extending(wrong)
        assert codes() == ["AGT301"]


def test_a_package_of_the_working_directory_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("acme_agents").mkdir()
    Path("acme_agents/agent.toml").write_text("schema = 1\n")
    monkeypatch.syspath_prepend("")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    extending("package:acme_agents")
    assert codes() == ["AGT301"]
