"""What a Messages server streams: events as `http_server.Answer` steps."""

from __future__ import annotations

import json
from typing import Any

from servers.http_server import Answer, Step
from servers.said import Said

FINISH = {"end_turn": "end_turn", "tool_use": "tool_use", "max_tokens": "max_tokens", "refusal": "refusal"}


def event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def start(**usage: int) -> str:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage}
    return event("message_start", message=message)


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any] | Step) -> list[Step]:
    """A block: its start, its deltas (or what happens between them) and its end."""
    steps: list[Step] = [event("content_block_start", index=index, content_block=content)]
    for delta in deltas:
        steps.append(event("content_block_delta", index=index, delta=delta) if isinstance(delta, dict) else delta)
    return [*steps, event("content_block_stop", index=index)]


def thinking(index: int, *pieces: str, signature: str = "signed") -> list[Step]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    signed = {"type": "signature_delta", "signature": signature}
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, signed)


def text(index: int, *words: Any) -> list[Step]:
    deltas = [{"type": "text_delta", "text": word} if isinstance(word, str) else word for word in words]
    return block(index, {"type": "text", "text": ""}, *deltas)


def tool_use(index: int, id: str, name: str, *pieces: str) -> list[Step]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {"type": "tool_use", "id": id, "name": name, "input": {}}, *deltas)


def end(reason: str, **usage: Any) -> list[Step]:
    return [
        event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage),
        event("message_stop"),
    ]


def answer(*steps: Step) -> Answer:
    return Answer((event("ping"), *steps))


def reply(said: Said) -> Answer:
    """An answer that says this."""
    tokens = said.tokens
    steps: list[Step] = [
        start(
            input_tokens=tokens.input - tokens.cached,
            cache_read_input_tokens=tokens.cached,
            cache_creation_input_tokens=0,
            output_tokens=1,
        )
    ]
    blocks: list[list[Step]] = []
    if said.thoughts:
        blocks.append(thinking(0, *said.thoughts))
    if said.words:
        blocks.append(text(len(blocks), *said.words))
    for call in said.calls:
        blocks.append(tool_use(len(blocks), call.id, call.name, "", *call.pieces()))
    steps += [step for steps_of_block in blocks for step in steps_of_block]
    details = {"output_tokens_details": {"thinking_tokens": tokens.reasoning}} if tokens.reasoning else {}
    reason = "tool_use" if said.calls else FINISH[said.stop]
    return answer(*steps, *end(reason, output_tokens=tokens.output, **details))


def blocks_of(body: Any) -> list[dict[str, Any]]:
    """All blocks of a request, those within tool results too."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    return blocks + [inner for outer in blocks for inner in outer.get("content", ())]


def images(body: Any) -> list[tuple[str, str]]:
    """The images of a request: MIME type and base64 data."""
    sources = [block["source"] for block in blocks_of(body) if block["type"] == "image"]
    return [(source["media_type"], source["data"]) for source in sources]


def tool_results(body: Any) -> dict[str, str]:
    """The results of tool calls in a request: id -> text."""
    results = [block for block in blocks_of(body) if block["type"] == "tool_result"]
    return {
        result["tool_use_id"]: "".join(block.get("text", "") for block in result.get("content", ()))
        for result in results
    }


def thoughts_sent_back(body: Any) -> list[str]:
    """The reasoning that a request gives back, if it is signed as it was."""
    return [
        block["thinking"] for block in blocks_of(body) if block["type"] == "thinking" and block["signature"] == "signed"
    ]
