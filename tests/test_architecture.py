"""The shape of the source: which way imports go, how long files and functions are, what stands where."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "framework" / "agentoml"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A module may import only from rows above its own; within a row only from its own folder.
ROWS = (
    {"errors", "assets", "threads"},
    {"wire", "config"},
    {"models", "tools"},
    {"permissions"},
    {"snapshot"},
    {"session"},
    {"control"},
    {"agent", "initialize"},
    {"cli"},
    {"__main__"},
)
FOR_ITS_TYPE = {("errors", "agentoml.config.problems")}
"""The one arrow against the direction, for type checkers alone: a ConfigError carries problems."""

ROW_OF = {folder: row for row, folders in enumerate(ROWS) for folder in folders}

VAGUE_NAMES = {"utils", "helpers", "common", "core", "base", "shared", "manager", "handler", "types", "misc"}

# These answer `initialize`: nothing heavy may be imported on the way.
START_UP = {
    "errors",
    "assets",
    "initialize",
    "config.problems",
    "config.texts",
    "config.documents",
    "config.layers",
    "config.parse",
    "config.merge",
    "config.edits",
    "wire.messages",
    "wire.methods",
    "wire.handshake",
    "wire.stdio",
    "wire.process",
    "cli.main",
    "cli.run",
}
HEAVY = {"attrs", "attr", "cattrs", "asyncio", "litellm", "mcp", "watchfiles", "ssl", "subprocess", "rich"}


def place(module: Path) -> str:
    return ".".join(module.relative_to(PACKAGE).with_suffix("").parts)


def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def imported(node: ast.AST) -> list[str]:
    """The names of the modules that `node` imports; nothing for other nodes."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(module="agentoml"):
            return [f"agentoml.{alias.name}" for alias in node.names]
        case ast.ImportFrom(module=str(name)):
            return [name]
        case _:
            return []


def top_level_imports(module: Path) -> set[str]:
    return {name.split(".")[0] for node in tree(module).body for name in imported(node)}


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_a_module_imports_only_from_rows_above_its_own(module: Path) -> None:
    own = place(module).split(".")[0]
    if own == "__init__":
        return
    for node in ast.walk(tree(module)):
        for name in imported(node):
            parts = name.split(".")
            if (place(module), name) in FOR_ITS_TYPE:
                continue
            if parts[0] == "agentoml" and len(parts) > 1 and parts[1] in ROW_OF and parts[1] != own:
                assert ROW_OF[parts[1]] < ROW_OF[own], f"{place(module)} imports {name}"


def needed(module: Path) -> set[str]:
    """The modules of the package that this one imports, at its top, within a function, or for its types."""
    named = set()
    for node in ast.walk(tree(module)):
        named.update(name for name in imported(node) if (place(module), name) not in FOR_ITS_TYPE)
        if isinstance(node, ast.ImportFrom):
            named.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name.removeprefix("agentoml.") for name in named} & {place(other) for other in MODULES}


def test_no_modules_import_one_another_in_a_circle() -> None:
    graphlib.TopologicalSorter({place(module): needed(module) for module in MODULES}).prepare()


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_files_and_functions_stay_short(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 400
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{place(module)}.{node.name} has {length} lines"


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_a_module_opens_with_what_it_is_and_has_a_telling_name(module: Path) -> None:
    assert ast.get_docstring(tree(module)), "the first line says what the module is"
    assert module.stem not in VAGUE_NAMES


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_only_the_command_line_prints(module: Path) -> None:
    if place(module).startswith("cli"):
        return
    for node in ast.walk(tree(module)):
        assert not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")


def test_litellm_is_imported_in_one_file_at_most() -> None:
    importers = {
        place(module)
        for module in MODULES
        for node in ast.walk(tree(module))
        if any(name.split(".")[0] == "litellm" for name in imported(node))
    }
    assert importers <= {"models.litellm"}


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_no_pool_of_threads_is_used_that_would_be_joined_at_exit(module: Path) -> None:
    for node in ast.walk(tree(module)):
        assert not (isinstance(node, ast.Attribute) and node.attr in ("to_thread", "run_in_executor"))


@pytest.mark.parametrize("name", sorted(START_UP))
def test_what_answers_initialize_imports_nothing_heavy(name: str) -> None:
    module = PACKAGE / (name.replace(".", "/") + ".py")
    assert not top_level_imports(module) & HEAVY
