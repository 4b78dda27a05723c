"""docs/reference.md is written from the vocabulary; anew, to be read before it is committed, by

AGENTOML_WRITE_EXPECTED=1 pytest tests/config/vocabulary/test_reference_pages.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import attrs
import pytest

from agentoml.config.schema import Config, Model, Option, Rule
from agentoml.config.vocabulary.profile import ProfileKeys
from agentoml.config.vocabulary.reference_pages import anchor, reference_page

PAGE = Path(__file__).parents[3] / "docs" / "reference.md"


def test_the_page_is_fresh() -> None:
    page = reference_page()
    if os.environ.get("AGENTOML_WRITE_EXPECTED"):
        PAGE.write_text(page, encoding="utf-8")
    assert page == PAGE.read_text(encoding="utf-8")


def test_every_link_leads_to_a_heading_of_the_page() -> None:
    page = reference_page()
    headings = {anchor(heading) for heading in re.findall(r"^## (.+)$", page, re.MULTILINE)}
    links = set(re.findall(r"\]\(#([^)]*)\)", page))
    assert links <= headings
    assert len(headings) == page.count("\n## ")


@pytest.mark.parametrize("kind", [Config, ProfileKeys, Option, Model, Rule])
def test_every_key_is_told_or_reserved(kind: type) -> None:
    page = reference_page()
    assert [
        one.name for one in attrs.fields(kind) if f"| `{one.name}` |" not in page and one.metadata["later"] is None
    ] == []
