"""The question whether a project's own configuration may count, put to the user in one of its sessions."""

from __future__ import annotations

import asyncio
import itertools
import logging
from functools import partial
from typing import Any

from attrs import define, field

from agentoml.config import trust
from agentoml.config.trust import Project
from agentoml.errors import ConnectionLost, RemoteError
from agentoml.session.session import Session
from agentoml.session.sessions import Sessions
from agentoml.snapshot.store import Record, Store
from agentoml.threads import WRITE_SECONDS, in_thread
from agentoml.tools.clipping import code_span
from agentoml.wire import messages

logger = logging.getLogger("agentoml.trust")

TRUST, LATER, NEVER = "trust", "later", "never"


@define(eq=False)
class Trusting:
    """Asks about the project of a store: in a new session, and where its files change. Until then it stays inert.

    What the user does not answer, or puts off, is asked again in the next session. `_question` is what an open question
    shows: it is taken back where the user agrees elsewhere, and put anew where the files say something else;
    `_answered` is what has an answer that takes effect just now.
    """

    store: Store
    sessions: Sessions
    _asking: asyncio.Task[None] | None = None
    _question: Project | None = None
    _put_off: str = ""
    _answered: str = ""
    _numbers: itertools.count[int] = field(factory=lambda: itertools.count(1))

    def listen(self) -> None:
        """Hear of every attempt from now on."""
        self.store.subscribe(lambda _before, _after: 0, None, self._recorded)

    def opened(self, session: Session) -> None:
        """Ask in a new session, once its client knows it."""
        self._put_off = ""
        self._ask_soon(session)

    async def close(self) -> None:
        """Take a question back that is not answered yet."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait((self._asking,))

    @property
    def _counts(self) -> bool:
        return self.store.project is not None and self.store.project.counts

    def _recorded(self, record: Record) -> None:
        if self._asking is not None and self._is_out_of_date():
            self._asking.cancel()
            self._asking = self._question = None
        session = next(reversed(tuple(self.sessions)), None)
        if session is not None:
            self._ask_soon(session)

    def _is_out_of_date(self) -> bool:
        """Return whether an open question asks for what is agreed to by now, or shows what the files do not say now."""
        project, asked = self.store.project, self._question
        return asked is not None and (self._counts or project is None or project.digest != asked.digest)

    def _ask_soon(self, session: Session) -> None:
        project = self.store.project
        if project is None or project.broken or project.status not in ("new", "changed"):
            return
        if self._asking is not None and not self._asking.done():
            return
        if project.digest not in (self._put_off, self._answered):
            self._question = project
            self._asking = asyncio.create_task(self._ask(session, project))

    async def _ask(self, session: Session, project: Project) -> None:
        """Put the question, keep the answer, and have it take effect. Only what was shown is agreed to."""
        chosen = await self._answer(session, project)
        self._question, self._put_off = None, project.digest
        if chosen not in (TRUST, NEVER):
            return
        try:
            keep = partial(trust.record, project, granted=chosen == TRUST)
            await in_thread(keep, "keep trust", linger=WRITE_SECONDS)
        except OSError as error:
            logger.error("what you said about %s can't be kept: %s", project.root, error)
            return
        self._asking = None  # if the files say something else by now, that is asked about
        self._answered = project.digest
        try:
            await self.store.reload("trust")
        finally:
            self._answered = ""

    async def _answer(self, session: Session, project: Project) -> str | None:
        call_id, title = f"trust_{next(self._numbers)}", _title(project)
        session.client.update(session.id, messages.tool_call(call_id, title, **_shown(project)))
        chosen = None
        try:
            call = messages.tool_call_update(call_id, title=title, **_shown(project))
            chosen = await session.client.request_permission(session.id, call, OPTIONS)
        except (RemoteError, ConnectionLost) as error:
            logger.warning("the user can't be asked about %s: %s; `agentoml trust` can", project.file, error)
        finally:
            agreed = chosen == TRUST or self._counts
            update = messages.tool_call_update(call_id, status="completed" if agreed else "failed")
            session.client.update(session.id, update)
        return chosen


SIGNS = {"": "", "+": "new: ", "-": "gone: "}
"""Written out: in Markdown, + and - are but two bullets."""

OPTIONS = [
    messages.permission_option(TRUST, "Trust this configuration", "allow_always"),
    messages.permission_option(LATER, "Not now", "reject_once"),
    messages.permission_option(NEVER, "Never", "reject_always"),
]


def _title(project: Project) -> str:
    name = project.file.relative_to(project.root)
    return f"{name} of this project changed" if project.status == "changed" else f"Use {name} of this project?"


def _shown(project: Project) -> dict[str, Any]:
    """Return what the user is shown: all that would run, be reached and be loosened, or what of it is new or gone."""
    lines = []
    for title, wanted in project.wanted():
        lines += [f"{title}:", *(f"- {SIGNS[sign]}{code_span(line)}" for sign, line in wanted), ""]
    text = "\n".join([*lines, f"{project.silence} It stands in {project.file}".strip()])
    content = messages.content_item(messages.text_block(text))
    return {"kind": "other", "status": "pending", "content": [content]}
