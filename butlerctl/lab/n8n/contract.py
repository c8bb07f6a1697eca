"""The two Code nodes of a contract workflow, in Python: what they refuse and what they make of Google's answer.

The stand-in runs no JavaScript. A test runs the exports' JavaScript beside these functions and holds both alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from butlerctl.inventory.operations import OPERATIONS
from butlerctl.protocol.tools import (
    DAY_PATTERN,
    INSTANT_PATTERN,
    ProfileShape,
    argument_faults,
    household_tools,
    parse_instant,
)

_CONSTANT = re.compile(r"^const ([A-Z]+) = (.*);$", re.MULTILINE)
_ANYONE = "anyone"  # the body carries no profile; the schemas want one
Item = dict[str, Any]


class ScriptError(Exception):
    """What a Code node throws."""


def constants_of(script: str) -> dict[str, Any]:
    """The JSON constants at the head of an export's script (`LISTS`, `TABS`, `COLUMNS`, `SOURCE` …)."""
    return {
        name: json.loads(value) for name, value in _CONSTANT.findall(script) if value[:1] in '["0123456789'
    }


def check_input(operation: str, body: Any, constants: Mapping[str, Any]) -> Item:
    """`{valid, bad, args}` as the export's *Check input* node emits them. Times are those of the caller's clock."""
    shape = ProfileShape(
        task_lists=tuple(constants.get("LISTS", ())),
        tabs=tuple(constants.get("TABS", ())),
        columns=tuple(constants.get("COLUMNS", ())),
    )
    given = body if isinstance(body, dict) else {}
    bad = [] if isinstance(body, dict) else ["body: must be a JSON object"]
    bad += _refusals(operation, given, shape)
    args = {} if bad else _ARGUMENTS[operation](given, shape)
    return {"valid": not bad, "bad": bad, "args": args}


def _refusals(operation: str, given: Mapping[str, Any], shape: ProfileShape) -> list[str]:
    tool = OPERATIONS[operation].tool
    schema = next(tool_.parameters for tool_ in household_tools({_ANYONE: shape}) if tool_.name == tool)
    fields = {key: rule for key, rule in schema["properties"].items() if key != "profile"}
    bad = [f"{key}: unknown field" for key in given if key not in fields]
    for key, rule in fields.items():
        if key not in given:
            bad += [f"{key}: missing"] if key in schema["required"] else []
        elif not _fits(rule, given[key]):
            bad.append(f"{key}: {_right(rule, shape)}")
    return bad or argument_faults(tool, {**given, "profile": _ANYONE}, {_ANYONE: shape})


def _fits(rule: Mapping[str, Any], value: Any) -> bool:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(dict(rule)).is_valid(value)


def _right(rule: Mapping[str, Any], shape: ProfileShape) -> str:
    if "enum" in rule:
        return f"must be one of {', '.join(rule['enum'])}"
    if rule["type"] == "integer":
        return f"must be an integer from 1 to {rule['maximum']}"
    if rule["type"] == "array":
        columns = shape.columns
        kinds = "strings or numbers, none starting with =, + or @"
        return f"must be {len(columns)} cells ({', '.join(columns)}), {kinds}"
    if rule["pattern"] == INSTANT_PATTERN:
        return "must be an RFC 3339 time with offset"
    if rule["pattern"] == DAY_PATTERN:
        return "must be a day that exists, YYYY-MM-DD"
    return "must be a non-empty string"


def _iso(moment: datetime) -> str:
    """As JavaScript's `toISOString` writes it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _window(given: Mapping[str, Any], shape: ProfileShape) -> Item:
    del shape
    week = timedelta(days=7)
    now = datetime.now(UTC)
    end = parse_instant(given["end"]) if "end" in given else None
    start = given.get("start") or _iso(end - week if end is not None and end <= now else now)
    opens = parse_instant(start) or now
    return {"start": start, "end": given.get("end") or _iso(opens + week), "limit": given.get("limit", 50)}


def _event(given: Mapping[str, Any], shape: ProfileShape) -> Item:
    del shape
    return {"category": given.get("category", ""), **{key: given[key] for key in ("summary", "start", "end")}}


def _list_of_tasks(given: Mapping[str, Any], shape: ProfileShape) -> Item:
    return {"list": given.get("list", shape.task_lists[0]), "limit": given.get("limit", 50)}


def _task(given: Mapping[str, Any], shape: ProfileShape) -> Item:
    args = {"list": given.get("list", shape.task_lists[0]), "title": given["title"]}
    return args | ({"due": f"{given['due']}T00:00:00.000Z"} if "due" in given else {})


def _rows_wanted(given: Mapping[str, Any], shape: ProfileShape) -> Item:
    del shape
    return {"sheet": given["sheet"], "limit": given.get("limit", 100)}


def _row(given: Mapping[str, Any], shape: ProfileShape) -> Item:
    del shape
    return {"sheet": given["sheet"], "values": given["values"]}


_ARGUMENTS = {
    "calendar_list": _window,
    "calendar_add": _event,
    "tasks_list": _list_of_tasks,
    "tasks_add": _task,
    "sheets_read": _rows_wanted,
    "sheets_append": _row,
}


def format_response(
    operation: str, items: Sequence[Item], failed: Sequence[Item] | None, args: Item, columns: Sequence[str]
) -> list[Item]:
    """The items that the export's *Format response* node emits.

    `failed` are the items on the error output of the node in front, None when that output does not exist.
    Raises ScriptError where the node throws.
    """
    if operation in ("calendar_add", "tasks_add"):
        return [{"data": _created(operation, items[0])}]
    if failed is None:
        raise ScriptError("the answer of Google could not be used")
    if failed:
        return []
    rows = [item for item in items if item]
    return [{"data": _FORMATS[operation](rows, args, columns)}]


def _created(operation: str, item: Item) -> Item:
    if not item.get("id") or item.get("status") == "cancelled":
        noun = "event" if operation == "calendar_add" else "task"
        raise ScriptError(f"Google returned no {noun} id")
    if operation == "tasks_add":
        return _pick(item, "id", "title") | {"due": item.get("due"), "status": item.get("status")}
    return {"id": item["id"], "summary": item.get("summary", "")} | _pick(
        item, "start", "end", "status", "htmlLink"
    )


def _pick(item: Item, *keys: str) -> Item:
    """These fields; one that is missing stays missing, as `undefined` does in JSON."""
    return {key: item[key] for key in keys if key in item}


def _events(rows: Sequence[Item], args: Item, columns: Sequence[str]) -> Item:
    del columns
    if not all(row.get("id") for row in rows):
        raise ScriptError("event without id")
    items = [
        {"id": row["id"], "summary": row.get("summary", "")} | _pick(row, "start", "end", "status")
        for row in rows
    ]
    window = {"start": args["start"], "end": args["end"]}
    return {"count": len(items), "complete": len(items) < args["limit"], "window": window, "items": items}


def _tasks(rows: Sequence[Item], args: Item, columns: Sequence[str]) -> Item:
    del columns
    shown = rows[: args["limit"]]
    if not all(row.get("id") for row in shown):
        raise ScriptError("task without id")
    items = [_pick(row, "id", "title") | {"due": row.get("due")} | _pick(row, "status") for row in shown]
    return {"count": len(items), "complete": len(rows) <= args["limit"], "items": items}


def _rows(rows: Sequence[Item], args: Item, columns: Sequence[str]) -> Item:
    del columns
    items = list(rows[: args["limit"]])
    return {"count": len(items), "complete": len(rows) <= args["limit"], "items": items}


def _appended(rows: Sequence[Item], args: Item, columns: Sequence[str]) -> Item:
    values = args["values"]
    hits = [
        row for row in rows if all(_same_cell(row.get(name), values[at]) for at, name in enumerate(columns))
    ]
    if not hits:
        raise ScriptError("row not found on read-back")
    number = hits[-1]["row_number"]
    return {"id": f"{args['sheet']}!A{number}", "row_number": number, "values": values}


_FORMATS = {
    "calendar_list": _events,
    "tasks_list": _tasks,
    "sheets_read": _rows,
    "sheets_append": _appended,
}


def _same_cell(stored: Any, asked: Any) -> bool:
    return _as_text(stored) == _as_text(asked) or (
        "" not in (stored, asked)
        and (number := _as_number(stored)) is not None
        and number == _as_number(asked)
    )


def _as_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
