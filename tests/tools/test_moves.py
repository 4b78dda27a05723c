from __future__ import annotations

from pathlib import Path

import pytest

from agentoml.errors import ToolError
from agentoml.tools.built_in import built_in_tools
from agentoml.tools.tool import ToolContext

TOOLS = built_in_tools()
move_file, delete_file = TOOLS["move_file"].run, TOOLS["delete_file"].run


async def test_a_file_and_a_directory_are_moved(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_text("a")

    await move_file({"source": "d/a", "destination": "new/place/b"}, context)
    await move_file({"source": "new", "destination": "d/new"}, context)

    assert (tmp_path / "d/new/place/b").read_text() == "a"
    assert not (tmp_path / "new").exists()


async def test_nothing_is_replaced_by_a_move(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "d").mkdir()

    for destination in ("d", "a"):
        with pytest.raises(ToolError, match="there already"):
            await move_file({"source": "a", "destination": destination}, context)
    with pytest.raises(ToolError, match="into itself"):
        await move_file({"source": "d", "destination": "d/e"}, context)
    with pytest.raises(ToolError, match="there is no"):
        await move_file({"source": "gone", "destination": "x"}, context)


async def test_a_file_a_link_and_an_empty_directory_are_deleted(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").touch()
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "empty").mkdir()

    await delete_file({"path": "link"}, context)
    await delete_file({"path": "empty"}, context)
    with pytest.raises(ToolError, match="not empty"):
        await delete_file({"path": "kept"}, context)
    await delete_file({"path": "kept/file"}, context)

    assert not any((tmp_path / name).exists() for name in ("link", "empty", "kept/file"))
    assert (tmp_path / "kept").is_dir()


async def test_the_working_directory_stays(context: ToolContext, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="working directory"):
        await delete_file({"path": "."}, context)
    with pytest.raises(ToolError, match="working directory"):
        await move_file({"source": "..", "destination": str(tmp_path.parent.parent / "x")}, context)
