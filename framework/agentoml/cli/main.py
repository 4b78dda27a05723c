"""`agentoml COMMAND ...`: finds the command and hands over. On the way of `run`, so it imports next to nothing."""

from __future__ import annotations

import sys

COMMANDS = {
    "run": ("agentoml.cli.run", "start the agent: ACP on stdin and stdout, for an editor"),
    "check": ("agentoml.cli.check", "show every problem of a configuration"),
    "show": ("agentoml.cli.show", "print the effective configuration, and which line of which file won"),
    "explain": ("agentoml.cli.explain", "say why a call is allowed or asked about, or why a session is as it is"),
    "trust": ("agentoml.cli.trust", "show what a project's own configuration wants, and agree to it or not"),
    "fetch": ("agentoml.cli.fetch", "get what a configuration extends from elsewhere, and pin it"),
    "test": ("agentoml.cli.test", "play the tests that a configuration declares, without a model"),
    "schema": ("agentoml.cli.schema", "print the JSON Schema of a configuration, for editors"),
    "init": ("agentoml.cli.init", "write the files of a new agent from a template"),
    "models": ("agentoml.cli.models", "list the models that the agent offers"),
    "tools": ("agentoml.cli.tools", "list the tools that the agent has, those of MCP servers included"),
    "catalog": ("agentoml.cli.catalog", "list the catalogs, or write what providers list into files"),
    "set": ("agentoml.cli.set", "change keys of a configuration file, and nothing else of it"),
    "chat": ("agentoml.cli.chat", "talk to the agent in this terminal"),
    "status": ("agentoml.cli.status", "show the running agents: what they serve, and what is wrong"),
    "reload": ("agentoml.cli.reload", "have running agents look at their files now, or say what would change"),
}
"""Command -> the module whose `main(args)` runs it, and what it is for."""

EXIT_USAGE = 2


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. `argv` are the words behind the program's name."""
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    except BrokenPipeError:  # the reader of our output left: `agentoml check | head`
        return _leave_quietly()
    except KeyboardInterrupt:
        return 130
    return code


def _run(words: list[str]) -> int:
    name, args = (words[0], words[1:]) if words else ("", [])
    if name in COMMANDS:
        command = __import__(COMMANDS[name][0], fromlist=["main"])
        return int(command.main(args))
    if name in ("-h", "--help", "help"):
        print(_help())
        return 0
    if name in ("-V", "--version"):
        from agentoml import __version__

        print(f"agentoml {__version__}")
        return 0
    print(_unknown(name) if name else _help(), file=sys.stderr)
    return EXIT_USAGE


def _leave_quietly() -> int:
    """Point stdout at nothing, so that the interpreter's last flush does not fail too."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {purpose}" for name, (_, purpose) in COMMANDS.items())
    return (
        "Agentoml: TOML files in, a running ACP agent out.\n\n"
        "usage: agentoml COMMAND [ARGUMENTS]\n\n"
        f"{commands}\n\n"
        "agentoml COMMAND --help tells more; agentoml --version says which version this is."
    )


def _unknown(name: str) -> str:
    from agentoml.config.problems import did_you_mean

    meant = did_you_mean(name, COMMANDS) or f"there are: {', '.join(COMMANDS)}"
    return f"agentoml: no command `{name}`; {meant}"
