from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from agentoml.errors import ToolError
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.files import READ_CHARACTERS, READ_LINES
from agentoml.tools.tool import ToolContext, ToolResult
from tools.fakes import EditorClient

TOOLS = built_in_tools()


async def run(tool: str, context: ToolContext, **args: object) -> ToolResult:
    return await TOOLS[tool].run(args, context)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


async def test_a_file_is_read_as_it_is(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("one\r\ntwo\nthrée".encode())

    result = await run("read_file", context, path="a.txt")

    assert result.text == "one\r\ntwo\nthrée"
    assert not result.failed
    assert result.content[0]["content"]["text"].startswith("```\none")


async def test_a_part_of_a_file_is_read_and_the_note_says_where_to_go_on(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))

    result = await run("read_file", context, path=str(tmp_path / "a.txt"), line=3, limit=2)

    assert result.text == "line 3\nline 4\n[Lines 3 to 4; line = 5 reads on.]"
    assert (await run("read_file", context, path="a.txt", line=9, limit=2)).text == "line 9\nline 10\n"
    assert "no line 11" in (await run("read_file", context, path="a.txt", line=11)).text


async def test_a_long_file_and_a_long_line_are_clipped(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x\n" * (READ_LINES + 5))
    (tmp_path / "wide.txt").write_text("y" * (READ_CHARACTERS + 5) + "\nnext\n")

    assert (await run("read_file", context, path="long.txt")).text.endswith(f"line = {READ_LINES + 1} reads on.]")
    wide = (await run("read_file", context, path="wide.txt")).text
    assert "line = 2 reads on" in wide
    assert len(wide) < READ_CHARACTERS + 200


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("b.bin", b"\x7fELF\0\0", "binary"),
        ("l.txt", "é".encode("latin-1"), "not UTF-8"),
        ("none", None, "No such file"),
    ],
)
async def test_what_is_no_text_is_a_clear_error(
    context: ToolContext, tmp_path: Path, name: str, data: bytes | None, said: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)

    with pytest.raises(ToolError, match=said):
        await run("read_file", context, path=name)


async def test_lines_without_end_are_refused(
    context: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentoml.tools.texts.LARGEST_FILE", 1000)
    (tmp_path / "long.txt").write_text("short\n" * 2 + "x" * 5000, encoding="utf-8")

    assert "short" in (await run("read_file", context, path="long.txt", line=1, limit=1)).text
    with pytest.raises(ToolError, match="too large"):
        await run("read_file", context, path="long.txt", line=3, limit=1)


async def test_a_directory_or_a_pipe_is_not_read(context: ToolContext, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ToolError, match="directory"):
        await run("read_file", context, path=".")
    with pytest.raises(ToolError, match="regular"):
        await run("read_file", context, path="pipe")


async def test_an_edit_keeps_line_ends_mode_and_links(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "real.sh").write_bytes(b"#!/bin/sh\r\necho one\r\necho two")
    (tmp_path / "real.sh").chmod(0o750)
    (tmp_path / "link.sh").symlink_to("real.sh")

    result = await run("edit_file", context, path="link.sh", old_text="echo one\necho", new_text="echo 1\necho")

    assert (tmp_path / "real.sh").read_bytes() == b"#!/bin/sh\r\necho 1\r\necho two"
    assert stat.S_IMODE((tmp_path / "real.sh").stat().st_mode) == 0o750
    assert (tmp_path / "link.sh").is_symlink()
    assert "1 replacement." in result.text
    assert names(tmp_path) == ["link.sh", "real.sh"]


async def test_an_edit_is_a_diff(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    args = {"path": "a.py", "old_text": "1", "new_text": "2"}
    expected = {"type": "diff", "path": str(tmp_path / "a.py"), "oldText": "x = 1\n", "newText": "x = 2\n"}
    preview = TOOLS["edit_file"].preview
    assert preview is not None

    assert await preview(args, context) == (expected,)
    assert (tmp_path / "a.py").read_text() == "x = 1\n"
    assert (await run("edit_file", context, **args)).content == (expected,)


async def test_a_new_file_is_a_diff_without_an_old_text(context: ToolContext, tmp_path: Path) -> None:
    result = await run("write_file", context, path="deep/er/new.txt", content="hello\n")

    assert result.content[0]["oldText"] is None
    assert "(new file)" in result.text
    assert (tmp_path / "deep/er/new.txt").read_text() == "hello\n"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "deep/er/new.txt").stat().st_mode) == 0o666 & ~umask


async def test_a_rewritten_file_keeps_its_line_ends(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "dos.txt").write_bytes(b"a\r\nb\r\n")

    await run("write_file", context, path="dos.txt", content="a\nc\n")

    assert (tmp_path / "dos.txt").read_bytes() == b"a\r\nc\r\n"


async def test_a_text_that_is_not_there_is_an_error_that_shows_the_nearest(
    context: ToolContext, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("def add(a, b):\n    return a + b\n")

    with pytest.raises(ToolError, match=r"2: return a \+ b"):
        await run("edit_file", context, path="a.py", old_text="    return a - b", new_text="")
    with pytest.raises(ToolError, match=r"first line stands in line 1"):
        await run("edit_file", context, path="a.py", old_text="def add(a, b):\n  return", new_text="")
    with pytest.raises(ToolError, match="read the file first"):
        await run("edit_file", context, path="a.py", old_text="import os", new_text="")


async def test_several_matches_are_an_error_unless_all_are_meant(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\ny\nx\n")

    with pytest.raises(ToolError, match=r"2 times \(lines 1, 3\)"):
        await run("edit_file", context, path="a.txt", old_text="x", new_text="z")
    assert (tmp_path / "a.txt").read_text() == "x\ny\nx\n"
    assert (
        "2 replacements" in (await run("edit_file", context, path="a.txt", old_text="x", new_text="z", all=True)).text
    )
    assert (tmp_path / "a.txt").read_text() == "z\ny\nz\n"


async def test_parallel_edits_of_one_file_all_count(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"<{n}>\n" for n in range(20)))

    await asyncio.gather(
        *(run("edit_file", context, path="a.txt", old_text=f"<{n}>", new_text=f"[{n}]") for n in range(20))
    )

    assert (tmp_path / "a.txt").read_text() == "".join(f"[{n}]\n" for n in range(20))


async def test_a_hard_link_stays_one(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "b.txt").hardlink_to(tmp_path / "a.txt")

    await run("write_file", context, path="a.txt", content="new")

    assert (tmp_path / "b.txt").read_text() == "new"


async def test_the_client_reads_and_writes_where_it_offers_to(
    context: ToolContext, client: EditorClient, tmp_path: Path
) -> None:
    client.can_read = client.can_write = True
    path = str(tmp_path / "buffer.txt")
    client.files[path] = "unsaved\n"

    assert (await run("read_file", context, path="buffer.txt")).text == "unsaved\n"
    await run("edit_file", context, path="buffer.txt", old_text="un", new_text="")

    assert client.files[path] == "saved\n"
    assert not (tmp_path / "buffer.txt").exists()
    assert client.calls == [("read", path, None, READ_LINES + 1), ("read", path, None, None), ("write", path)]


async def test_what_the_client_does_not_have_is_an_error_or_a_new_file(
    context: ToolContext, client: EditorClient, tmp_path: Path
) -> None:
    client.can_read = client.can_write = True

    with pytest.raises(ToolError, match="Resource not found"):
        await run("read_file", context, path="nothing.txt")
    assert (await run("write_file", context, path="new.txt", content="x")).content[0]["oldText"] is None


async def test_what_the_client_refuses_outside_the_roots_is_read_from_the_disk(
    context: ToolContext, client: EditorClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    client.can_read = True
    outside = tmp_path_factory.mktemp("outside") / "a.txt"
    outside.write_text("there")

    assert (await run("read_file", context, path=str(outside))).text == "there"


async def test_files_are_listed_sorted_without_git(context: ToolContext, tmp_path: Path) -> None:
    for name in ("b.py", "a/c.py", "a/deep/d.txt", ".git/config", ".env"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert (await run("list_files", context)).text == ".env\na/\nb.py"
    assert (await run("list_files", context, pattern="*.py")).text == "a/c.py\nb.py"
    assert (await run("list_files", context, path="a", depth=2)).text == "c.py\ndeep/\ndeep/d.txt"
    assert (await run("list_files", context, pattern="a/**/*.txt")).text == "a/deep/d.txt"
    with pytest.raises(ToolError, match="no directory"):
        await run("list_files", context, path="nowhere")


async def test_a_long_list_is_bounded(context: ToolContext, tmp_path: Path) -> None:
    for number in range(1_005):
        (tmp_path / f"{number:04}").touch()

    lines = (await run("list_files", context)).text.splitlines()

    assert len(lines) == 1_001
    assert "There is more" in lines[-1]
