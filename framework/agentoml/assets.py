"""Where the files that ship with the package are: presets in configs/, project templates in templates/."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def folder(name: Literal["configs", "templates"]) -> Path:
    """Return the folder of that name: inside the installed package, else at the top of the checkout."""
    packaged = Path(__file__).parent / name
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / name
