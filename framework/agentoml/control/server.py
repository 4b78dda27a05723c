"""The socket of a running agent: one line of JSON asks, one answers."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from attrs import define

from agentoml.control.peers import is_same_user
from agentoml.control.places import own_folder, socket_in

logger = logging.getLogger("agentoml.control")

QUESTION_SECONDS = 5.0
"""How long one who connected has to say what they want."""

LONGEST_QUESTION = 64 * 1024

Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


@define(eq=False)
class ControlServer:
    """Listens as long as the agent runs. It can be told to look at its files, never to allow anything: what runs
    for the agent is of the same user and can connect too.
    """

    config: str | Path | None
    answer: Answer
    _path: Path | None = None
    _server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begin to listen; where that is not possible the agent works without."""
        try:
            path = socket_in(own_folder(), os.getpid(), self.config)
            self._server = await asyncio.start_unix_server(self._serve, sock=_listening(path), limit=LONGEST_QUESTION)
            self._path = path
        except OSError as error:
            logger.warning("`agentoml status` and `agentoml reload` can't reach this agent: %s", error)

    def close(self) -> None:
        """Listen no more, and leave nothing behind. Who is connected and says nothing is not waited for."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not is_same_user(writer.get_extra_info("socket")):
                return
            async with asyncio.timeout(QUESTION_SECONDS):
                line = await reader.readline()
            writer.write(json.dumps(await self._answered(line)).encode() + b"\n")
            await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass  # who asked is gone, says nothing, or too much
        finally:
            writer.close()

    async def _answered(self, line: bytes) -> dict[str, Any]:
        try:
            question = json.loads(line)
        except ValueError:
            question = None
        if not isinstance(question, dict):
            return {"error": "one JSON object on one line is expected"}
        try:
            return await self.answer(question)
        except Exception:
            logger.exception("a fault of this program")
            return {"error": "this program failed; the agent's stderr tells more"}


def _listening(path: Path) -> socket.socket:
    """Return a socket that listens; it appears at its path complete: for its owner alone, and answering."""
    new = path.with_name(f".{path.name}")
    new.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(new))
        new.chmod(0o600)
        listening.listen()
        new.replace(path)
    except OSError:
        listening.close()
        new.unlink(missing_ok=True)
        raise
    return listening
