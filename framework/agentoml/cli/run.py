"""`agentoml run [CONFIG]`: the agent on stdin and stdout; answers `initialize` before anything heavy is imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

USAGE = """usage: agentoml run [CONFIG]

Serve the agent that CONFIG declares over the Agent Client Protocol on stdin and stdout; editors start this.
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
    config = Path(os.path.abspath(arguments[0])) if arguments else None  # noqa: PTH100 - a symlink stays one
    return _serve(config)


def _serve(config: Path | None) -> int:
    from agentoml.wire.process import exit_on_signals
    from agentoml.wire.stdio import guard_stdout

    fds = guard_stdout()
    exit_on_signals()
    from agentoml.initialize import initialize
    from agentoml.wire.handshake import handshake

    result = initialize(config)
    try:
        client = handshake(fds, lambda _: result)
    except OSError:
        return 0
    if client is None:
        return 0
    from agentoml.agent import serve

    return serve(config, fds, client)
