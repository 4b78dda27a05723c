"""`make demo`: one conversation with the offline agent, as an editor would have it, and a change of its file under it.

The agent is a process of its own, spoken to over ACP. Nothing here sleeps: every step waits for what it announces,
and the exit code is 0 only if all of it happened.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from agentoml import assets
from agentoml.cli.chat_client import Conversation, Question, Stop, run_command, sentence
from agentoml.cli.chat_options import prompt_line
from agentoml.cli.chat_screen import Screen
from agentoml.errors import AgentomlError, RemoteError

WAIT_SECONDS = 30.0

MORE = """
[models.guest]
provider = "offline"
name = "Guest"

[modes.audit]
name = "Audit"
set = { model = "guest", permissions = "no-changes" }
"""
BROKEN = """
[modes.release
name = "Release"
"""


class DidNotHappenError(Exception):
    """Something that the demo announced."""


class Viewer:
    """Shows what the agent does, answers its questions with yes, and lets the story wait for what it hears."""

    def __init__(self, folder: Path) -> None:
        self.screen = Screen(answers=sys.stdout, out=sys.stdout, cwd=str(folder / "project"))
        self.questions = 0
        self.log: list[str] = []
        self._folder = folder
        self._heard: asyncio.Queue[str] = asyncio.Queue()

    def update(self, update: dict[str, Any]) -> None:
        """Take a session update."""
        self.screen.update(self._relative(update))
        if update["sessionUpdate"] == "tool_call_update":
            self._heard.put_nowait(f"call {update.get('status')}")
        if update["sessionUpdate"] == "notice":
            self._heard.put_nowait(f"{update['title']}: {update.get('description') or ''}")

    def options_changed(self, phrases: list[str]) -> None:
        """Take what became of the options."""
        self.screen.line(f"  options: {'; '.join(phrases)}", "cyan")
        for phrase in phrases:
            self._heard.put_nowait(phrase)

    def stderr(self, line: str) -> None:
        """Keep a line of the agent's log, for a demo that fails."""
        self.log.append(line)

    async def question(self, question: Question) -> str | None:
        """Say yes, visibly."""
        self.questions += 1
        self.screen.question(self._relative(question.tool_call), question.options)
        answer = next(option for option in question.options if option["kind"] == "allow_once")
        self.screen.line(f"  answered: {answer['name']}", "bold")
        return str(answer["optionId"])

    def _relative(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message without the names of the folders, which are others each time."""
        text = json.dumps(message)
        for folder in (self.screen.cwd, str(self._folder)):
            text = text.replace(f"{folder}/", "")
        relative: dict[str, Any] = json.loads(text)
        return relative

    async def hears(self, pattern: str) -> None:
        """Wait until something that was heard fits a pattern."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while not re.search(pattern, await self._heard.get()):
                    pass
        except TimeoutError:
            raise DidNotHappenError(f"nothing was heard of {pattern!r}") from None


class Story:
    """The conversation, scene by scene."""

    def __init__(self, config: Path, viewer: Viewer, talk: Conversation) -> None:
        self.config, self.viewer, self.talk = config, viewer, talk
        self._scene = 0

    def scene(self, text: str) -> None:
        """Announce what comes."""
        self._scene += 1
        self.viewer.screen.line(f"\n{self._scene}. {text}", "bold")

    async def says(self, text: str) -> None:
        """Let the user say something, and wait for the end of the turn."""
        self.viewer.screen.line(f"{prompt_line(self.talk.options)} > {text}", "bold")
        stop = await self.talk.prompt(text)
        self.viewer.screen.finish()
        happened(stop == Stop("end_turn"), f"the turn ended with {stop.reason}")

    async def switches(self, option: str, value: str | bool, pattern: str) -> None:
        """Let the user switch an option, and wait for what follows from it."""
        self.viewer.screen.line(f"{prompt_line(self.talk.options)} > /set {option} {value}", "bold")
        await self.talk.set_option(option, value)
        await self.viewer.hears(pattern)

    def saves(self, new: str, behind: str = "") -> None:
        """Save the agent's file with something new at its end, and show that."""
        self.viewer.screen.line("  saved agent.toml, at its end:", "dim")
        for line in new.strip().splitlines():
            self.viewer.screen.line(f"    {line}".rstrip(), "dim")
        preset = (assets.folder("configs") / "offline.toml").read_text(encoding="utf-8")
        self.config.write_text(preset + behind + new, encoding="utf-8")

    async def calls_and_questions(self, project: Path) -> None:
        """A tool call that is free, one that is asked, one that the mode forbids."""
        note = project / "offline-note.md"
        self.scene("A tool call. Reading is allowed by the rules, so nobody is asked.")
        await self.says("Please read the README")
        await self.viewer.hears("call completed")
        happened(self.viewer.questions == 0, "reading was asked about")

        self.scene("A change. The rules ask the user, who says yes.")
        await self.says("Write a note about it")
        happened(self.viewer.questions == 1 and note.exists(), "the note was not asked about and written")

        self.scene("Another mode: it forbids changes and brings the model and its level along.")
        await self.switches("mode", "plan", "^mode: code -> plan$")
        note.unlink()
        await self.says("Write another note")
        await self.viewer.hears("call failed")
        happened(self.viewer.questions == 1 and not note.exists(), "the mode did not stop the change")

        self.scene("Another model: it has no levels, so that option goes away.")
        await self.switches("model", "extra", "^- thought_level$")

    async def reloads(self) -> None:
        """The file is saved, broken and repaired under the open session."""
        self.scene("The agent's file is saved with another model and mode; the open session gets them.")
        self.saves(MORE)
        await self.viewer.hears(r"^\+ mode audit$")
        happened("guest" in str(self.talk.options), "the new model did not arrive")

        self.scene("The new mode holds its model: only that one is left to choose.")
        await self.switches("mode", "audit", "^model: extra -> guest$")
        try:
            await self.talk.set_option("model", "actor")
        except RemoteError as refused:
            self.viewer.screen.line(f"  refused: {sentence(refused)}", "red")
        else:
            raise DidNotHappenError("another model was accepted")

        self.scene("The file is saved broken: the session goes on as before, and the user is told what and where.")
        self.saves(BROKEN, behind=MORE)
        await self.viewer.hears(r"the last good one stays in force: .*agent\.toml:\d+:\d+: ")
        await self.says("Think about it")

        self.scene("Repaired: what was meant arrives.")
        self.saves(BROKEN.replace("[modes.release", "[modes.release]"), behind=MORE)
        await self.viewer.hears(r"^\+ mode release$")
        await self.viewer.hears("The configuration is valid again")


def happened(truth: bool, otherwise: str) -> None:
    """Go on only if something is so."""
    if not truth:
        raise DidNotHappenError(otherwise)


async def play(folder: Path) -> None:
    """Play the whole story in an empty folder."""
    config, project = folder / "agent.toml", folder / "project"
    shutil.copy(assets.folder("configs") / "offline.toml", config)
    project.mkdir()
    (project / "README.md").write_text("# A project\n\nNothing here yet.\n", encoding="utf-8")
    viewer = Viewer(folder)
    viewer.screen.line("An agent on a copy of configs/offline.toml: `agentoml run agent.toml`", "dim")
    talk = await Conversation.start(run_command(str(config)), str(project), viewer)
    try:
        story = Story(config, viewer, talk)
        await story.calls_and_questions(project)
        await story.reloads()
    except Exception:
        print(*viewer.log, sep="\n", file=sys.stderr)
        raise
    finally:
        code = await talk.close()
    happened(code == 0, f"the agent ended with exit code {code}")
    viewer.screen.line("\nAll of it happened. Your turn: agentoml chat", "green")


def main() -> int:
    """Run the demo and return its exit code."""
    with tempfile.TemporaryDirectory(prefix="agentoml-demo-") as folder:
        try:
            asyncio.run(play(Path(folder).resolve()))
        except (DidNotHappenError, AgentomlError) as error:
            sys.stdout.flush()
            print(f"the demo failed: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
