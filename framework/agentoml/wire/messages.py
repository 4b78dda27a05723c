"""What an agent says: ACP messages and their parts, one builder each. A parameter that is left out is not sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from agentoml.wire.frames import Encoded

PROTOCOL_VERSION = 1
"""The only version spoken, and so the answer to whatever a client asks for (A12)."""

Json = dict[str, Any]
Meta = Mapping[str, Any] | None
ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
PermissionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
Severity = Literal["info", "warning", "error"]


class Unchanged:
    """Stands for a field that is left as it was, where null would clear it."""


UNCHANGED = Unchanged()


def _given(message: Json, **optional: object) -> Json:
    """Add the optional fields that are not None; `meta` is sent as `_meta`."""
    for name, value in optional.items():
        if value is not None:
            message["_meta" if name == "meta" else name] = value
    return message


# ------------------------------------------------------------------------------------------------ initialize


def implementation(name: str, version: str, title: str | None = None) -> Json:
    """`agentInfo`."""
    return _given({"name": name, "version": version}, title=title)


def initialize_result(info: Json, capabilities: Json, auth_methods: Sequence[Json] = ()) -> Json:
    """The answer to `initialize`; capabilities come from `methods.capabilities`."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentInfo": info,
        "agentCapabilities": capabilities,
        "authMethods": list(auth_methods),
    }


# ---------------------------------------------------------------------------------- content blocks and items


def text_block(text: str) -> Json:
    """A content block of text."""
    return {"type": "text", "text": text}


def image_block(data: str, mime_type: str) -> Json:
    """A content block of an image, base64."""
    return {"type": "image", "data": data, "mimeType": mime_type}


def content_item(block: Json) -> Json:
    """A content block as content of a tool call."""
    return {"type": "content", "content": block}


def diff_item(path: str, old: str | None, new: str) -> Json:
    """A change of a file as content of a tool call; `old` is None for a new file."""
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def terminal_item(terminal_id: str) -> Json:
    """A terminal of the client as content of a tool call."""
    return {"type": "terminal", "terminalId": terminal_id}


def location(path: str, line: int | None = None) -> Json:
    """A place that a tool call is about; lines count from 1."""
    return _given({"path": path}, line=line)


# ------------------------------------------------------------------------------------------- updates: chunks


def user_message_chunk(block: Json, message_id: str | None = None) -> Json:
    """More of what the user said, for the replay of a session."""
    return _given({"sessionUpdate": "user_message_chunk", "content": block}, messageId=message_id)


def agent_message_chunk(text: str, message_id: str | None = None) -> Json:
    """More of the answer; a new message id begins a new message."""
    return _chunk("agent_message_chunk", text, message_id)


def agent_thought_chunk(text: str, message_id: str | None = None) -> Json:
    """More of the reasoning."""
    return _chunk("agent_thought_chunk", text, message_id)


def _chunk(kind: str, text: str, message_id: str | None) -> Json:
    chunk: Json = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    if message_id is not None:
        chunk["messageId"] = message_id
    return chunk


# --------------------------------------------------------------------------------------- updates: tool calls


class ToolCallFields(TypedDict, total=False):
    """What may be said of a tool call: lists are complete, `raw_input` and `raw_output` any JSON."""

    name: str | None
    kind: ToolKind | str | None
    status: ToolStatus | None
    content: Sequence[Mapping[str, Any]] | None
    locations: Sequence[Mapping[str, Any]] | None
    raw_input: Any
    raw_output: Any
    meta: Meta


class ToolCallChanges(ToolCallFields, total=False):
    """What may change of a tool call."""

    title: str | None


def tool_call(call_id: str, title: str, **fields: Unpack[ToolCallFields]) -> Json:
    """A tool call that the client does not know yet."""
    return {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": title, **_tool_call_fields(fields)}


def tool_call_update(call_id: str, **changes: Unpack[ToolCallChanges]) -> Json:
    """What changed of a tool call. Without its `sessionUpdate` it is the `toolCall` of a permission request."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **_tool_call_fields(changes)}


def _tool_call_fields(fields: Mapping[str, Any]) -> Json:
    wire_names = {"raw_input": "rawInput", "raw_output": "rawOutput", "meta": "_meta"}
    return {wire_names.get(name, name): value for name, value in fields.items() if value is not None}


def permission_option(option_id: str, name: str, kind: PermissionKind) -> Json:
    """One answer that the user may give to a permission request."""
    return {"optionId": option_id, "name": name, "kind": kind}


# ----------------------------------------------------------------------------------- updates: modes, options


class Labels(TypedDict, total=False):
    """How an option is shown."""

    description: str | None
    category: str | None
    meta: Meta


def select_value(value: str, name: str, description: str | None = None, meta: Meta = None) -> Json:
    """One value of a select."""
    return _given({"value": value, "name": name}, description=description, meta=meta)


def select_group(group: str, name: str, values: Sequence[Json]) -> Json:
    """Values of a select under a heading."""
    return {"group": group, "name": name, "options": list(values)}


def select_option(
    option_id: str, name: str, current: str | Encoded, values: Sequence[Json] | Encoded, **labels: Unpack[Labels]
) -> Json:
    """A config option with values to choose from: all of them `select_value`s, or all of them `select_group`s."""
    option = {"id": option_id, "name": name, "type": "select", "currentValue": current, "options": values}
    return _given(option, **labels)


def boolean_option(option_id: str, name: str, current: bool | Encoded, **labels: Unpack[Labels]) -> Json:
    """A config option that is on or off; only for clients that say they know it (A35)."""
    return _given({"id": option_id, "name": name, "type": "boolean", "currentValue": current}, **labels)


def config_option_update(options: Sequence[Json] | Encoded) -> Json:
    """The complete list of config options (A33)."""
    return {"sessionUpdate": "config_option_update", "configOptions": options}


def session_mode(mode_id: str, name: str, description: str | None = None, meta: Meta = None) -> Json:
    """One mode."""
    return _given({"id": mode_id, "name": name}, description=description, meta=meta)


def mode_state(current: str, modes: Sequence[Json]) -> Json:
    """`modes` of a session's opening: the legacy view of the option `mode`."""
    return {"currentModeId": current, "availableModes": list(modes)}


def current_mode_update(mode_id: str) -> Json:
    """The mode that is in force."""
    return {"sessionUpdate": "current_mode_update", "currentModeId": mode_id}


# ------------------------------------------------------------------------------------------- updates: others


def plan_entry(
    content: str, status: Literal["pending", "in_progress", "completed"], priority: Literal["high", "medium", "low"]
) -> Json:
    """One step of a plan."""
    return {"content": content, "status": status, "priority": priority}


def plan(entries: Sequence[Json]) -> Json:
    """The complete plan (A43)."""
    return {"sessionUpdate": "plan", "entries": list(entries)}


def available_command(name: str, description: str, hint: str | None = None, meta: Meta = None) -> Json:
    """One slash command; with a hint it takes input."""
    return _given({"name": name, "description": description}, input=None if hint is None else {"hint": hint}, meta=meta)


def available_commands_update(commands: Sequence[Json]) -> Json:
    """The complete list of slash commands."""
    return {"sessionUpdate": "available_commands_update", "availableCommands": list(commands)}


def usage_update(used: int, size: int, cost_usd: float | None = None) -> Json:
    """Tokens in the context and its size, and what the session cost so far (A48: none without a size)."""
    cost = None if cost_usd is None else {"amount": cost_usd, "currency": "USD"}
    return _given({"sessionUpdate": "usage_update", "used": used, "size": size}, cost=cost)


def session_info_update(
    title: str | Unchanged | None = UNCHANGED, updated_at: str | Unchanged | None = UNCHANGED
) -> Json:
    """What changed of a session's title and ISO 8601 time; None clears and is sent as null."""
    fields = {"title": title, "updatedAt": updated_at}
    changed = {name: value for name, value in fields.items() if not isinstance(value, Unchanged)}
    return {"sessionUpdate": "session_info_update", **changed}


def notice(severity: Severity, title: str, description: str | None = None) -> Json:
    """Something the user should know; only for clients that say they show it (`Client.can_notice`)."""
    return _given({"sessionUpdate": "notice", "severity": severity, "title": title}, description=description)
