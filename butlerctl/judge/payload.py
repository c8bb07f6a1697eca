"""What the JSON of an answer says: an error inside, the id or range of a write, the list of a read.

Judged by meaning: answers come from many stacks, bare or wrapped (`{ok, data}`, `{success, event}`, `[{json}]`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_WRAPPERS = 5
_RANGES = frozenset(
    {"range", "updatedrange", "tablerange", "a1", "row", "rownumber", "row_number", "rowindex"}
)
_OBJECTS = frozenset({"event", "task", "created"})
# Ids of something else than the stored object.
_OTHER_IDS = frozenset(
    f"{what}{joint}id"
    for what in (
        "execution",
        "workflow",
        "calendar",
        "spreadsheet",
        "sheet",
        "tasklist",
        "list",
        "request",
        "webhook",
    )
    for joint in ("", "_")
) | frozenset({"runid", "run_id", "traceid", "trace_id", "correlationid", "instanceid", "userid", "user_id"})
_NO_OBJECTS = frozenset({"execution", "request", "headers", "body", "query", "params"})
_ECHO = frozenset({"headers", "params", "query", "body"})
_ITEM_MARKS = {
    "calendar": (
        "id",
        "summary",
        "title",
        "name",
        "subject",
        "start",
        "end",
        "starttime",
        "start_time",
        "when",
        "begin",
    ),
    "tasks": ("id", "title", "name", "task", "text", "due", "status"),
}


def unwrap(value: Any) -> Any:
    """An answer of one item without n8n's list around it."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        inner = value[0].get("json")
        return inner if isinstance(inner, Mapping) and len(value[0]) <= 2 else value[0]
    return value


def error_inside(value: Any) -> str:
    """The error that an answer carries, in words; empty when it carries none. Never looks into lists of data."""
    for level in _levels(unwrap(value)):
        said = _error_of(level)
        if said:
            return said
    return ""


def error_in_items(value: Any) -> str:
    """The error of an item in a list that an answer carries, in words; empty when there is none."""
    lists = [value] if isinstance(value, list) else []
    lists += [item for level in _levels(unwrap(value)) for item in level.values() if isinstance(item, list)]
    items_of_all = [_plain(item) for found in lists for item in found]
    errors = (_error_of(item) for item in items_of_all if isinstance(item, Mapping) and not is_echo(item))
    return next((said for said in errors if said), "")


def object_ids(value: Any) -> tuple[str, ...]:
    """Ids and ranges by which a write answers, outermost first. An execution's id names no object."""
    found = []
    for level in _levels(unwrap(value)):
        for key, item in level.items():
            if (
                isinstance(item, str | int)
                and not isinstance(item, bool)
                and item != ""
                and _names_object(key.lower(), item)
            ):
                found.append(str(item))
    return tuple(dict.fromkeys(found))


def _names_object(key: str, item: str | int) -> bool:
    if key in _OBJECTS:
        return isinstance(item, str) and len(item) > 7 and " " not in item
    return key in _RANGES or (key.endswith(("id", "uid")) and key not in _OTHER_IDS)


def items(value: Any, domain: str) -> tuple[Any, ...] | None:
    """The list by which a read answers, or None: an empty list is a list, an echoed request is none."""
    if isinstance(value, list) and not (len(value) == 1 and _holds_list(value[0], domain)):
        return _items(value, domain)
    for level in _levels(unwrap(value)):
        for item in level.values():
            if isinstance(item, list) and _items(item, domain) is not None:
                return _items(item, domain)
    return None


def is_echo(value: Any) -> bool:
    """Is this the webhook's own input, sent back?"""
    return isinstance(value, Mapping) and len(_ECHO & set(value)) >= 3


def _holds_list(value: Any, domain: str) -> bool:
    return isinstance(value, Mapping) and any(
        isinstance(item, list) and _items(item, domain) is not None
        for level in _levels(value)
        for item in level.values()
    )


def _items(value: list[Any], domain: str) -> tuple[Any, ...] | None:
    rows = tuple(_plain(item) for item in value)
    return rows if all(_is_item(item, domain) for item in rows) else None


def _plain(item: Any) -> Any:
    inner = item.get("json") if isinstance(item, Mapping) else None
    return inner if isinstance(inner, Mapping) and len(item) <= 2 else item


def _is_item(item: Any, domain: str) -> bool:
    if isinstance(item, list):
        return domain == "sheets"
    if not isinstance(item, Mapping) or is_echo(item) or _is_answer(item):
        return False
    marks = _ITEM_MARKS.get(domain, ())
    return not marks or not item or any(key.lower() in marks for key in item)


def _is_answer(item: Mapping[str, Any]) -> bool:
    """An object that reports on the request instead of being one of its items."""
    reports = isinstance(item.get("ok"), bool) or isinstance(item.get("success"), bool)
    return reports or (bool(item) and set(item) <= {"error", "message"})


def _levels(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects of an answer from the outside in, without lists, echoes and whatever names no object."""
    value = _json_in(value)
    if not isinstance(value, Mapping) or is_echo(value) or depth > _WRAPPERS:
        return
    yield {key: _json_in(item) for key, item in value.items()}
    for key, item in value.items():
        if key.lower() not in _NO_OBJECTS:
            yield from _levels(item, depth + 1)


def _json_in(value: Any) -> Any:
    """JSON that was written into a text once more."""
    if not isinstance(value, str) or value[:1] not in {"{", "["}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _error_of(level: Mapping[str, Any]) -> str:
    for key in ("error", "errors", "errorMessage", "error_message"):
        if level.get(key):
            return _words(level[key])
    if level.get("ok") is False or level.get("success") is False:
        return _words(level.get("message") or level.get("reason") or "the answer says that it failed")
    if str(level.get("status", "")).lower() in {"error", "failed", "failure"}:
        return _words(level.get("message") or "the answer says that it failed")
    code, message = level.get("code"), level.get("message")
    if isinstance(code, int) and (code >= 400 or code == 0) and isinstance(message, str):
        return f"{code} {message}"
    return ""


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        parts = (
            value.get(key)
            for key in ("code", "message", "reason", "description", "error_description", "error")
        )
        return " ".join(str(part) for part in parts if part) or "an error without words"
    if isinstance(value, list):
        return "; ".join(_words(item) for item in value[:3])
    return str(value)
