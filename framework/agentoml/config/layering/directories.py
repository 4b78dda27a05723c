"""The user's own directories of this program: for configuration, for state and for what can be had again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

_WHERE = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
}


def own_folder(kind: Literal["config", "state", "cache"]) -> Path:
    """Return the directory of this kind, whether it is there or not. A relative XDG variable counts as not set."""
    variable, usual = _WHERE[kind]
    home = os.environ.get(variable, "")
    if not Path(home).is_absolute():
        home = os.path.join(os.path.abspath(os.path.expanduser("~")), usual)  # noqa: PTH100, PTH111, PTH118 - no errors
    return Path(home) / "agentoml"
