"""`agentoml catalog sync`: providers asked now, and their lists written into catalog files."""

from __future__ import annotations

import asyncio
import datetime
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from agentoml import assets
from agentoml.cli.choosing import tell_of_trust
from agentoml.config import layers, merge, parse
from agentoml.config.catalogs.cost_map import litellm_models, litellm_names
from agentoml.config.catalogs.files import catalog_file, differences, is_ours, written_models
from agentoml.config.catalogs.lists import provided_models
from agentoml.config.catalogs.reading import bundled_list
from agentoml.config.diagnostics.locate import located
from agentoml.config.origins import origins
from agentoml.config.policy import ceilings
from agentoml.config.problems import did_you_mean, quoted
from agentoml.config.schema import Catalog, Config
from agentoml.config.secrets import resolve_secret
from agentoml.config.structure import structure
from agentoml.config.texts import Merged
from agentoml.config.write import replace_file
from agentoml.errors import AgentomlError
from agentoml.snapshot.ceiling import ceiling_of
from agentoml.threads import run

EXIT_FAILED = 1
EXIT_USAGE = 2


class SyncFailed(AgentomlError):
    """A catalog that could not be written; the text says why, the old file is untouched."""


class _Task(NamedTuple):
    """A list that is to be written: its catalog, the file, and whether the configuration names this file."""

    name: str
    catalog: Catalog
    file: Path
    named: bool


def sync(config: layers.Chosen, names: list[str]) -> int:
    """Write the catalogs of these names, or all that are lists; return 0, 1 if one failed, 2 for an unknown name.

    Raises:
        ConfigError: the configuration can't be used; names that it gives to models are not looked at.
    """
    reading = layers.read(config)
    tell_of_trust(reading)
    merged = merge.merge(parse.parse_all(reading))
    with located(merged):
        declared = structure(merged)
    unknown = [name for name in names if name not in declared.catalogs]
    for name in unknown:
        meant = did_you_mean(name, declared.catalogs) or f"there are: {', '.join(declared.catalogs) or 'none'}"
        print(f"agentoml catalog sync: there is no catalog {quoted(name)}; {meant}", file=sys.stderr)
    if unknown:
        return EXIT_USAGE
    listed = [name for name, catalog in declared.catalogs.items() if catalog.discover or catalog.bundled]
    for name in (name for name in names if name not in listed):
        print(f"{name}: a file of your own, from no list")
    wanted = [name for name in listed if name in names or not names]
    if not wanted and not names:
        print("nothing to write: no catalog here has `discover` or `bundled`")
    return run(_sync_all(declared, merged, wanted))


async def _sync_all(config: Config, merged: Merged, names: list[str]) -> int:
    """Write the catalogs at the same time; return the exit code."""
    done = await asyncio.gather(*(_sync_one(config, merged, name) for name in names), return_exceptions=True)
    failed = False
    for name, outcome in zip(names, done, strict=True):
        if isinstance(outcome, str):
            print(f"{name}: {outcome}")
        elif isinstance(outcome, AgentomlError | OSError):
            failed = True
            print(f"{name}: {_why(outcome)}", file=sys.stderr)
        else:
            raise outcome
    return EXIT_FAILED if failed else 0


async def _sync_one(config: Config, merged: Merged, name: str) -> str:
    """Write one catalog and return what became of it, in a sentence.

    Raises:
        AgentomlError: there is no list to be had, or no place for it; the old file is untouched.
        OSError: the file can't be written.
    """
    task = _task(name, config.catalogs[name], merged)
    before = _before(task.file)
    models, source = await _models(task.catalog, config, merged)
    shown = _shown(task.file)
    hint = _hint(task)
    old = written_models(before)
    if before and old == models:
        return f"{_counted(models)}, as in {shown} already{hint}"
    replace_file(task.file, catalog_file(models, source, datetime.datetime.now(tz=datetime.UTC)))
    found = differences(old, models)
    told = ", ".join(f"{number} {word}" for word, number in found._asdict().items() if number) if before else ""
    return f"{_counted(models)} written to {shown}{f' ({told})' if told else ''}{hint}"


def _task(name: str, catalog: Catalog, merged: Merged) -> _Task:
    if isinstance(catalog.file, str):
        return _Task(name, catalog, Path(catalog.file).expanduser(), named=True)
    folder = _folder(merged, name)
    if folder is None or not name.replace("-", "").replace("_", "").isalnum():
        example = f'[catalogs.{name}] file = "catalogs/models.toml"'
        raise SyncFailed(f"say in your own configuration where its file is to be: {example}")
    return _Task(name, catalog, folder / "catalogs" / f"{name}.toml", named=False)


def _hint(task: _Task) -> str:
    """Return what the user has to know of the file, each in a line."""
    chooses = " and ".join(name for name in ("include", "exclude") if getattr(task.catalog, name) is not None)
    whole = f"\n  the whole list: what {chooses} leaves out is left out on reading" if chooses else ""
    unnamed = f'\n  it counts once [catalogs.{task.name}] says file = "catalogs/{task.file.name}"'
    return whole + ("" if task.named else unnamed)


def _folder(merged: Merged, name: str) -> Path | None:
    """Return the folder of the file that declares a catalog; None where that is shipped."""
    for origin in origins(merged, ("catalogs", name)):
        path = origin.text.path
        if path is not None and not path.is_relative_to(assets.folder("configs")):
            return path.parent
    return None


def _before(file: Path) -> bytes:
    """Return what a file says now, nothing where there is none.

    Raises:
        SyncFailed: somebody wrote it by hand.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return b""
    if content and not is_ours(content):
        raise SyncFailed(f"{_shown(file)} was written by somebody else: move it away, or name another file")
    return content


async def _models(catalog: Catalog, config: Config, merged: Merged) -> tuple[Mapping[str, Any], str]:
    """Return the models of a list, and in a line where they are from."""
    if catalog.bundled is not None:
        served = litellm_names(merged.table.get("providers", {}))
        today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        models = litellm_models(bundled_list().content, served, today)
        if not models:
            raise SyncFailed("litellm lists no models of the providers declared here")
        return models, f"{_counted(models)} of litellm {version('litellm')}"
    from agentoml.models.listing import list_address, refresh_list

    name = catalog.discover or ""
    provider = config.providers.get(name)
    if provider is None:
        raise SyncFailed(f"there is no provider {quoted(name)}")
    if not ceiling_of(ceilings(merged)).allows_provider(name, provider):
        raise SyncFailed(f"a policy leaves out the provider {quoted(name)}")
    models = provided_models(await refresh_list(name, provider, resolve_secret), name)
    return models, f"{_counted(models)} of the provider {name}, {list_address(provider)}"


def _counted(models: Mapping[str, Any]) -> str:
    return f"{len(models)} model{'' if len(models) == 1 else 's'}"


def _shown(file: Path) -> str:
    """Return a path as seen from here, if it is below."""
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"not written: {error.filename or 'the file'}: {(error.strerror or type(error).__name__).lower()}"
    return f"not written: {error}"
