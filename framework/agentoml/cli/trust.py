"""`agentoml trust [show|grant|diff|revoke] [DIRECTORY]`: whether a project's own configuration counts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from agentoml.config import layers, parse, trust
from agentoml.config.layering.projects import project_root
from agentoml.config.problems import render_text
from agentoml.config.trust import Project

EXIT_NO = 1
EXIT_PROBLEMS = 2

STATUS = {
    "trusted": "trusted: it is a layer of every configuration that runs here",
    "refused": "refused: it is left out, and nobody asks again until it changes",
    "changed": "changed since it was trusted: it is left out until you agree again",
    "new": "not trusted: it is left out",
}


def main(args: list[str]) -> int:
    """Do what is asked and return 0; 1 where nothing is to be trusted or it was not agreed to, 2 where it is broken."""
    arguments = _arguments().parse_args(args)
    directory = Path(arguments.directory).absolute()
    root = project_root(directory)
    project = layers.read(layers.Chosen(layers.OFFLINE, project=root)).project if root is not None else None
    if project is None:
        print(f"agentoml trust: there is no configuration of a project in {directory}", file=sys.stderr)
        return EXIT_NO
    if arguments.what == "grant":
        return _grant(project, agreed=arguments.yes)
    if arguments.what == "revoke":
        return _revoke(project)
    return _show(project) if arguments.what == "show" else _diff(project)


def _show(project: Project) -> int:
    print(f"{project.file}\n{STATUS[project.status]}\n")
    if not project.broken:
        print(_text(project._replace(record=None)))
    return _problems(project)


def _diff(project: Project) -> int:
    """Print what is new and what is gone since the user agreed; nothing where it is as it was."""
    if project.status == "changed":
        print(_text(project))
    elif project.status != "trusted":
        print(f"agentoml trust: {STATUS[project.status]}", file=sys.stderr)
        return EXIT_NO
    return _problems(project)


def _grant(project: Project, *, agreed: bool) -> int:
    if project.broken:
        print("agentoml trust: what is broken can't be shown in full; repair it first", file=sys.stderr)
        return _problems(project)
    if project.status == "trusted":
        print(f"{project.file} is trusted already")
        return 0
    print(_text(project))
    if not agreed and not _says_yes():
        return EXIT_NO
    try:
        trust.record(project, granted=True)
    except OSError as error:
        print(f"agentoml trust: it can't be kept: {error}", file=sys.stderr)
        return EXIT_PROBLEMS
    print(f"{project.file} is trusted, also by agents that run already")
    return 0


def _revoke(project: Project) -> int:
    known = trust.forget(project.root)
    print(f"{project.file} is {'not trusted any more' if known else 'not trusted anyway'}")
    return 0


def _says_yes() -> bool:
    if not sys.stdin.isatty():
        print("agentoml trust: to agree without a terminal, write --yes", file=sys.stderr)
        return False
    return input("Trust this? [y/N] ").strip().lower() in ("y", "yes")


def _text(project: Project) -> str:
    lines = []
    for title, wanted in project.wanted():
        lines += [f"{title}:", *(f"  {sign or ' '} {line}" for sign, line in wanted)]
    return "\n".join(lines) or project.silence


def _problems(project: Project) -> int:
    problems = [problem for text in project.texts for problem in parse.parse(text).problems]
    if not problems:
        return 0
    print(render_text(problems), file=sys.stderr)
    return EXIT_PROBLEMS


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml trust",
        description="A project's own configuration (.agentoml/agent.toml or agent.toml) counts once you agreed to what "
        "it would run, reach, read and allow; asked again where that changes.",
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=("show", "grant", "diff", "revoke"),
        default="show",
        metavar="show|grant|diff|revoke",
        help="left out: show",
    )
    parser.add_argument("directory", nargs="?", default=".", help="the project; left out: the one you are in")
    parser.add_argument("--yes", action="store_true", help="grant without asking back")
    return parser
