"""What the client of one session was told: what differs from it is sent, and nothing else."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from agentoml.session.commands import available_commands
from agentoml.session.updates import ConfigOptions, mode_state
from agentoml.snapshot.resolve import RenderedOption, Resolved
from agentoml.wire import messages
from agentoml.wire.client import Client
from agentoml.wire.frames import Encoded

MODE = "mode"
"""The option that `[modes]` feeds and that the legacy view of modes shows."""


@define(eq=False)
class Told:
    """The options, the mode of the legacy view and the commands that a client shows, if it replaces each by the newest.

    `modes` are those that the legacy view has: it can't be told of others (acp.md 2.7).
    """

    client: Client
    session_id: str
    _lists: ConfigOptions
    options: tuple[RenderedOption, ...] = ()
    mode: str | None = None
    modes: frozenset[str] = frozenset()
    _commands: list[dict[str, Any]] = field(factory=list)

    def opening(self, resolved: Resolved) -> dict[str, Any]:
        """Return `configOptions` and `modes` as session/new answers them; either is left out where there are none."""
        self.options, mode = resolved.options, resolved.option(MODE)
        opening: dict[str, Any] = {"configOptions": self._lists.of(resolved)} if self.options else {}
        if mode is not None:
            self.mode, self.modes = str(mode.current), frozenset(value.value for value in mode.values)
            opening["modes"] = mode_state(mode)
        return opening

    def tell(self, resolved: Resolved) -> None:
        """Send what differs."""
        self._tell_options(resolved)
        self._tell_mode(resolved)
        self.tell_commands(resolved)

    def answer_option(self, resolved: Resolved) -> Encoded:
        """Return the complete list as the answer to a pick, after all that it does not say was sent."""
        self.options = resolved.options
        self.tell(resolved)
        return self._lists.of(resolved)

    def answer_mode(self, resolved: Resolved, mode_id: str) -> None:
        """Send what the answer to session/set_mode does not say: all but the mode that was asked for."""
        if mode_id in self.modes:
            self.mode = mode_id
        self.tell(resolved)

    def tell_commands(self, resolved: Resolved) -> None:
        """Send the list of slash commands if it is another."""
        commands = available_commands(resolved)
        if commands != self._commands:
            self._commands = commands
            self.client.update(self.session_id, messages.available_commands_update(commands))

    def differences(self, resolved: Resolved) -> tuple[str, ...]:
        """Return what would be told: the ids of the options that change, and "commands"."""
        before, after = ({option.id: option for option in options} for options in (self.options, resolved.options))
        options = tuple(name for name in {**before, **after} if before.get(name) != after.get(name))
        if not options and list(before) != list(after):
            options = tuple(after)
        return options if available_commands(resolved) == self._commands else (*options, "commands")

    def _tell_options(self, resolved: Resolved) -> None:
        if resolved.options != self.options:
            self.options = resolved.options
            self.client.update(self.session_id, messages.config_option_update(self._lists.of(resolved)))

    def _tell_mode(self, resolved: Resolved) -> None:
        mode = resolved.option(MODE)
        if mode is not None and mode.current != self.mode and mode.current in self.modes:
            self.mode = str(mode.current)
            self.client.update(self.session_id, messages.current_mode_update(self.mode))
