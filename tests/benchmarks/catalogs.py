"""CPU from the bytes of a catalog file to a snapshot, against tomllib.loads of the same bytes; linear, and under 2."""

from __future__ import annotations

import gc
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

from processes import row

from agentoml.config.catalogs.reading import with_catalogs
from agentoml.config.layers import read
from agentoml.snapshot.build import build_reading

SIZES = {1_000: 5, 10_000: 3, 40_000: 1}
"""Models -> rounds."""

PROVIDERS = 10
PROVIDER = '[providers.p{}]\nadapter = "openai"\nbase_url = "http://127.0.0.1/v1"\n'
AGENT = """schema = 1
[catalogs.team]
file = "models.toml"
[options.model]
category = "model"
values_from = "models"
group_by = "provider"
[options.effort]
category = "thought_level"
values_from = "model.reasoning"
""" + "".join(PROVIDER.format(number) for number in range(PROVIDERS))


def model(number: int) -> str:
    """A model as catalogs have them."""
    return f"""[models."vendor/model-{number}"]
provider = "p{number % PROVIDERS}"
id = "model-{number}-2026"
name = "Model {number}"
limit = {{ context = {128_000 + number}, output = 64_000 }}
cost = {{ input = 3.0, output = 15.0, cache_read = 0.3 }}
capabilities = ["tools", "images"]
reasoning = {{ values = ["low", "medium", "high"], default = "medium" }}
released = 2026-{number % 12 + 1:02}-{number % 28 + 1:02}
"""


def bare_model(number: int) -> str:
    """A model of which nothing is said."""
    return f'[models."vendor/model-{number}"]\nprovider = "p{number % PROVIDERS}"\n'


def compile_once(config: Path, models: int) -> float:
    """Return the seconds of CPU from files to a snapshot."""
    gc.collect()
    started = time.process_time()
    built = build_reading(with_catalogs(read(config)))
    seconds = time.process_time() - started
    assert built.snapshot is not None and len(built.snapshot.models) == models, built.problems
    return seconds


def load_once(text: str) -> float:
    gc.collect()
    started = time.process_time()
    tomllib.loads(text)
    return time.process_time() - started


def measured(config: Path, form: Callable[[int], str], models: int, salt: str) -> tuple[float, float]:
    """Measure a text that nobody has seen before: every table of it says something of its own."""
    tables = (f"{form(number)}# {salt}, {models}\n" for number in range(models))
    text = "schema = 1\n" + "\n".join(tables)
    (config.parent / "models.toml").write_text(text, encoding="utf-8")
    return compile_once(config, models), load_once(text)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "agent.toml"
        config.write_text(AGENT, encoding="utf-8")
        warm_up(config)
        for name, form in (("", model), (", provider alone", bare_model)):
            for models, rounds in SIZES.items():
                pairs = [measured(config, form, models, f"{name}{round_}") for round_ in range(rounds)]
                ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
                size = (config.parent / "models.toml").stat().st_size
                label = f"compile {models:6,} models ({size / 1e6:.2f} MB{name}), CPU"
                print(row(label, ours, theirs), f"{min(ours) / models * 1e6:5.0f} us a model")


def warm_up(config: Path) -> None:
    """Have everything imported and built that a process builds once."""
    (config.parent / "models.toml").write_text(model(0), encoding="utf-8")
    compile_once(config, 1)


if __name__ == "__main__":
    main()
