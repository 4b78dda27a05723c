"""What a Responses server streams: events as `http_server.Answer` steps."""

from __future__ import annotations

import json
from typing import Any

from servers.http_server import Answer, Step
from servers.openai import data_url
from servers.said import Call, Said, Tokens


def event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def reasoning(index: int, *pieces: str, encrypted: str | None = "sealed") -> list[Step]:
    item: dict[str, Any] = {"id": f"rs_{index}", "type": "reasoning", "summary": [], "encrypted_content": ""}
    whole = {**item, "summary": [{"type": "summary_text", "text": "".join(pieces)}], "encrypted_content": encrypted}
    return [
        event("response.output_item.added", output_index=index, item=item),
        event("response.reasoning_summary_part.added", output_index=index, summary_index=0, part={}),
        *(event("response.reasoning_summary_text.delta", output_index=index, delta=piece) for piece in pieces),
        event("response.output_item.done", output_index=index, item=whole),
    ]


def message(index: int, *words: Any, kind: str = "output_text") -> list[Step]:
    name = "text" if kind == "output_text" else "refusal"
    content = [{"type": kind, name: "".join(word for word in words if isinstance(word, str))}]
    item = {"id": f"msg_{index}", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    delta = f"response.{kind}.delta"
    return [
        event("response.output_item.added", output_index=index, item=item),
        *(event(delta, output_index=index, delta=word) if isinstance(word, str) else word for word in words),
        event(
            "response.output_item.done", output_index=index, item={**item, "status": "completed", "content": content}
        ),
    ]


def function_call(index: int, call: Call) -> list[Step]:
    item = {"id": f"fc_{index}", "type": "function_call", "call_id": call.id, "name": call.name, "arguments": ""}
    whole = {**item, "arguments": json.dumps(call.args), "status": "completed"}
    deltas = [event("response.function_call_arguments.delta", output_index=index, delta=p) for p in call.pieces()]
    return [
        event("response.output_item.added", output_index=index, item=item),
        *deltas,
        event("response.output_item.done", output_index=index, item=whole),
    ]


def usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def end(tokens: Tokens = Tokens(), incomplete: str | None = None) -> str:  # noqa: B008
    response: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "completed", "usage": usage(tokens)}
    if incomplete is None:
        return event("response.completed", response=response)
    response |= {"status": "incomplete", "incomplete_details": {"reason": incomplete}}
    return event("response.incomplete", response=response)


def answer(*steps: Step) -> Answer:
    created = event("response.created", response={"id": "resp_1", "object": "response", "status": "in_progress"})
    return Answer((created, *steps))


def reply(said: Said) -> Answer:
    """An answer that says this."""
    items: list[list[Step]] = []
    if said.thoughts:
        items.append(reasoning(0, *said.thoughts))
    if said.words:
        items.append(message(len(items), *said.words))
    for call in said.calls:
        items.append(function_call(len(items), call))
    reasons = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}
    return answer(*(step for item in items for step in item), end(said.tokens, reasons.get(said.stop)))


def images(body: Any) -> list[tuple[str, str]]:
    """The images of a request: MIME type and base64 data."""
    contents = [item.get("content") or item.get("output") for item in body["input"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [data_url(part["image_url"]) for part in parts if part["type"] == "input_image"]


def tool_results(body: Any) -> dict[str, str]:
    """The results of tool calls in a request: id -> text."""
    results = [item for item in body["input"] if item.get("type") == "function_call_output"]
    texts = {}
    for item in results:
        output = item["output"]
        parts = [{"text": output}] if isinstance(output, str) else output
        texts[item["call_id"]] = "".join(part.get("text", "") for part in parts)
    return texts


def thoughts_sent_back(body: Any) -> list[str]:
    """The reasoning that a request gives back, if it is sealed as it was."""
    items = [item for item in body["input"] if item.get("type") == "reasoning"]
    return [item["summary"][0]["text"] for item in items if item["encrypted_content"] == "sealed"]
