"""A healthy turn of any operation, person, zone, language and layout of answers, as a bundle to be broken."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.inventory.operations import OPERATIONS, Route

Bundle = dict[str, Any]
ID = "obj7c1f0a2e9b"
OTHER_ID = "obj0000seconds"


@dataclass(frozen=True)
class Turn:
    """What is asked. `start` is local to `zone`; a task is due on its day."""

    operation: str = "calendar_add"
    profile: str = "anna"
    other: str = "bert"
    zone: str = "Europe/Berlin"
    start: str = "2026-05-12T14:30:00"
    title: str = "Zahnarzt Dr. Öztürk"
    cells: tuple[str, ...] = ("2026-05-12", "Käse", "12.40")
    reply: str = ""
    layout: str = "contract"

    @property
    def route(self) -> Route:
        return Route(self.operation, self.profile)

    @property
    def begin(self) -> datetime:
        return datetime.fromisoformat(self.start).replace(tzinfo=ZoneInfo(self.zone))

    @property
    def finish(self) -> datetime:
        return self.begin + timedelta(minutes=45)


LAYOUTS: dict[str, Callable[[Any, str], Any]] = {
    "contract": lambda data, _: {"ok": True, "data": data, "execution": "41"},
    "bare": lambda data, _: data,
    "named": lambda data, name: {"success": True, name: data},
    "n8n list": lambda data, _: [{"json": {"ok": True, "result": data}}],
    "text in text": lambda data, _: {"status": "ok", "result": json.dumps(data)},
}


def arguments(turn: Turn) -> dict[str, Any]:
    window = {"start": turn.begin.replace(hour=0, minute=0), "end": turn.begin.replace(hour=23, minute=59)}
    return {
        "calendar_add": {
            "summary": turn.title,
            "start": turn.begin.isoformat(),
            "end": turn.finish.isoformat(),
        },
        "calendar_list": {key: moment.isoformat() for key, moment in window.items()},
        "tasks_add": {"title": turn.title, "due": turn.begin.date().isoformat()},
        "tasks_list": {},
        "sheets_append": {"sheet": "Log", "values": list(turn.cells)},
        "sheets_read": {"sheet": "Log"},
    }[turn.operation]


def stored(turn: Turn, object_id: str = ID) -> Any:
    """The event, task or row as Google holds it."""
    created = "2026-05-04T08:00:05.000Z"
    return {
        "calendar": {
            "id": object_id,
            "status": "confirmed",
            "summary": turn.title,
            "start": {"dateTime": turn.begin.isoformat(), "timeZone": turn.zone},
            "end": {"dateTime": turn.finish.isoformat(), "timeZone": turn.zone},
            "created": created,
        },
        "tasks": {
            "id": object_id,
            "title": turn.title,
            "status": "needsAction",
            "due": f"{turn.begin.date()}T00:00:00.000Z",
            "updated": created,
        },
        "sheets": list(turn.cells),
    }[OPERATIONS[turn.operation].domain]


HEADER = ["date", "item", "amount"]


def readback(turn: Turn, profile: str, when: str, objects: list[Any]) -> dict[str, Any]:
    domain = OPERATIONS[turn.operation].domain
    api, place, body = {
        "calendar": ("calendar.events.list", {"calendarId": f"{profile}@example.test"}, {"items": objects}),
        "tasks": ("tasks.tasks.list", {"tasklist": f"list-{profile}"}, {"items": objects}),
        "sheets": (
            "sheets.values.get",
            {"spreadsheetId": f"sheet-{profile}"},
            {"range": "Log!A1:Z1000", "values": [HEADER, *objects]},
        ),
    }[domain]
    return {
        "kind": "readback",
        "when": when,
        "api": api,
        "token_of": profile,
        **place,
        "status": 200,
        "body": body,
    }


def good_answer(turn: Turn) -> Any:
    operation = OPERATIONS[turn.operation]
    held = stored(turn)
    if operation.writes:
        data = {"updatedRange": "Log!A2:C2"} if operation.domain == "sheets" else {"id": ID}
        name = {"calendar": "event", "tasks": "task", "sheets": "updates"}[operation.domain]
        return LAYOUTS[turn.layout](data, name)
    name = {"calendar": "events", "tasks": "tasks", "sheets": "rows"}[operation.domain]
    return LAYOUTS[turn.layout]({"count": 1, name: [held]}, "answer")


def default_reply(turn: Turn) -> str:
    clock = f"{turn.begin:%H:%M}"
    return {
        "calendar_add": f"Done - {turn.title} is in the calendar at {clock}.",
        "calendar_list": f"One thing: {turn.title} at {clock}.",
        "tasks_add": f"Added: {turn.title}.",
        "tasks_list": f"There is {turn.title}.",
        "sheets_append": f"Logged {turn.cells[-1]} for {turn.cells[1]}.",
        "sheets_read": f"The sheet has {turn.cells[1]} with {turn.cells[-1]}.",
    }[turn.operation]


def bundle(turn: Turn) -> Bundle:
    """The healthy turn: export, live state and probes left out, everything else recorded."""
    operation, answer = OPERATIONS[turn.operation], good_answer(turn)
    path = f"/webhook/{turn.route.webhook_path('haus')}"
    asked = arguments(turn)
    prompt = f"Please do {turn.operation} for {turn.profile}."
    held = [stored(turn)]
    before = [] if operation.writes else held
    return {
        "bundle": 1,
        "clock": "2026-05-04T10:00:00+02:00",
        "timezone": turn.zone,
        "intent": {
            "operation": turn.operation,
            "profile": turn.profile,
            "tool": operation.tool,
            "arguments": {"profile": turn.profile, **asked},
            "prompt": prompt,
        },
        "evidence": [
            readback(turn, turn.profile, "before", before),
            readback(turn, turn.other, "before", []),
            {
                "kind": "transcript",
                "complete": True,
                "messages": [
                    {"role": "user", "content": prompt},
                    call_message(operation.tool, {"profile": turn.profile, **asked}),
                    {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"ok": True, "data": answer})},
                    {"role": "assistant", "content": turn.reply or default_reply(turn)},
                ],
            },
            exchange(path, asked, 200, answer, tool_call_id="c1"),
            {"kind": "execution", "id": "41", "workflow": f"haus {operation.domain} {operation.verb} {turn.profile}", "status": "success"},
            readback(turn, turn.profile, "after", held),
            readback(turn, turn.other, "after", []),
        ],
    }  # fmt: skip


def call_message(tool: str, given: dict[str, Any] | str, call_id: str = "c1") -> dict[str, Any]:
    raw = given if isinstance(given, str) else json.dumps(given)
    call = {"id": call_id, "type": "function", "function": {"name": tool, "arguments": raw}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def exchange(path: str, body: Any, status: int | None, answer: Any, **more: Any) -> dict[str, Any]:
    response: dict[str, Any] = {
        "status": status,
        "headers": {"Content-Type": "application/json"},
        "body": answer,
    }
    response |= {"elapsed_ms": 300}
    request = {
        "method": "POST",
        "url": f"http://n8n.test:5678{path}",
        "headers": {"Content-Type": "application/json", "X-Haus-Auth": "<redacted>"},
        "body": body,
    }
    return {"kind": "exchange", "seen_by": "plugin", "request": request, "response": response, **more}


def of(broken: Bundle, kind: str, **fields: Any) -> dict[str, Any]:
    """The first document of a kind with these fields."""
    return next(
        item
        for item in broken["evidence"]
        if item["kind"] == kind and all(item.get(key) == value for key, value in fields.items())
    )


def drop(broken: Bundle, *kinds: str) -> None:
    broken["evidence"] = [item for item in broken["evidence"] if item["kind"] not in kinds]


def say(broken: Bundle, reply: str) -> None:
    of(broken, "transcript")["messages"][-1]["content"] = reply


def answer_with(
    broken: Bundle, status: int | None, body: Any, headers: dict[str, str] | None = None, error: str = ""
) -> None:
    """Replace n8n's answer, and what the plugin told the model of it."""
    response = of(broken, "exchange")["response"]
    response.update(status=status, body=body, headers=headers or {"Content-Type": "application/json"})
    if error:
        response["error"] = error
    said = json.dumps({"ok": False, "error": error or f"HTTP {status}"})
    of(broken, "transcript")["messages"][2]["content"] = said


def nothing_stored(broken: Bundle, turn: Turn) -> None:
    for item in broken["evidence"]:
        if item["kind"] == "readback" and item["when"] == "after":
            item["body"] = copy.deepcopy(readback(turn, item["token_of"], "after", [])["body"])


def with_operation(turn: Turn, operation: str) -> Turn:
    return replace(turn, operation=operation)
