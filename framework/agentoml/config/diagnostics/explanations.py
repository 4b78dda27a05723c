"""What each code means at length: `agentoml check --explain CODE` and docs/problems.md. The texts are data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from agentoml.config.problems import CODES


@frozen
class Explanation:
    """One code. `wrong` is a configuration that has this problem and no other, `right` the same without it; both are
    empty where a text alone can't show it.
    """

    code: str
    title: str
    about: str
    wrong: str = ""
    right: str = ""

    def markdown(self, said: str = "") -> str:
        """Return it as a section of the docs; `said` is what `check` prints about `wrong`."""
        parts = [f"## {self.code}", f"**{self.title}**", *([self.about] if self.about else [])]
        if self.wrong:
            parts.append(f"```toml\n{self.wrong}```")
            parts += [f"```text\n{said}\n```"] if said else []
            parts.append(f"Instead:\n\n```toml\n{self.right}```")
        return "\n\n".join(parts)


def explanations() -> Mapping[str, Explanation]:
    """Return the explanation of every code."""
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        code: Explanation(code, title, said["about"].strip(), said.get("wrong", ""), said.get("right", ""))
        for code, title in CODES.items()
        for said in (texts.get(code, {"about": ""}),)
    }
