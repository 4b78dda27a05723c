"""What the agent says, as lines for a terminal: tool calls, diffs, plans, questions, usage. Pure."""

from __future__ import annotations

import os
from difflib import unified_diff
from typing import Any, Literal, NamedTuple

Style = Literal["plain", "bold", "dim", "red", "green", "yellow", "cyan"]

TEXT_LINES = 8
"""How much of a tool's text is shown."""
DIFF_LINES = 60

MARKS = {"pending": "◦", "in_progress": "◦", "completed": "✓", "failed": "✗"}
PLAN_MARKS = {"pending": "○", "in_progress": "◐", "completed": "●"}
SEVERITIES: dict[str, Style] = {"error": "red", "warning": "yellow"}


CONTROL: dict[int, None] = dict.fromkeys(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t")
"""What must not reach a terminal: an agent's text could move the cursor and forge what stands there."""


class Line(NamedTuple):
    """One line and how it looks."""

    text: str
    style: Style = "plain"


def tool_call(call: dict[str, Any], cwd: str) -> Line:
    """Return the headline of a call: a mark for its status, its title, its kind and the paths it touches."""
    status = call.get("status") or "pending"
    title = one_line(call.get("title") or call.get("name") or call["toolCallId"])
    places = [_place(location, cwd) for location in call.get("locations") or ()]
    facts = [call.get("kind") or "other", *(place for place in places if place not in title)]
    style: Style = "red" if status == "failed" else "green" if status == "completed" else "cyan"
    return Line(f"{MARKS.get(status, '◦')} {title}  ({', '.join(facts)})", style)


def content(items: list[dict[str, Any]], cwd: str, *, in_full: bool = False) -> list[Line]:
    """Return what a call shows, shortened; `in_full` for a question: nobody agrees to what is not shown."""
    lines: list[Line] = []
    for item in items:
        if item["type"] == "diff":
            head, *changed = _diff(item, cwd)
            lines += [head, *(changed if in_full else _limited(changed, DIFF_LINES))]
        elif item["type"] == "content":
            said = [Line(f"  {text}", "dim") for text in block_text(item["content"]).splitlines()]
            lines += said if in_full else _limited(said, TEXT_LINES)
    return lines


def question(options: list[dict[str, Any]]) -> list[Line]:
    """Return the numbered answers of a permission question."""
    return [Line(f"  {number}  {one_line(option['name'])}") for number, option in enumerate(options, 1)]


def plan(entries: list[dict[str, Any]]) -> list[Line]:
    """Return a plan, one line an entry."""
    return [
        Line(
            f"  {PLAN_MARKS.get(entry['status'], '○')} {one_line(entry['content'])}",
            "dim" if entry["status"] == "completed" else "bold" if entry["status"] == "in_progress" else "plain",
        )
        for entry in entries
    ]


def usage(update: dict[str, Any]) -> Line:
    """Return how full the context is and what the session has cost so far."""
    used, size, cost = update["used"], update["size"], update.get("cost")
    share = f" ({used * 100 // size} %)" if size else ""
    price = f" · {cost['amount']:.4f} {cost['currency']}" if cost else ""
    return Line(f"{used:,} of {size:,} tokens{share}{price}", "dim")


def notice(update: dict[str, Any]) -> list[Line]:
    """Return something the agent wants its user to know: a line of it a line, those after the first indented."""
    first, *more = (update.get("description") or "").splitlines() or [""]
    style = SEVERITIES.get(update["severity"], "cyan")
    headline = ": ".join(one_line(part) for part in (update["title"], first) if part)
    return [Line(f"! {headline}", style), *(Line(f"  {one_line(line)}", style) for line in more)]


def block_text(block: dict[str, Any]) -> str:
    """Return a content block as text; what has none is named."""
    match block["type"]:
        case "text":
            return str(block["text"])
        case "resource_link":
            return str(block["uri"])
        case "resource" if "text" in block["resource"]:
            return str(block["resource"]["text"])
        case kind:
            return f"[{kind}]"


def one_line(text: object) -> str:
    """Return a text without line breaks: nothing can pretend to be a line of ours."""
    return " ".join(str(text).split())


def _diff(item: dict[str, Any], cwd: str) -> list[Line]:
    path = _short(item["path"], cwd)
    old, new = (item.get("oldText") or "").splitlines(), item["newText"].splitlines()
    head = Line(f"  {path}{' (new file)' if item.get('oldText') is None else ''}", "bold")
    changed = list(unified_diff(old, new, lineterm="", n=2))[2:]
    return [head, *(Line(f"  {text}", _diff_style(text)) for text in changed)]


def _diff_style(text: str) -> Style:
    styles: dict[str, Style] = {"+": "green", "-": "red", "@": "dim"}
    return styles.get(text[:1], "plain")


def _limited(lines: list[Line], limit: int) -> list[Line]:
    if len(lines) <= limit:
        return lines
    return [*lines[:limit], Line(f"  … {len(lines) - limit} more lines", "dim")]


def _place(location: dict[str, Any], cwd: str) -> str:
    line = location.get("line")
    return _short(location["path"], cwd) + (f":{line}" if line else "")


def _short(path: str, cwd: str) -> str:
    inside = path == cwd or path.startswith(cwd.rstrip("/") + "/")
    return os.path.relpath(path, cwd) if inside else path
