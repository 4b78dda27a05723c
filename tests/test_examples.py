"""What stands in examples/ runs, and does what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_demo_happens_and_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-P", str(EXAMPLES / "demo.py")]
    environment = {"PATH": "", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50, check=False)
    shown = done.stdout
    assert done.returncode == 0, shown + done.stderr
    in_order = ["answered: Allow once", "mode: code -> plan", "- thought_level", "+ mode audit", "refused: ", "log: "]
    places = [shown.index(text) for text in [*in_order, "+ mode release"]]
    assert places == sorted(places)
    assert "agent.toml:" in shown and str(tmp_path) not in shown and "\x1b" not in shown
    assert list(tmp_path.glob("agentoml-demo-*")) == []
