"""A URL -> its files on disk, under their digest: git repositories and archives. Used by `agentoml fetch` alone."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from agentoml.config.layering.sources import place_of, tree_digest
from agentoml.errors import AgentomlError

OF_A_REPOSITORY = frozenset({
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_SHALLOW_FILE",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_REPLACE_REF_BASE",
})  # fmt: skip
"""What git sets for its hooks: with these it would work on the user's own repository."""

LARGEST = 32 * 1024 * 1024
MOST_FILES = 2000
SECONDS = 120.0
GIT = "git+"
GIT_SCHEMES = ("https", "ssh", "file")
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class FetchFailed(AgentomlError):
    """What could not be fetched; the text says why."""


def fetch(url: str, pinned: str | None) -> str:
    """Fetch a URL, keep its files, and return their digest. With `pinned`, anything else is kept nowhere.

    Raises:
        FetchFailed: it can't be had, is too large, holds what is no plain file, or is not what is pinned.
    """
    files = _from_git(url.removeprefix(GIT)) if url.startswith(GIT) else _from_archive(url)
    with tempfile.TemporaryDirectory(prefix="agentoml-") as folder:
        fresh = Path(folder) / "files"
        _write(fresh, files)
        digest = tree_digest(fresh)
        if digest is None:
            raise FetchFailed("there are no files in it")
        if pinned is not None and digest != pinned:
            raise FetchFailed(f"it is {digest} now, but {pinned} is pinned; --update pins what is there now")
        place = place_of(digest)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(fresh, place)
    return digest


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a new folder; a directory that all of them lie in is left out, as archives of forges have it."""
    if len(files) > MOST_FILES or sum(map(len, files.values())) > LARGEST:
        raise FetchFailed(f"it has more than {MOST_FILES} files or {LARGEST // 1024 // 1024} MiB")
    tops = {name.partition("/")[0] for name in files}
    top = f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in files) else ""
    for name, content in files.items():
        file = folder / name.removeprefix(top)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _is_plain(name: str) -> bool:
    """Return whether a name in an archive stays in its folder and is no file of version control."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and not {"..", ".git"} & set(parts) and "\0" not in name


# ------------------------------------------------------------------------------------------------- archives


def _from_archive(url: str) -> dict[str, bytes]:
    content = _download(url)
    try:
        if zipfile.is_zipfile(io.BytesIO(content)):
            return dict(_zipped(content))
        return dict(_tarred(content))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError) as error:
        raise FetchFailed(f"it is no archive that can be read: {error}") from None


def _download(url: str) -> bytes:
    _check_scheme(url)
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            _check_scheme(answer.url)
            content: bytes = answer.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise FetchFailed(f"it can't be had: {reason}") from None
    if len(content) > LARGEST:
        raise FetchFailed(f"it has more than {LARGEST // 1024 // 1024} MiB")
    return content


def _check_scheme(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise FetchFailed("only https:// can be relied on to be the place that it says")


def _tarred(content: bytes) -> Iterator[tuple[str, bytes]]:
    left = LARGEST
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            left -= max(member.size, 512)
            if left < 0:
                raise FetchFailed(f"it has more than {LARGEST // 1024 // 1024} MiB")
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is not None and _is_plain(member.name):
                yield str(PurePosixPath(member.name)), stream.read()


def _zipped(content: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > LARGEST:
            raise FetchFailed(f"it has more than {LARGEST // 1024 // 1024} MiB")
        for member in archive.infolist():
            is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
            if not (member.is_dir() or is_link) and _is_plain(member.filename):
                yield str(PurePosixPath(member.filename)), archive.read(member)


# ------------------------------------------------------------------------------------------------ repositories


def _from_git(url: str) -> dict[str, bytes]:
    """Return the files of a repository: of the branch, tag or commit behind the last `@`, else of its usual branch."""
    repository, at, revision = url.rpartition("@")
    if not at or "/" not in repository.partition("://")[2]:
        repository, revision = url, "HEAD"
    if urlsplit(repository).scheme not in GIT_SCHEMES or revision.startswith("-"):
        raise FetchFailed(f"git is asked by {', '.join(GIT_SCHEMES)} alone: git+https://HOST/REPOSITORY@REVISION")
    with tempfile.TemporaryDirectory(prefix="agentoml-") as folder:
        _git(folder, "init", "--quiet", "--template=", ".")
        _git(folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--", repository, revision)
        listed = _git(folder, "ls-tree", "-r", "-z", "--long", "FETCH_HEAD").decode("utf-8", "surrogateescape")
        files: dict[str, bytes] = {}
        left = LARGEST
        for entry in listed.split("\0")[:-1]:
            (mode, _, name_of_object, size), name = entry.partition("\t")[0].split(), entry.partition("\t")[2]
            if mode in ("100644", "100755") and _is_plain(name):
                left -= int(size)
                if left < 0 or len(files) > MOST_FILES:
                    raise FetchFailed(f"it has more than {MOST_FILES} files or {LARGEST // 1024 // 1024} MiB")
                files[name] = _git(folder, "cat-file", "blob", name_of_object)
        return files


def _git(folder: str, *words: str) -> bytes:
    ours = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": ":".join(GIT_SCHEMES)}
    environment = {name: value for name, value in os.environ.items() if name not in OF_A_REPOSITORY} | ours
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchFailed(f"git can't do it: {error}") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it says nothing"]
        raise FetchFailed(f"git can't do it: {lines[-1]}")
    return done.stdout
