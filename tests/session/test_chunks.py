"""Pieces of an answer on their way to a client that reads, reads slowly, or is gone."""

from __future__ import annotations

import asyncio
import gc

import pytest

from agentoml.errors import ConnectionLost
from agentoml.session.chunks import Chunks
from session.quiet_client import QuietClient


class GoneClient(QuietClient):
    """A client that went while it had something to read."""

    async def drain(self) -> None:
        raise ConnectionLost("The client is gone")


def said(client: QuietClient) -> list[str]:
    return [update["content"]["text"] for _, update in client.updates]


async def test_what_a_client_is_behind_with_comes_in_one_piece() -> None:
    client = QuietClient()
    chunks = Chunks("s", client)
    await chunks.text("One")
    client.unread = 1
    for word in (" two", " three"):
        await chunks.text(word)
    assert said(client) == ["One"]
    client.unread = 0
    client.read.set()
    await chunks.text(" four")
    assert said(client) == ["One", " two three four"]


async def test_a_change_between_thought_and_text_begins_a_message_and_keeps_the_order() -> None:
    client = QuietClient()
    client.unread = 1
    chunks = Chunks("s", client)
    await chunks.thought("Hm.")
    await chunks.text("Yes.")
    chunks.flush()
    assert said(client) == ["Hm.", "Yes."]
    assert len({update["messageId"] for _, update in client.updates}) == 2
    client.read.set()


async def test_a_client_that_is_gone_leaves_no_failed_task_behind(caplog: pytest.LogCaptureFixture) -> None:
    client = GoneClient()
    client.unread = 1
    await Chunks("s", client).text("Is anybody there?")
    (flusher,) = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.wait((flusher,))
    del flusher
    gc.collect()
    assert caplog.records == []
