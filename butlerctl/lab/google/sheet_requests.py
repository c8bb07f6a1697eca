"""spreadsheets.batchUpdate: all of its requests, or none of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from butlerctl.lab.google.cells import enter
from butlerctl.lab.google.errors import GoogleError, bad_request
from butlerctl.lab.google.grid import Box, Spreadsheet, Tab


def batch_update(book: Spreadsheet, requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Apply to a copy; the copy takes the place of the tabs when every request went through.

    Raises:
        GoogleError: 400, and nothing has changed.
    """
    if not requests:
        raise bad_request("Must specify at least one request.")
    draft = Spreadsheet(book.id, book.title, book.acl, deepcopy(book.tabs))
    replies = [_apply(draft, index, request) for index, request in enumerate(requests)]
    book.tabs = draft.tabs
    return {"spreadsheetId": book.id, "replies": replies}


def _apply(draft: Spreadsheet, index: int, request: Mapping[str, Any]) -> dict[str, Any]:
    name = next(iter(request), "")
    action = _ACTIONS.get(name)
    if len(request) != 1 or action is None:
        raise bad_request(f"Invalid requests[{index}]: not part of this emulator: {', '.join(request)}")
    try:
        return action(draft, request[name])
    except GoogleError as error:
        error.message = f"Invalid requests[{index}].{name}: {error.message}"
        raise


def _add_sheet(draft: Spreadsheet, body: Mapping[str, Any]) -> dict[str, Any]:
    asked = body.get("properties", {})
    title = asked.get("title") or f"Sheet{len(draft.tabs) + 1}"
    if draft.tab_of_title(title):
        raise bad_request(f'A sheet with the name "{title}" already exists. Please enter another name.')
    grid = asked.get("gridProperties", {})
    tab_id = asked.get("sheetId", max((tab.id for tab in draft.tabs), default=0) + 1)
    tab = Tab(tab_id, title, grid.get("rowCount", 1000), grid.get("columnCount", 26))
    draft.tabs.append(tab)
    properties = {
        "sheetId": tab.id,
        "title": tab.title,
        "index": len(draft.tabs) - 1,
        "sheetType": "GRID",
        "gridProperties": {"rowCount": tab.rows, "columnCount": tab.columns},
    }
    return {"addSheet": {"properties": properties}}


def _append_dimension(draft: Spreadsheet, body: Mapping[str, Any]) -> dict[str, Any]:
    tab = draft.tab_of_id(body.get("sheetId", 0))
    length = body.get("length", 0)
    if body.get("dimension") == "COLUMNS":
        tab.columns += length
    else:
        tab.rows += length
    return {}


def _insert_dimension(draft: Spreadsheet, body: Mapping[str, Any]) -> dict[str, Any]:
    tab, start, end = _rows(draft, body)
    tab.insert_rows(start, end - start)
    return {}


def _delete_dimension(draft: Spreadsheet, body: Mapping[str, Any]) -> dict[str, Any]:
    tab, start, end = _rows(draft, body)
    if end > tab.rows or end - start >= tab.rows:
        raise bad_request("You can't delete all the rows on the sheet.")
    tab.delete_rows(start, end)
    return {}


def _rows(draft: Spreadsheet, body: Mapping[str, Any]) -> tuple[Tab, int, int]:
    span = body.get("range", {})
    start, end = span.get("startIndex", 0), span.get("endIndex", 0)
    if span.get("dimension") != "ROWS" or not 0 <= start < end:
        raise bad_request("Only a range of rows is part of this emulator.")
    return draft.tab_of_id(span.get("sheetId", 0)), start, end


def _find_replace(draft: Spreadsheet, body: Mapping[str, Any]) -> dict[str, Any]:
    """Without a hit the reply is empty: `{"findReplace": {}}`."""
    pattern = _pattern(body)
    replacement = body.get("replacement", "")
    if not body.get("searchByRegex"):
        replacement = replacement.replace("\\", "\\\\")
    changed: list[tuple[int, int, int]] = []
    occurrences = 0
    for tab, box in _scope(draft, body):
        for (row, column), cell in list(tab.cells.items()):
            if not box.holds(row, column):
                continue
            text, count = _replace(pattern, replacement, cell.formatted(), whole=body.get("matchEntireCell"))
            if count:
                tab.set(row, column, enter(text, "USER_ENTERED"))
                changed.append((tab.id, row, column))
                occurrences += count
    counts = {
        "valuesChanged": len(changed),
        "rowsChanged": len({(tab_id, row) for tab_id, row, _ in changed}),
        "sheetsChanged": len({tab_id for tab_id, _, _ in changed}),
        "occurrencesChanged": occurrences,
    }
    return {"findReplace": {name: count for name, count in counts.items() if count}}


def _pattern(body: Mapping[str, Any]) -> re.Pattern[str]:
    find = body.get("find", "")
    if not find:
        raise bad_request("The find string must not be empty.")
    try:
        text = find if body.get("searchByRegex") else re.escape(find)
        return re.compile(text, 0 if body.get("matchCase") else re.IGNORECASE)
    except re.error as error:
        raise bad_request(f"Invalid regular expression: {error}") from None


def _scope(draft: Spreadsheet, body: Mapping[str, Any]) -> list[tuple[Tab, Box]]:
    if body.get("allSheets"):
        return [(tab, tab.whole) for tab in draft.tabs]
    if "sheetId" in body:
        tab = draft.tab_of_id(body["sheetId"])
        return [(tab, tab.whole)]
    if "range" in body:
        span = body["range"]
        tab = draft.tab_of_id(span.get("sheetId", 0))
        rows = span.get("startRowIndex", 0), span.get("endRowIndex", tab.rows)
        columns = span.get("startColumnIndex", 0), span.get("endColumnIndex", tab.columns)
        return [(tab, Box(rows[0], columns[0], rows[1], columns[1]))]
    raise bad_request("One of range, sheetId or allSheets must be set.")


def _replace(pattern: re.Pattern[str], replacement: str, text: str, *, whole: bool | None) -> tuple[str, int]:
    if whole:
        match = pattern.fullmatch(text)
        return (match.expand(replacement), 1) if match else (text, 0)
    return pattern.subn(replacement, text)


_ACTIONS: Mapping[str, Callable[[Spreadsheet, Mapping[str, Any]], dict[str, Any]]] = {
    "addSheet": _add_sheet,
    "appendDimension": _append_dimension,
    "insertDimension": _insert_dimension,
    "deleteDimension": _delete_dimension,
    "findReplace": _find_replace,
}
