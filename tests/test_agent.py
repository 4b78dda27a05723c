"""The place where all parts meet."""

from __future__ import annotations

from agentoml.agent import Agent
from agentoml.config.layers import Chosen
from agentoml.initialize import OFFERED
from session.quiet_client import QuietClient


def test_what_initialize_offers_is_what_the_agent_answers() -> None:
    assert tuple(Agent(Chosen(None), QuietClient()).handlers()) == OFFERED
