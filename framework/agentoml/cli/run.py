"""`agentoml run [CONFIG]`: the agent on stdin and stdout; answers `initialize` before anything heavy is imported."""

from __future__ import annotations

import sys

USAGE = """usage: agentoml run [CONFIG]

Serve the agent that CONFIG declares over the Agent Client Protocol on stdin and stdout; editors start this.
CONFIG is a TOML file, or a shipped preset: preset:coder.
Without CONFIG: your own configuration, else the offline preset. A file in the working directory is used only if named.
"""


def main(arguments: list[str]) -> int:
    """Serve until the client goes; return the exit code."""
    if "-h" in arguments or "--help" in arguments:
        sys.stdout.write(USAGE)
        return 0
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.stderr.write(USAGE)
        return 2
    return _serve(arguments[0] if arguments else None)


def _serve(argument: str | None) -> int:
    from agentoml.wire.process import exit_on_signals
    from agentoml.wire.stdio import guard_stdout

    fds = guard_stdout()
    exit_on_signals()
    from agentoml.config.layers import named
    from agentoml.initialize import initialize
    from agentoml.wire.handshake import handshake

    config = named(argument) if argument is not None else None
    result = initialize(config)
    try:
        client = handshake(fds, lambda _: result)
    except OSError:
        return 0
    if client is None:
        return 0
    from agentoml.agent import serve

    return serve(config, fds, client)
