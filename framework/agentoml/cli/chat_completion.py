"""What the Tab key offers: commands, options and their values."""

from __future__ import annotations

from collections.abc import Callable

from agentoml.cli.chat_options import Option, current, entries

OWN_COMMANDS = ("mode", "set", "log", "help", "quit")


def candidates(typed: str, options: list[Option], agent_commands: list[str]) -> list[str]:
    """Return what the last word of a line may become. Pure."""
    *before, word = typed.split(" ")
    match before:
        case []:
            offered = [f"/{name}" for name in (*OWN_COMMANDS, *agent_commands)]
        case ["/mode"]:
            offered = [value for option in options if option.get("category") == "mode" for value in _values(option)]
        case ["/set"]:
            offered = [option["id"] for option in options]
        case ["/set", name]:
            offered = [value for option in options if option["id"] == name for value in _values(option)]
        case _:
            offered = []
    return [candidate for candidate in offered if candidate.startswith(word)] if typed else []


def install(offer: Callable[[str], list[str]]) -> None:
    """Let Tab complete with what `offer` returns for the line so far."""
    import readline

    def complete(_: str, state: int) -> str | None:
        found = offer(readline.get_line_buffer()[: readline.get_endidx()])
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")


def _values(option: Option) -> list[str]:
    return [entry.value for entry in entries(option)] or [{"on": "off", "off": "on"}[current(option)]]
