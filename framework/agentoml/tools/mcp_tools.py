"""What an MCP server lists and answers -> tools and results of ours."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from agentoml.tools.tool import Content, Tool, ToolContext, ToolImage, ToolResult
from agentoml.wire.messages import content_item, image_block, text_block

CHARACTERS = 100_000

Run = Callable[[str, Mapping[str, Any], ToolContext], Awaitable[ToolResult]]


def tools_of(server: str, listed: Iterable[Any], run: Run) -> tuple[Tool, ...]:
    """Return the tools that a server lists; of several with one name the first."""
    by_name = {entry.name: entry for entry in reversed(list(listed))}
    return tuple(_tool(server, by_name[name], run) for name in reversed(by_name))


def _tool(server: str, listed: Any, run: Run) -> Tool:
    async def call(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return await run(listed.name, args, context)

    hints = listed.annotations
    title = listed.title or (hints.title if hints else None) or listed.name
    return Tool(
        f"mcp:{server}/{listed.name}",
        listed.description or title,
        _parameters(listed.input_schema),
        call,
        title=f"{server}: {title}".replace("{", "(").replace("}", ")"),
        shown_kind="read" if hints is not None and hints.read_only_hint else None,
    )


def _parameters(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments as providers take it: an object whose properties are an object."""
    properties, required = written.get("properties"), written.get("required")
    schema = {**written, "type": "object", "properties": properties if isinstance(properties, dict) else {}}
    return schema if isinstance(required, list) else {name: part for name, part in schema.items() if name != "required"}


def result_of(answer: Any) -> ToolResult:
    """Return an answer to tools/call: texts and what stands for other blocks to the model, images beside them."""
    texts: list[str] = []
    images: list[ToolImage] = []
    for block in answer.content:
        if block.type == "image":
            images.append(ToolImage(block.data, block.mime_type))
        else:
            texts.append(_text(block))
    if not texts and not images and answer.structured_content is not None:
        texts.append(json.dumps(answer.structured_content, ensure_ascii=False, indent=1))
    text = "\n".join(texts)
    if len(text) > CHARACTERS:
        text = f"{text[:CHARACTERS]}\n[Cut here: {len(text) - CHARACTERS} more characters.]"
    text = text or ("[image]" if images else "[no output]")
    content: list[Content] = [content_item(text_block(text))] if texts or not images else []
    content += [content_item(image_block(image.data, image.mime_type)) for image in images]
    return ToolResult(text, tuple(content), failed=bool(answer.is_error), images=tuple(images))


def _text(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "resource_link":
            return f"[{block.name}]({block.uri})"
        case "resource" if hasattr(block.resource, "text"):
            return str(block.resource.text)
        case "resource":
            return f"[{block.resource.uri}: binary]"
        case other:
            return f"[{other}]"
