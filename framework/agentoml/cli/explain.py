"""`agentoml explain permission TOOL ARGS...` and `agentoml explain session`: why, with the line that says so."""

from __future__ import annotations

import argparse
import json
import sys

from agentoml.cli import explain_permission, explain_session
from agentoml.cli.choosing import SET_HELP, not_empty
from agentoml.cli.explain_case import NotExplained, case_of

EXIT_PROBLEMS = 2
EXPLAINED = {"permission": explain_permission, "session": explain_session}


def main(args: list[str]) -> int:
    """Print the explanation and return 0, or 2 where there is none."""
    parser = _arguments()
    arguments, unknown = parser.parse_known_args(args)
    if unknown:
        quoted = "a command line stands in quotes: explain permission shell 'git push --force'"
        config = "a configuration behind --config"
        parser.error(f"not understood: {' '.join(unknown)} ({quoted if arguments.what == 'permission' else config})")
    what = EXPLAINED[arguments.what]
    try:
        explanation = what.explain(case_of(arguments), arguments)
    except NotExplained as reason:
        print(reason, file=sys.stderr)
        return EXIT_PROBLEMS
    if arguments.format == "json":
        print(json.dumps(explanation, indent=2, ensure_ascii=False))
    else:
        print("\n".join(what.text(explanation)))
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentoml explain", description="Say why something is so, and which line says it."
    )
    what = parser.add_subparsers(dest="what", required=True, metavar="permission|session")
    permission = what.add_parser("permission", help="why a tool call is allowed, asked about or denied")
    permission.add_argument("tool", help="a tool: shell, edit_file, mcp:github/create_issue")
    permission.add_argument(
        "args",
        nargs="*",
        metavar="ARG",
        help="its arguments in order, or NAME=VALUE; of shell the command line, in quotes",
    )
    session = what.add_parser("session", help="what a session is like, and which value makes it so")
    for each in (permission, session):
        each.add_argument(
            "--config", type=not_empty, help="a TOML file, a directory or preset:NAME; left out: your own"
        )
        each.add_argument("--mode", help="the mode that is picked")
        each.add_argument(
            "--option", metavar="OPTION=VALUE", action="append", default=[], help="a value that is picked"
        )
        each.add_argument("--client", metavar="NAME", help="the client's name, for conditions")
        each.add_argument("--set", metavar="KEY=VALUE", dest="settings", action="append", default=[], help=SET_HELP)
        each.add_argument("--format", choices=("text", "json"), default="text")
    return parser
