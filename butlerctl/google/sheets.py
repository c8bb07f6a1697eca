"""Sheets as a system of record: one spreadsheet of one person, read by content, cleared only in the verify tab.

Rows have no identity: nothing here ever addresses a row by its number, because it may have moved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from butlerctl.errors import Leftover, UsageProblem
from butlerctl.google.client import Account, Answer
from butlerctl.google.guards import row_refusals
from butlerctl.google.interface import PATIENCE, Confirmation, Hit, Readback, Removal, Sighting
from butlerctl.google.pages import readback
from butlerctl.google.places import SearchedPlaces
from butlerctl.ledger import Asked, Window

_RENDERING = {"valueRenderOption": "UNFORMATTED_VALUE", "dateTimeRenderOption": "FORMATTED_STRING"}
"""As n8n reads: numbers are numbers, dates are what people see."""


class SheetsRecord(SearchedPlaces):
    """`tabs` are the tabs of the inventory; test rows are made and cleared in `verify_tab` alone."""

    domain = "sheets"

    def __init__(
        self,
        account: Account,
        spreadsheet_id: str,
        tabs: Sequence[str],
        verify_tab: str,
        *,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(account, spreadsheet_id, (verify_tab, *tabs), patience=patience)
        self._verify_tab = verify_tab

    def _search(
        self,
        place: str,
        pattern: re.Pattern[str],
        window: Window,
        when: str,
        known: frozenset[str] = frozenset(),
    ) -> Sighting:
        """The verify tab as it is; of another tab the header and the rows that hold a nonce."""
        del window, known
        answer = self._values(place)
        rows = _rows(answer)
        found = tuple(
            self._hit(place, number, row, match)
            for number, row in enumerate(rows, 1)
            if (match := _match(row, pattern))
        )
        document = self._document(place, answer, when)
        if place != self._verify_tab and not answer.problem:
            document["body"] = answer.body | {"values": rows[:1] + [hit.body["values"] for hit in found]}
            document["searched"] = {"rows": len(rows)}
        return Sighting((document,), found, answer.problem)

    def _values(self, tab: str) -> Answer:
        quoted = "'" + tab.replace("'", "''") + "'"
        request = self._account.values().get(spreadsheetId=self.container, range=quoted, **_RENDERING)
        return self._account.read(request)

    def _document(self, tab: str, answer: Answer, when: str) -> Readback:
        return readback(
            "sheets.values.get",
            self.profile,
            when,
            answer,
            place={"spreadsheetId": self.container},
            query={"range": tab, **_RENDERING},
        )

    def _hit(self, tab: str, number: int, row: list[Any], match: re.Match[str]) -> Hit:
        return Hit(
            nonce=match[0],
            domain=self.domain,
            profile=self.profile,
            container=self.container,
            object_id=f"{tab}!{number}",
            title=" | ".join(str(cell) for cell in row),
            link=f"https://docs.google.com/spreadsheets/d/{self.container}/edit",
            body={"tab": tab, "row": number, "values": row},
        )

    def read(self, arguments: Mapping[str, Any], *, when: str) -> Sighting:
        """The rows of the tab `sheet`: its header and at most `limit` rows below it.

        Raises:
            UsageProblem: the inventory names no such tab.
        """
        tab, limit = arguments["sheet"], arguments.get("limit")
        if tab not in self._places:
            raise UsageProblem(f"{self.profile} has no tab {tab}; known are {', '.join(self._places)}")
        answer = self._values(tab)
        document = self._document(tab, answer, when)
        if limit is not None and not answer.problem and "values" in answer.body:
            document["body"] = answer.body | {"values": _rows(answer)[: limit + 1]}
        return Sighting((document,), problem=answer.problem)

    def confirm(self, hit: Hit, asked: Asked) -> Confirmation:
        """Reads the tab again: the row counts by what is in it, wherever it stands now."""
        tab = hit.body["tab"]
        answer = self._values(tab)
        document = self._document(tab, answer, "after")
        cells = [cell for row in _rows(answer) for cell in row if asked.nonce in str(cell)]
        return Confirmation(
            hit=hit,
            etag="",
            refusals=row_refusals(asked, tab, self._verify_tab),
            is_gone=not cells and not answer.problem,
            expected_cells=len(cells),
            readbacks=(document,),
            problem=answer.problem,
        )

    def delete(self, confirmation: Confirmation) -> Removal:
        """Empties the cells that hold the nonce. An answer without a count is one to a repeated request.

        Another count than the confirmed one is a Leftover: it must never be passed over.
        """
        sheet_id, problem = self._verify_tab_id()
        if problem:
            return Removal(problem=problem)
        nonce, expected = confirmation.hit.nonce, confirmation.expected_cells
        answer = self._account.write(
            self._account.spreadsheets().batchUpdate(
                spreadsheetId=self.container, body={"requests": [_clearing(nonce, sheet_id)]}
            )
        )
        document = readback(
            "sheets.spreadsheets.batchUpdate",
            self.profile,
            "after_delete",
            answer,
            place={"spreadsheetId": self.container},
        )
        if answer.problem:
            return Removal(readbacks=(document,), problem=answer.problem)
        changed = answer.body["replies"][0].get("findReplace", {}).get("valuesChanged", 0)
        alarm = None
        if changed not in {0, expected}:
            alarm = Leftover(
                f"{changed} cells of {self._verify_tab} were emptied where {expected} held {nonce}",
                hint=f"look at the version history of {confirmation.hit.link}",
            )
        return Removal(remains=_unmarked(confirmation.hit), readbacks=(document,), problem=alarm)

    def _verify_tab_id(self) -> tuple[int, Any]:
        fields = "sheets.properties(sheetId,title)"
        answer = self._account.read(
            self._account.spreadsheets().get(spreadsheetId=self.container, fields=fields)
        )
        if answer.problem:
            return 0, answer.problem
        for sheet in answer.body.get("sheets", ()):
            if sheet["properties"]["title"] == self._verify_tab:
                return sheet["properties"].get("sheetId", 0), None
        return 0, Leftover(f"{self.container} has no tab {self._verify_tab} any more")

    def gone(self, nonce: str, hits: Sequence[Hit], window: Window) -> Sighting:
        del hits  # rows have no ids
        return self.find(nonce, window, when="after_delete")


def _rows(answer: Answer) -> list[list[Any]]:
    """An empty range has no `values`."""
    values: list[list[Any]] = answer.body.get("values", []) if isinstance(answer.body, dict) else []
    return values


def _match(row: list[Any], pattern: re.Pattern[str]) -> re.Match[str] | None:
    return next((match for cell in row if (match := pattern.search(str(cell)))), None)


def _clearing(nonce: str, sheet_id: int) -> dict[str, Any]:
    """By content: right even when a row was inserted above. Leaves an empty row."""
    return {
        "findReplace": {
            "find": f".*{nonce}.*",
            "replacement": "",
            "searchByRegex": True,
            "matchEntireCell": True,
            "matchCase": True,
            "sheetId": sheet_id,
        }
    }


def _unmarked(hit: Hit) -> tuple[str, ...]:
    """The cells of the row that do not hold the nonce: they stay, and a person is told."""
    cells = [repr(cell) for cell in hit.body["values"] if cell != "" and hit.nonce not in str(cell)]
    return (f"cells of {hit.object_id} without the nonce: {', '.join(cells)}",) if cells else ()
