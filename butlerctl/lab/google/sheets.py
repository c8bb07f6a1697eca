"""Sheets v4: reading and writing values, appending to tables, and the spreadsheet itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.lab.google.call import Call, Handler
from butlerctl.lab.google.cells import enter
from butlerctl.lab.google.errors import bad_request
from butlerctl.lab.google.grid import Box, Spreadsheet, Tab, a1, access
from butlerctl.lab.google.sheet_requests import batch_update

Rows = list[list[Any]]


def _book(call: Call, *, write: bool = False) -> Spreadsheet:
    return access(call.store.spreadsheets.get(call.get("spreadsheetId")), call.user, write=write)


def get_spreadsheet(call: Call) -> dict[str, Any]:
    """Properties only; cells are read through values."""
    book = _book(call)
    return {
        "spreadsheetId": book.id,
        "properties": {"title": book.title, "locale": "en_US", "timeZone": "America/New_York"},
        "sheets": [
            {
                "properties": {
                    "sheetId": tab.id,
                    "title": tab.title,
                    "index": index,
                    "sheetType": "GRID",
                    "gridProperties": {"rowCount": tab.rows, "columnCount": tab.columns},
                }
            }
            for index, tab in enumerate(book.tabs)
        ],
        "spreadsheetUrl": f"https://docs.google.com/spreadsheets/d/{book.id}/edit",
    }


def get_values(call: Call) -> dict[str, Any]:
    return _value_range(call, *_book(call).locate(call.get("range")))


def batch_get_values(call: Call) -> dict[str, Any]:
    book = _book(call)
    ranges = [_value_range(call, *book.locate(text)) for text in call.get("ranges", ())]
    return {"spreadsheetId": book.id, "valueRanges": ranges}


def _value_range(call: Call, tab: Tab, box: Box) -> dict[str, Any]:
    """Trailing empty cells and rows are left out; without any cell there is no `values`."""
    major = call.get("majorDimension", "ROWS")
    rows = _trimmed(_read(call, tab, box))
    if major == "COLUMNS":
        width = max(map(len, rows), default=0)
        rows = _trimmed([[row[i] if i < len(row) else "" for row in rows] for i in range(width)])
    answer: dict[str, Any] = {"range": a1(tab, box), "majorDimension": major}
    return answer | ({"values": rows} if rows else {})


def _read(call: Call, tab: Tab, box: Box) -> Rows:
    values = call.get("valueRenderOption", "FORMATTED_VALUE")
    dates = call.get("dateTimeRenderOption", "SERIAL_NUMBER")
    rows: Rows = []
    for (row, column), cell in sorted(tab.cells.items()):
        if box.holds(row, column):
            rows.extend([] for _ in range(row - box.top + 1 - len(rows)))
            line = rows[row - box.top]
            line.extend("" for _ in range(column - box.left - len(line)))
            line.append(cell.render(values, dates))
    return rows


def _trimmed(rows: Rows) -> Rows:
    for row in rows:
        while row and row[-1] == "":
            row.pop()
    while rows and not rows[-1]:
        rows.pop()
    return rows


def update_values(call: Call) -> dict[str, Any]:
    book = _book(call, write=True)
    tab, box = book.locate(call.get("range"))
    rows = _given(call)
    _check_size(rows, tab, box)
    written = _write(call, tab, box, rows)
    return {"spreadsheetId": book.id} | _written(tab, written, rows)


def append_values(call: Call) -> dict[str, Any]:
    """The row goes below the table that the range meets, in the table's own first column."""
    book = _book(call, write=True)
    tab, box = book.locate(call.get("range"))
    rows = _given(call)
    table = _table(call, tab, box)
    at = Box(table.bottom, table.left, table.bottom, table.left) if table else box
    if table and call.get("insertDataOption") == "INSERT_ROWS":
        tab.insert_rows(at.top, len(rows))
    tab.rows = max(tab.rows, at.top + len(rows))
    written = _write(call, tab, at, rows)
    answer: dict[str, Any] = {"spreadsheetId": book.id}
    if table:
        answer["tableRange"] = a1(tab, table)
    return answer | {"updates": {"spreadsheetId": book.id} | _written(tab, written, rows)}


def _table(call: Call, tab: Tab, box: Box) -> Box | None:
    met = [table for table in tab.tables() if table.meets(box)]
    if not met:
        return None
    return met[0] if call.switches.append_table == "first" else met[-1]


def _given(call: Call) -> Rows:
    if call.get("valueInputOption", "INPUT_VALUE_OPTION_UNSPECIFIED") == "INPUT_VALUE_OPTION_UNSPECIFIED":
        raise bad_request("'valueInputOption' is required but not specified")
    rows = call.body.get("values", [])
    if call.body.get("majorDimension") == "COLUMNS":
        width = max(map(len, rows), default=0)
        return [[column[i] if i < len(column) else None for column in rows] for i in range(width)]
    return list(rows)


def _check_size(rows: Rows, tab: Tab, box: Box) -> None:
    """A single cell is only a corner to write from; a larger range must hold all of the rows."""
    if box == Box(box.top, box.left, box.top + 1, box.left + 1):
        box = Box(box.top, box.left, tab.rows, tab.columns)
    if len(rows) > box.bottom - box.top or any(len(row) > box.right - box.left for row in rows):
        raise bad_request(f"Requested writing within range [{a1(tab, box)}], but tried writing outside of it")


def _write(call: Call, tab: Tab, at: Box, rows: Rows) -> Box:
    """Null leaves a cell as it is. Returns the rectangle that was written."""
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value is not None:
                tab.set(at.top + i, at.left + j, enter(value, call.get("valueInputOption")))
    width = max(map(len, rows), default=0)
    return Box(at.top, at.left, at.top + max(len(rows), 1), at.left + max(width, 1))


def _written(tab: Tab, box: Box, rows: Rows) -> dict[str, Any]:
    return {
        "updatedRange": a1(tab, box),
        "updatedRows": len(rows),
        "updatedColumns": max(map(len, rows), default=0),
        "updatedCells": sum(len(row) for row in rows),
    }


def update_spreadsheet(call: Call) -> dict[str, Any]:
    return batch_update(_book(call, write=True), call.body.get("requests", ()))


HANDLERS: Mapping[str, Handler] = {
    "sheets.spreadsheets.get": get_spreadsheet,
    "sheets.spreadsheets.batchUpdate": update_spreadsheet,
    "sheets.spreadsheets.values.get": get_values,
    "sheets.spreadsheets.values.batchGet": batch_get_values,
    "sheets.spreadsheets.values.update": update_values,
    "sheets.spreadsheets.values.append": append_values,
}
