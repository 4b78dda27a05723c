"""Server-sent events out of the pieces of a byte stream, wherever these were cut (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from typing import NamedTuple

MAX_EVENT_BYTES = 64 * 1024 * 1024


class EventSizeError(Exception):
    """One event is longer than any provider sends."""


class ServerEvent(NamedTuple):
    """One event: its type ("message" where none is given) and its data lines, joined."""

    event: str
    data: str


class EventParser:
    """Takes pieces as they come and gives the events that are complete.

    Lines end with CR LF, LF or CR. Text is decoded line by line, so a character that was cut in two is whole again;
    bytes that are no UTF-8 become U+FFFD. `id` and `retry` are of no use here and are dropped.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._held = 0
        self._size = 0
        self._after_cr = False
        self._first = True
        self._event = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Return the events that this piece completes.

        Raises:
            EventSizeError: an event goes on for more than MAX_EVENT_BYTES.
        """
        if self._after_cr and piece:  # a CR ended the last piece: an LF now belongs to it
            self._after_cr = False
            if piece.startswith(b"\n"):
                piece = piece[1:]
        if b"\n" not in piece and b"\r" not in piece:
            self._hold(piece)
            return []
        if self._pieces:
            self._pieces.append(piece)
            piece = b"".join(self._pieces)
            self._pieces.clear()
            self._held = 0
        lines = piece.splitlines()
        if piece.endswith(b"\r"):
            self._after_cr = True
        elif not piece.endswith(b"\n"):
            self._hold(lines.pop())
        return self._take(lines)

    def finish(self) -> list[ServerEvent]:
        """Return the event that the end of the stream left without its blank line, if there is one."""
        return self._take([b"".join(self._pieces), b""])

    def _hold(self, rest: bytes) -> None:
        if rest:
            self._pieces.append(rest)
            self._held += len(rest)
            if self._held > MAX_EVENT_BYTES:
                raise EventSizeError

    def _take(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        data = self._data
        if self._first and lines:
            self._first = False
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        for line in lines:
            if not line:
                if data:
                    events.append(ServerEvent(self._event or "message", data[0] if len(data) == 1 else "\n".join(data)))
                    data.clear()
                    self._size = 0
                self._event = ""
            elif line.startswith(b"data:"):
                self._size += len(line)
                data.append(line[6 if line[5:6] == b" " else 5 :].decode("utf-8", "replace"))
            elif line.startswith(b"event:"):
                self._event = line[6:].removeprefix(b" ").decode("utf-8", "replace")
            elif line == b"data":
                data.append("")
        if self._size > MAX_EVENT_BYTES:
            raise EventSizeError
        return events
