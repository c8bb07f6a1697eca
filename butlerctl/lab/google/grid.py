"""Spreadsheets as grids of cells: A1 notation, tables, moving rows. Rows and columns count from 0 in here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from butlerctl.lab.google.cells import Cell
from butlerctl.lab.google.errors import GoogleError, bad_request, not_found

_CORNER = r"([A-Za-z]{0,3})([0-9]{0,7})"
_RANGE = re.compile(rf"{_CORNER}(?::{_CORNER})?")
_PLAIN_TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; `bottom` and `right` are not part of it."""

    top: int
    left: int
    bottom: int
    right: int

    def meets(self, other: Box) -> bool:
        return (
            self.top < other.bottom
            and other.top < self.bottom
            and self.left < other.right
            and other.left < self.right
        )

    def holds(self, row: int, column: int) -> bool:
        return self.top <= row < self.bottom and self.left <= column < self.right


@dataclass(slots=True)
class Tab:
    id: int
    title: str
    rows: int = 1000
    columns: int = 26
    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)

    @property
    def whole(self) -> Box:
        return Box(0, 0, self.rows, self.columns)

    def set(self, row: int, column: int, cell: Cell | None) -> None:
        if cell is None:
            self.cells.pop((row, column), None)
        else:
            self.cells[row, column] = cell

    def formatted_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Number (from 1, as people count) and formatted cells of every row that holds something."""
        for row in sorted({row for row, _ in self.cells}):
            last = max(column for r, column in self.cells if r == row)
            found = (self.cells.get((row, column)) for column in range(last + 1))
            yield row + 1, [cell.formatted() if cell else "" for cell in found]

    def insert_rows(self, at: int, count: int) -> None:
        self.rows += count
        self.cells = {(r + count if r >= at else r, c): cell for (r, c), cell in self.cells.items()}

    def delete_rows(self, start: int, end: int) -> None:
        self.rows -= end - start
        kept = ((r, c, cell) for (r, c), cell in self.cells.items() if not start <= r < end)
        self.cells = {(r - (end - start) if r >= end else r, c): cell for r, c, cell in kept}

    def tables(self) -> list[Box]:
        """The regions of cells that touch each other, from top to bottom."""
        left = set(self.cells)
        boxes = []
        while left:
            region = _touching(left.pop(), left)
            rows, columns = {r for r, _ in region}, {c for _, c in region}
            boxes.append(Box(min(rows), min(columns), max(rows) + 1, max(columns) + 1))
        return sorted(boxes, key=lambda box: (box.bottom, box.left))


def _touching(start: tuple[int, int], left: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The cells connected with `start`, diagonals included; they are taken out of `left`."""
    region, edge = {start}, [start]
    while edge:
        row, column = edge.pop()
        near = {(row + i, column + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
        left -= near
        region |= near
        edge.extend(near)
    return region


@dataclass(slots=True)
class Spreadsheet:
    id: str
    title: str
    acl: dict[str, str]
    tabs: list[Tab]

    def tab_of_id(self, tab_id: int) -> Tab:
        """Raises GoogleError 400 when there is none."""
        found = next((tab for tab in self.tabs if tab.id == tab_id), None)
        if found is None:
            raise bad_request(f"Invalid requests: No grid with id: {tab_id}")
        return found

    def tab_of_title(self, title: str) -> Tab | None:
        return next((tab for tab in self.tabs if tab.title.lower() == title.lower()), None)

    def locate(self, text: str) -> tuple[Tab, Box]:
        """The tab and rectangle of an A1 range; a name without `!` is a tab, else cells of the first tab.

        Raises:
            GoogleError: 400 when it names no tab or no cells of it.
        """
        title, bang, cells = text.rpartition("!")
        tab = self.tab_of_title(_unquoted(title if bang else text))
        if tab is None and not bang:
            tab, cells = self.tabs[0], text
        elif not bang:
            cells = ""
        box = _box(cells, tab) if tab else None
        if tab is None or box is None:
            raise bad_request(f"Unable to parse range: {text}")
        return tab, box


def _unquoted(title: str) -> str:
    if len(title) > 1 and title[0] == title[-1] == "'":
        return title[1:-1].replace("''", "'")
    return title


def _box(cells: str, tab: Tab) -> Box | None:
    if not cells:
        return tab.whole
    match = _RANGE.fullmatch(cells)
    if match is None or not (match[1] or match[2]) or (":" in cells and not (match[3] or match[4])):
        return None
    if ":" not in cells and not (match[1] and match[2]):
        return None
    left, top = _column(match[1]) or 0, int(match[2] or 1) - 1
    if ":" not in cells:
        box = Box(top, left, top + 1, left + 1)
    else:
        right, bottom = _column(match[3]), int(match[4]) if match[4] else tab.rows
        box = Box(top, left, bottom, tab.columns if right is None else right + 1)
    if top < 0:
        return None
    if top >= tab.rows or left >= tab.columns:
        limits = f"Max rows: {tab.rows}, max columns: {tab.columns}"
        raise bad_request(f"Range ({quoted(tab.title)}!{cells}) exceeds grid limits. {limits}")
    return Box(top, left, min(box.bottom, tab.rows), min(box.right, tab.columns))


def _column(letters: str) -> int | None:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1 if letters else None


def letters_of(column: int) -> str:
    text, number = "", column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text


def quoted(title: str) -> str:
    return title if _PLAIN_TITLE.fullmatch(title) else "'" + title.replace("'", "''") + "'"


def a1(tab: Tab, box: Box) -> str:
    """The range in the form that Google answers with: `Log!A1:Z1000`, `'butler verify'!A2`."""
    start = f"{letters_of(box.left)}{box.top + 1}"
    end = f"{letters_of(box.right - 1)}{box.bottom}"
    return f"{quoted(tab.title)}!{start}" + (f":{end}" if end != start else "")


def access(spreadsheet: Spreadsheet | None, user: str, *, write: bool) -> Spreadsheet:
    """Raises GoogleError: 404 for an unknown id, 403 without the permission."""
    if spreadsheet is None:
        raise not_found("Requested entity was not found.")
    role = spreadsheet.acl.get(user, "none")
    if role not in ({"owner", "writer"} if write else {"owner", "writer", "reader"}):
        raise GoogleError(403, "forbidden", "The caller does not have permission")
    return spreadsheet
