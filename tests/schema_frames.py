"""Every frame of an agent against what ACP v1 says.

`check_frame(frame)` takes a request or notification of an agent, `check_frame(frame, method)` its response to `method`.
It raises AssertionError where the frame

- is not JSON-RPC as ACP uses it,
- does not validate against the official schema (`../shared/acp/v1/schema.json`; skipped where that is not there),
- is not understood in full by the models of the official Python SDK (which drop what they do not know),
- lists a current value or mode that is not offered, or an id twice (which no schema says).

Extension methods (`_...`) are only checked as JSON-RPC. The SDK is older than the schema: what it lacks is left out.
"""

from __future__ import annotations

import functools
import json
import warnings
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).parents[2] / "shared" / "acp" / "v1" / "schema.json"

Frame = dict[str, Any]

NEWER_UPDATES = {"notice", "compaction_update", "compaction_summary_chunk"}
NEWER_FIELDS = {"toolCall": {"name"}, "update": {"name"}}


def check_frame(frame: Frame, method: str | None = None) -> None:
    assert frame.get("jsonrpc") == "2.0", frame
    if method is None:
        assert set(frame) in ({"jsonrpc", "method", "params"}, {"jsonrpc", "id", "method", "params"}), frame
        _check_body(frame["params"], frame["method"], "params")
    elif "error" in frame:
        assert set(frame) == {"jsonrpc", "id", "error"}, frame
        assert set(frame["error"]) <= {"code", "message", "data"}, frame
        assert frame["error"]["message"].splitlines() == [frame["error"]["message"]], "one line"
        _validate("Error", frame["error"])
    else:
        assert set(frame) == {"jsonrpc", "id", "result"}, frame
        _check_body(frame["result"], method, "result")


def _check_body(body: Any, method: str, part: str) -> None:
    if method.startswith("_"):
        return
    name = f"{_NAMES[method]}{'Response' if part == 'result' else 'Request'}"
    if part == "params" and method in _NOTIFICATIONS:
        name = _NOTIFICATIONS[method]
    _validate(name, body)
    if body.get("update", {}).get("sessionUpdate") not in NEWER_UPDATES:
        _understood_by_the_sdk(name, body)
    for options in (body.get("configOptions"), body.get("update", {}).get("configOptions")):
        check_options(options or [])
    if body.get("modes"):
        modes = [mode["id"] for mode in body["modes"]["availableModes"]]
        assert body["modes"]["currentModeId"] in modes
        assert len(set(modes)) == len(modes)


_NOTIFICATIONS = {
    "session/update": "SessionNotification",
    "elicitation/complete": "CompleteElicitationNotification",
    "$/cancel_request": "CancelRequestNotification",
}
_NAMES = dict.fromkeys(_NOTIFICATIONS, "") | {
    "initialize": "Initialize",
    "authenticate": "Authenticate",
    "logout": "Logout",
    "session/new": "NewSession",
    "session/load": "LoadSession",
    "session/resume": "ResumeSession",
    "session/list": "ListSessions",
    "session/delete": "DeleteSession",
    "session/close": "CloseSession",
    "session/set_mode": "SetSessionMode",
    "session/set_config_option": "SetSessionConfigOption",
    "session/prompt": "Prompt",
    "session/request_permission": "RequestPermission",
    "fs/read_text_file": "ReadTextFile",
    "fs/write_text_file": "WriteTextFile",
    "terminal/create": "CreateTerminal",
    "terminal/output": "TerminalOutput",
    "terminal/wait_for_exit": "WaitForTerminalExit",
    "terminal/kill": "KillTerminal",
    "terminal/release": "ReleaseTerminal",
    "elicitation/create": "CreateElicitation",
}


def check_options(options: list[Frame]) -> None:
    ids = [option["id"] for option in options]
    assert len(set(ids)) == len(ids), f"an option twice: {ids}"
    for option in options:
        if option["type"] == "boolean":
            assert "options" not in option
            continue
        values = [value["value"] for entry in option["options"] for value in entry.get("options", [entry])]
        assert values, f"{option['id']} has no values"
        assert len(set(values)) == len(values), f"a value twice: {values}"
        assert option["currentValue"] in values, f"{option['id']}: {option['currentValue']} is not in {values}"


# ---------------------------------------------------------------------------------------------------- schema


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator | None:
    if not SCHEMA.exists():
        return None
    definitions = _definitions()
    assert name in definitions, f"the schema has no {name}"
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})


@functools.cache
def _definitions() -> dict[str, Any]:
    definitions: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    return definitions


def methods_of_the_schema(side: str) -> dict[str, set[str]]:
    """Method -> the names of its types, for the methods that `side` ("agent" or "client") answers."""
    found: dict[str, set[str]] = {}
    for name, definition in _definitions().items():
        if definition.get("x-side") == side:
            found.setdefault(definition["x-method"], set()).add(name)
    return found


def _validate(name: str, body: Any) -> None:
    validator = _validator(name)
    if validator is not None:
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(body)]
        assert not errors, f"{name}: {errors}"


# ------------------------------------------------------------------------------------------------------- SDK


def _understood_by_the_sdk(name: str, body: Any) -> None:
    model = getattr(_sdk(), name, None)
    if model is None:
        return
    understood = model.model_validate(body).model_dump(by_alias=True, exclude_unset=True, mode="json")
    unknown = _lost(body, understood, "$", set())
    assert not unknown, f"{name}: the SDK does not know {unknown}"


@functools.cache
def _sdk() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import acp.schema
    return acp.schema


def _lost(before: Any, after: Any, path: str, newer: set[str]) -> list[str]:
    """The paths of fields that are in `before` and not in `after`; `_meta` and raw input and output are anybody's."""
    if isinstance(before, dict):
        if not isinstance(after, dict):
            return [path]
        lost = [f"{path}.{name}" for name in before if name not in after and name not in newer]
        for name, value in before.items():
            if name in after and name not in {"_meta", "rawInput", "rawOutput"}:
                lost += _lost(value, after[name], f"{path}.{name}", NEWER_FIELDS.get(name, set()))
        return lost
    if isinstance(before, list):
        if not isinstance(after, list) or len(before) != len(after):
            return [path]
        pairs = enumerate(zip(before, after, strict=True))
        return [found for index, pair in pairs for found in _lost(*pair, f"{path}[{index}]", set())]
    return []
