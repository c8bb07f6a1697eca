"""Independent reads of Google: which place, what lay there, and whether the read decides anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import values

_RESOURCES = {"calendar": ".events.", "tasks": "tasks.tasks.", "sheets": ".values."}
_TITLES = ("summary", "title", "name", "subject", "task", "text")
_STARTS = ("start", "start_time", "startTime", "starts", "begin", "from", "when")
_ENDS = ("end", "end_time", "endTime", "ends", "to", "until")
_DUES = ("due", "dueDate", "due_date", "deadline")
_TAB = re.compile(r"(?:'(?P<quoted>(?:[^']|'')*)'|(?P<plain>[^'!]+))!")
_RANGE = re.compile(r"^(?:'?(?P<tab>.*?)'?!)?\$?(?P<column>[A-Z]{1,3})?\$?(?P<row>\d+)?")


@dataclass(frozen=True, slots=True)
class Stored:
    """An event, a task or a row. Times are instants, `None` where there is none (`all_day`: only days)."""

    id: str
    title: str = ""
    start: datetime | None = None
    end: datetime | None = None
    due: date | None = None
    all_day: bool = False
    until: date | None = None
    """The day after the last one of an event of whole days, as Google tells its end."""
    cells: tuple[Any, ...] = ()
    row: int = 0
    touched: datetime | None = None
    open: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """One read-back. `place` is the id of the calendar, task list or spreadsheet (with its tab)."""

    document: Document
    domain: str
    profile: str
    place: str
    when: str
    status: int | None
    objects: tuple[Stored, ...]
    whole: bool
    header: tuple[Any, ...] = ()

    @property
    def readable(self) -> bool:
        return self.status is not None and (200 <= self.status < 300 or self.absent)

    @property
    def continues(self) -> bool:
        """A further page of the read before it."""
        query = self.document.get("query")
        return isinstance(query, Mapping) and bool(query.get("pageToken"))

    @property
    def absent(self) -> bool:
        """A read by id that says: there is none."""
        return self.status in {404, 410} and self.by_id

    @property
    def by_id(self) -> bool:
        return bool(self.document.get("eventId") or self.document.get("taskId")) or (
            self.domain != "sheets" and str(self.document.get("api", "")).endswith(".get")
        )


def read_reading(document: Document, zone: tzinfo) -> Reading | None:
    """A document of kind `readback`, None for other calls such as a deletion."""
    api = str(document.get("api") or "")
    domain = next((name for name, resource in _RESOURCES.items() if resource in api), None)
    if domain is None or api.rpartition(".")[2] not in {"list", "get", "batchGet", "instances"}:
        return None
    status, body = document.get("status"), document.get("body")
    plain = body if isinstance(body, Mapping) else {}
    failed = not isinstance(status, int) or status >= 300
    stored = () if failed else tuple(_READERS[domain](plain, zone))
    return Reading(
        document=document,
        domain=domain,
        profile=str(document.get("token_of") or ""),
        place=_place(document, domain, plain),
        when=str(document.get("when") or ""),
        status=status if isinstance(status, int) else None,
        objects=stored,
        whole=not plain.get("nextPageToken"),
        header=stored[0].cells if domain == "sheets" and stored and stored[0].row == 1 else (),
    )


def covers(reading: Reading, start: datetime | None, zone: tzinfo) -> bool:
    """Would an object that begins at `start` be in this read? A window or a further page may hide it."""
    query = reading.document.get("query")
    if not reading.whole:
        return False
    if start is None or not isinstance(query, Mapping):
        return True
    early, late = values.instant(query.get("timeMin"), zone), values.instant(query.get("timeMax"), zone)
    return (early is None or start >= early) and (late is None or start < late)


def tab_of(reading: Reading) -> str:
    """The tab of a spreadsheet's read; empty when it is not told."""
    body = reading.document.get("body")
    query = reading.document.get("query")
    told = (body.get("range") if isinstance(body, Mapping) else None) or (
        query.get("range") if isinstance(query, Mapping) else None
    )
    match = _TAB.match(str(told or ""))
    return (match["plain"] or match["quoted"].replace("''", "'")) if match else ""


def _place(document: Document, domain: str, body: Mapping[str, Any]) -> str:
    names = {"calendar": "calendarId", "tasks": "tasklist", "sheets": "spreadsheetId"}
    place = str(document.get(names[domain]) or "")
    told = str(body.get("range") or "")
    return f"{place}/{told.split('!', maxsplit=1)[0]}" if domain == "sheets" and "!" in told else place


def _items(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = body.get("items")
    if isinstance(items, list):
        return [item for item in items if isinstance(item, Mapping)]
    return [body] if "id" in body else []


def events(body: Mapping[str, Any], zone: tzinfo) -> Iterator[Stored]:
    """Events that are not cancelled, of a list or of one event; also in the flat form of an answer."""
    for item in _items(body):
        if item.get("status") == "cancelled":
            continue
        start, end = _first(item, _STARTS) or _day_and_time(item), _first(item, _ENDS)
        all_day = values.day(_written(start)) is not None and _moment(start, zone) is None
        yield Stored(
            id=str(item.get("id") or ""),
            title=values.text(_first(item, _TITLES) or ""),
            start=_moment(start, zone),
            end=_moment(end, zone),
            due=values.day(_written(start)),
            all_day=all_day,
            until=values.day(_written(end)) if all_day else None,
            touched=values.instant(item.get("created"), zone),
        )


def tasks(body: Mapping[str, Any], zone: tzinfo) -> Iterator[Stored]:
    """Tasks that are not deleted."""
    for item in _items(body):
        if item.get("deleted") is True:
            continue
        yield Stored(
            id=str(item.get("id") or ""),
            title=values.text(_first(item, _TITLES) or ""),
            due=values.day(_first(item, _DUES)),
            touched=values.instant(item.get("updated"), zone),
            open=str(item.get("status")) not in {"completed", "done"} and not item.get("completed"),
        )


def rows(body: Mapping[str, Any], zone: tzinfo) -> Iterator[Stored]:
    """Rows that hold anything, with their number in the sheet; leading empty cells are kept."""
    del zone
    ranges = body.get("valueRanges")
    if isinstance(ranges, list):
        body = next((item for item in ranges if isinstance(item, Mapping)), {})
    match = _RANGE.match(str(body.get("range") or ""))
    first = int(match["row"]) if match and match["row"] else 1
    shift = _column(match["column"]) if match and match["column"] else 0
    found = body.get("values")
    for at, cells in enumerate(found if isinstance(found, list) else []):
        trimmed = trim(cells) if isinstance(cells, list) else (cells,)
        if trimmed:
            yield Stored(id=f"row {first + at}", cells=("",) * shift + trimmed, row=first + at)


def trim(cells: Any) -> tuple[Any, ...]:
    """Cells without the empty ones at the end."""
    kept = list(cells)
    while kept and kept[-1] in ("", None):
        kept.pop()
    return tuple(kept)


_READERS = {"calendar": events, "tasks": tasks, "sheets": rows}


def _first(item: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _day_and_time(item: Mapping[str, Any]) -> Any:
    """A day and a time in two fields, as some formatters answer."""
    told, clock = item.get("date"), item.get("time")
    return f"{told}T{clock}" if isinstance(told, str) and isinstance(clock, str) else told


def _written(start: Any) -> Any:
    return (start.get("date") or start.get("dateTime")) if isinstance(start, Mapping) else start


def _moment(value: Any, zone: tzinfo) -> datetime | None:
    told = value.get("dateTime") if isinstance(value, Mapping) else value
    return values.instant(told, zone)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
