from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentoml.cli.schema import main, write_schema
from agentoml.config.vocabulary.json_schema import json_schema


def test_it_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_it_writes_it_where_a_configuration_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert "#:schema agentoml.schema.json" in capsys.readouterr().out
    written = tmp_path / "agentoml.schema.json"
    assert json.loads(written.read_text()) == json_schema()
    assert write_schema(tmp_path) == written


def test_a_folder_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nope")]) == 1
    assert capsys.readouterr().err == f"agentoml schema: {tmp_path / 'nope'}: no such file or directory\n"
