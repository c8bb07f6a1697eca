"""The six tools of the household: the one source of truth for their schemas.

The plugin, the lab and the workflows' input checks are tested equal to what stands here. A schema says
what JSON Schema can say; `argument_faults` adds what it cannot (a date that exists, an end after its start).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATION_OF_TOOL, OPERATIONS

INSTANT_PATTERN = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:[0-5]\d)$"
DAY_PATTERN = r"^\d{4}-\d{2}-\d{2}$"
# Google Sheets would evaluate a cell that begins so.
CELL_PATTERN = r"^(?!\s*[=+@])"

MAX_EVENTS = 250
MAX_TASKS = 100
MAX_ROWS = 500


@dataclass(frozen=True, slots=True)
class ProfileShape:
    """What one person has: the names of task lists and sheet tabs, and the sheet's columns."""

    task_lists: tuple[str, ...]
    tabs: tuple[str, ...]
    columns: tuple[str, ...]


ToolShape = Mapping[str, ProfileShape]
"""Profile name -> what that person has."""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the model is offered it. `parameters` is a closed JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def shape_of(inventory: Inventory) -> ToolShape:
    """What the tools offer for each person of the inventory."""
    return {
        name: ProfileShape(tuple(person.task_lists), person.spreadsheet.tabs, person.spreadsheet.columns)
        for name, person in inventory.profiles.items()
    }


def household_tools(shape: ToolShape) -> tuple[ToolSchema, ...]:
    """The six tools for these profiles, in the order of the operations."""
    return tuple(
        ToolSchema(operation.tool, *_BUILDERS[operation.name](shape)) for operation in OPERATIONS.values()
    )


def schema_hash(tool: ToolSchema) -> str:
    """The hash that OpenClaw reports of a tool's schema: sha256 (hex) over its compact JSON text.

    The order of the keys counts; it is the same here and in the plugin.
    """
    text = json.dumps(tool.parameters, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def argument_faults(tool: str, arguments: Mapping[str, Any], shape: ToolShape) -> list[str]:
    """What is wrong beyond the schema, as `field: what would be right`. `arguments` already fit the schema."""
    checks = _BEYOND_SCHEMA.get(OPERATION_OF_TOOL[tool].name, ())
    return [fault for check in checks for fault in check(arguments, shape)]


def parse_instant(text: str) -> datetime | None:
    """An RFC 3339 time with offset, or None. `24:00` and the 31st of February are no times."""
    if re.fullmatch(INSTANT_PATTERN.strip("^$"), text, re.ASCII) is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def parse_day(text: str) -> date | None:
    """A calendar day `YYYY-MM-DD`, or None."""
    if re.fullmatch(DAY_PATTERN.strip("^$"), text, re.ASCII) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _schema(shape: ToolShape, properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["profile", *required],
        "properties": {
            "profile": {"type": "string", "enum": list(shape), "description": "Whose data."},
            **properties,
        },
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "pattern": r"\S", "description": description}


def _instant(description: str) -> dict[str, Any]:
    return {
        "type": "string",
        "pattern": INSTANT_PATTERN,
        "description": f"{description} RFC 3339 with offset, such as 2026-07-04T10:00:00-04:00.",
    }


def _limit(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": "At most so many."}


def _one_of(names: Sequence[str], description: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(names), "description": description}


def _names(groups: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for group in groups for name in group))


def _lists_of(shape: ToolShape) -> list[str]:
    return _names([person.task_lists for person in shape.values()])


def _tabs_of(shape: ToolShape) -> list[str]:
    return _names([person.tabs for person in shape.values()])


def _list_calendar_events(shape: ToolShape) -> tuple[str, dict[str, Any]]:
    properties = {
        "start": _instant("Earliest moment."),
        "end": _instant("Latest moment."),
        "limit": _limit(MAX_EVENTS),
    }
    return "List a person's calendar events between two moments.", _schema(shape, properties)


def _add_calendar_event(shape: ToolShape) -> tuple[str, dict[str, Any]]:
    properties = {
        "summary": _text("Title of the event."),
        "start": _instant("When it starts."),
        "end": _instant("When it ends."),
        "category": _text("Kind of event, such as personal."),
    }
    return "Add one event to a person's calendar.", _schema(shape, properties, ("summary", "start", "end"))


def _list_tasks(shape: ToolShape) -> tuple[str, dict[str, Any]]:
    properties = {"list": _one_of(_lists_of(shape), "Name of the task list."), "limit": _limit(MAX_TASKS)}
    return "List a person's open tasks.", _schema(shape, properties)


def _add_task(shape: ToolShape) -> tuple[str, dict[str, Any]]:
    properties = {
        "title": _text("What is to be done."),
        "due": {"type": "string", "pattern": DAY_PATTERN, "description": "Due day, YYYY-MM-DD."},
        "list": _one_of(_lists_of(shape), "Name of the task list."),
    }
    return "Add one task to a person's task list.", _schema(shape, properties, ("title",))


def _read_sheet(shape: ToolShape) -> tuple[str, dict[str, Any]]:
    properties = {"sheet": _one_of(_tabs_of(shape), "Name of the sheet."), "limit": _limit(MAX_ROWS)}
    return "Read the rows of a person's sheet.", _schema(shape, properties, ("sheet",))


def _append_sheet_row(shape: ToolShape) -> tuple[str, dict[str, Any]]:
    counts = [len(person.columns) for person in shape.values()]
    columns = "; ".join(f"{name}: {', '.join(person.columns)}" for name, person in shape.items())
    properties = {
        "sheet": _one_of(_tabs_of(shape), "Name of the sheet."),
        "values": {
            "type": "array",
            # One type list, no union: a gateway may convert 2.5 to the text "2.5" where it sees a union.
            "items": {"type": ["string", "number"], "pattern": CELL_PATTERN},
            "minItems": min(counts),
            "maxItems": max(counts),
            "description": f"One cell for each column ({columns}).",
        },
    }
    return "Append one row to a person's sheet.", _schema(shape, properties, ("sheet", "values"))


_BUILDERS: Mapping[str, Callable[[ToolShape], tuple[str, dict[str, Any]]]] = {
    "calendar_list": _list_calendar_events,
    "calendar_add": _add_calendar_event,
    "tasks_list": _list_tasks,
    "tasks_add": _add_task,
    "sheets_read": _read_sheet,
    "sheets_append": _append_sheet_row,
}


def _times_exist_in_order(arguments: Mapping[str, Any], shape: ToolShape) -> list[str]:
    del shape
    given = [key for key in ("start", "end") if key in arguments]
    times = {key: parse_instant(arguments[key]) for key in given}
    faults = [f"{key}: must be an RFC 3339 time with offset" for key, time in times.items() if time is None]
    start, end = times.get("start"), times.get("end")
    if start is not None and end is not None and end <= start:
        faults.append("end: must be after start")
    return faults


def _due_exists(arguments: Mapping[str, Any], shape: ToolShape) -> list[str]:
    del shape
    if "due" in arguments and parse_day(arguments["due"]) is None:
        return ["due: must be a day that exists, YYYY-MM-DD"]
    return []


def _list_is_theirs(arguments: Mapping[str, Any], shape: ToolShape) -> list[str]:
    lists = shape[arguments["profile"]].task_lists
    if "list" in arguments and arguments["list"] not in lists:
        return [f"list: must be one of {', '.join(lists)}"]
    return []


def _sheet_is_theirs(arguments: Mapping[str, Any], shape: ToolShape) -> list[str]:
    tabs = shape[arguments["profile"]].tabs
    return [] if arguments["sheet"] in tabs else [f"sheet: must be one of {', '.join(tabs)}"]


def _row_fills_columns(arguments: Mapping[str, Any], shape: ToolShape) -> list[str]:
    columns = shape[arguments["profile"]].columns
    if len(arguments["values"]) != len(columns):
        return [f"values: must be {len(columns)} cells ({', '.join(columns)})"]
    return []


_BEYOND_SCHEMA: Mapping[str, tuple[Callable[[Mapping[str, Any], ToolShape], list[str]], ...]] = {
    "calendar_list": (_times_exist_in_order,),
    "calendar_add": (_times_exist_in_order,),
    "tasks_list": (_list_is_theirs,),
    "tasks_add": (_due_exists, _list_is_theirs),
    "sheets_read": (_sheet_is_theirs,),
    "sheets_append": (_sheet_is_theirs, _row_fills_columns),
}
