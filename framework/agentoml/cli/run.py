"""`agentoml run [CONFIG]`: the agent on stdin and stdout; answers `initialize` before anything heavy is imported."""

from __future__ import annotations

import os
import sys

USAGE = """usage: agentoml run [CONFIG] [--set KEY=VALUE]...

Serve the agent that CONFIG declares over the Agent Client Protocol on stdin and stdout; editors start this.
CONFIG is a TOML file, a directory with an agent.toml, or a shipped preset: preset:coder.
Without CONFIG: your own configuration, else the offline preset. --set lays one key over all files: agent.model=opus.
A file in the project that a session works in counts only if you name it, or once you have agreed to it.
"""

ALONE = "waiting for an ACP client on stdin; for a conversation: agentoml chat\n"
"""What a user is told who started by hand what editors start."""


def main(arguments: list[str]) -> int:
    """Serve until the client goes; return the exit code."""
    if "-h" in arguments or "--help" in arguments:
        sys.stdout.write(USAGE)
        return 0
    named, settings = _taken_apart(arguments)
    if "" in named:
        sys.stderr.write(f"{USAGE}agentoml run: an empty word names no configuration\n")
        return 2
    wrong = next((word for word in named if word.startswith("-")), named[1] if len(named) > 1 else None)
    if wrong is not None:
        sys.stderr.write(f"{USAGE}agentoml run: `{wrong}` is not understood\n")
        return 2
    return _serve(named[0] if named else None, settings)


def _taken_apart(arguments: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the words that are no settings, and the settings. By hand: argparse costs more than all the rest."""
    words, settings = [], []
    left = iter(arguments)
    for word in left:
        if word.startswith("--set="):
            settings.append(word.removeprefix("--set="))
        elif word == "--set" and (setting := next(left, None)) is not None:
            settings.append(setting)
        else:
            words.append(word)
    return words, tuple(settings)


def _serve(argument: str | None, settings: tuple[str, ...]) -> int:
    from agentoml.wire.process import exit_on_signals
    from agentoml.wire.stdio import guard_stdout

    fds = guard_stdout()
    exit_on_signals()
    if os.isatty(fds[0]):
        sys.stderr.write(ALONE)
    from agentoml.config.layers import Chosen, named
    from agentoml.initialize import initialize
    from agentoml.wire.handshake import handshake

    config = Chosen(named(argument) if argument is not None else None, settings)
    result = initialize(config)
    try:
        client = handshake(fds, lambda _: result)
    except OSError:
        return 0
    if client is None:
        return 0
    from agentoml.agent import serve

    return serve(config, fds, client)
