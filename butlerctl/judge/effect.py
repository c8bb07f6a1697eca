"""What the independent reads of Google prove about one operation: the object of a write, the list of a read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any

from butlerctl.evidence import Document
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge import readback, values
from butlerctl.judge.readback import Reading, Stored

# An object that was touched earlier than this before the turn is not the turn's.
_SLACK = timedelta(minutes=10)
_TITLES = ("summary", "title", "name", "subject", "text")
_STARTS = ("start", "start_time", "startTime", "from", "timeMin", "time_min", "date")
_ENDS = ("end", "end_time", "endTime", "to", "until", "timeMax", "time_max")
_CELLS = ("values", "row", "cells")
_NOT_A_CELL = frozenset({"row_number", "rowNumber", "__row", "_row"})


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of the object that is not as asked: the check that it breaks, what was asked and what is stored."""

    check: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the operation asked for, in the judge's terms."""

    title: str = ""
    start: datetime | None = None
    end: datetime | None = None
    all_day: str = ""
    due: str = ""
    cells: tuple[Any, ...] = ()
    tab: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What Google holds because of the operation.

    `known`: a read of the person's own place, after the turn, decides. For a write `found` are the objects of
    the turn in the own place, `elsewhere` those with whose account, `stale` that such an object was there before.
    For a read `equal` says whether the answer is what the place holds, `like` whose place it equals instead;
    `items` are what the place holds, or what was answered when the place was not read.
    """

    known: bool = False
    found: tuple[Stored, ...] = ()
    elsewhere: tuple[tuple[str, Stored], ...] = ()
    stale: bool = False
    faults: tuple[Fault, ...] = ()
    equal: bool | None = None
    difference: str = ""
    like: str = ""
    items: tuple[Stored, ...] = ()
    indistinct: bool = False
    documents: tuple[Document, ...] = ()

    @property
    def as_asked(self) -> bool:
        """Exactly one object, in the right place, with the asked fields; or an answer equal to the place."""
        if self.equal is not None:
            return self.known and self.equal
        return self.known and len(self.found) == 1 and not self.faults and not self.elsewhere

    @property
    def copies(self) -> int:
        return len(self.found) + len(self.elsewhere)

    @property
    def absent(self) -> bool:
        return self.known and self.equal is None and not self.copies


def asked_of(arguments: Mapping[str, Any], zone: tzinfo) -> Asked:
    """The asked fields, under the names that tools give them."""
    start, cells = _first(arguments, _STARTS), _first(arguments, _CELLS)
    limit = arguments.get("limit")
    is_day = isinstance(start, str) and len(start) == 10 and values.day(start) is not None
    return Asked(
        title=values.text(_first(arguments, _TITLES) or ""),
        start=values.instant(start, zone),
        end=values.instant(_first(arguments, _ENDS), zone),
        all_day=start if is_day else "",
        due=str(arguments.get("due") or ""),
        cells=tuple(cells.values()) if isinstance(cells, Mapping) else _tuple(cells),
        tab=str(arguments.get("sheet") or ""),
        limit=int(str(limit)) if str(limit).isdecimal() else None,
    )


def of_write(
    readings: Sequence[Reading],
    profile: str,
    asked: Asked,
    ids: Iterable[str],
    clock: datetime | None,
    zone: tzinfo,
) -> Effect:
    """The effect of a write whose answers named `ids`. `readings` are those of the operation's domain."""
    after = _latest(readings, "after")
    own = [reading for reading in after if reading.profile == profile and _in_tab(reading, asked)]
    own_ids = frozenset(ids)
    found: list[tuple[Reading, Stored]] = []
    elsewhere: list[tuple[str, Stored]] = []
    stale = False
    for reading in after:
        before = _before(readings, reading)
        for stored in reading.objects:
            if not _matches(stored, asked, own_ids, reading.domain):
                continue
            if not _is_fresh(stored, reading, before, asked, clock, zone):
                stale = stale or reading in own
            elif reading in own:
                found.append((reading, stored))
            else:
                elsewhere.append((reading.profile, stored))
    deciding = [reading for reading in own if readback.covers(reading, asked.start, zone)]
    known = bool(found) or any(not reading.by_id or reading.absent or reading.objects for reading in deciding)
    ambiguous = len(found) > 1 and bool(asked.cells) and any(not _before(readings, item[0]) for item in found)
    faults = _faults(found[0][1], asked, zone) + _moved(readings, *found[0]) if len(found) == 1 else ()
    return Effect(
        known=known and not ambiguous,
        found=tuple(stored for _, stored in found),
        elsewhere=tuple(elsewhere),
        stale=stale,
        faults=faults,
        documents=tuple(reading.document for reading in (after if elsewhere else own)),
    )


def of_read(
    readings: Sequence[Reading],
    route: Route,
    asked: Asked,
    answered: tuple[Any, ...] | None,
    clock: datetime | None,
    zone: tzinfo,
) -> Effect:
    """The effect of a read: is the answered list what the own place holds?"""
    domain, profile = OPERATIONS[route.operation].domain, route.profile
    after = _latest(readings, "after")
    own = [reading for reading in after if reading.profile == profile and _in_tab(reading, asked)]
    others = [reading for reading in after if reading.profile != profile]
    documents = tuple(reading.document for reading in own)
    if not own:
        return Effect(items=_told(answered or (), domain, (), zone))
    items = tuple(item for reading in own for item in _due_items(reading, asked))
    if answered is None:
        return Effect(
            known=True, equal=False, items=items, documents=documents, difference="no list was answered"
        )
    told = _told(answered, domain, own[0].header, zone)
    differences = [_difference(reading, told, asked, clock) for reading in own]
    equal = "" in differences
    if not equal:
        earlier = [_before(readings, reading) for reading in own]
        equal = any(_difference(reading, told, asked, clock) == "" for reading in earlier if reading)
    like = {reading.profile for reading in others if not _difference(reading, told, asked, clock)}
    return Effect(
        known=True,
        equal=equal,
        difference="" if equal else differences[0],
        like="" if equal or not told else next(iter(sorted(like)), ""),
        items=items,
        indistinct=equal and bool(like),
        documents=documents,
    )


def _latest(readings: Sequence[Reading], when: str) -> list[Reading]:
    """The last readable read of each place: an earlier one that failed, or came too early, is overcome."""
    latest: dict[tuple[str, str, str], Reading] = {}
    for reading in readings:
        if reading.when == when and reading.readable:
            latest[reading.profile, reading.place, str(reading.document.get("eventId") or "")] = reading
    return list(latest.values())


def _before(readings: Sequence[Reading], after: Reading) -> Reading | None:
    same = [
        reading
        for reading in _latest(readings, "before")
        if (reading.profile, reading.place) == (after.profile, after.place) and reading.whole
    ]
    return same[0] if same else None


def _in_tab(reading: Reading, asked: Asked) -> bool:
    """Whether this is the asked place; the readers mark another place of the same person as `misplaced`."""
    if reading.document.get("misplaced") is True:
        return False
    tab = readback.tab_of(reading)
    return reading.domain != "sheets" or not asked.tab or not tab or tab == asked.tab


def _matches(stored: Stored, asked: Asked, ids: frozenset[str], domain: str) -> bool:
    if domain == "sheets":
        return _place_in_row(stored.cells, asked.cells) is not None
    return (bool(asked.title) and stored.title == asked.title) or (bool(stored.id) and stored.id in ids)


def _is_fresh(
    stored: Stored,
    reading: Reading,
    before: Reading | None,
    asked: Asked,
    clock: datetime | None,
    zone: tzinfo,
) -> bool:
    """Did it come into being in this turn?"""
    if before is not None and reading.domain == "sheets":
        return _count(reading, stored) > _count(before, stored) or stored.row > _last_row(before)
    if before is not None:
        return stored.id not in {item.id for item in before.objects}
    if stored.touched is not None and clock is not None:
        return stored.touched >= clock - _SLACK
    return reading.domain == "sheets" or not _faults(stored, asked, zone)


def _count(reading: Reading, stored: Stored) -> int:
    return Counter(_key(item.cells) for item in reading.objects)[_key(stored.cells)]


def _last_row(reading: Reading) -> int:
    return max((item.row for item in reading.objects), default=0)


def _key(cells: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(values.text(cell) for cell in cells)


def _faults(stored: Stored, asked: Asked, zone: tzinfo) -> tuple[Fault, ...]:
    faults = []
    if asked.title and stored.title != asked.title:
        faults.append(
            Fault("google.object_found", f'the title "{asked.title}"', f'the title "{stored.title}"')
        )
    if asked.start and (stored.all_day or stored.start != asked.start):
        faults.append(Fault("google.right_time", _moment(asked.start, zone), _moment_of(stored, zone)))
    elif asked.end and not stored.all_day and stored.end != asked.end:
        faults.append(
            Fault("google.right_time", f"end {_moment(asked.end, zone)}", f"end {_moment(stored.end, zone)}")
        )
    if asked.all_day and not (stored.all_day and stored.due == values.day(asked.all_day)):
        faults.append(Fault("google.right_time", f"all day on {asked.all_day}", _moment_of(stored, zone)))
    if asked.due and stored.due != values.day(asked.due):
        faults.append(
            Fault("google.right_time", f"due {values.day(asked.due)}", f"due {stored.due or 'on no day'}")
        )
    if asked.cells and _place_in_row(stored.cells, asked.cells) != 0:
        faults.append(
            Fault(
                "google.right_place",
                "the cells in the sheet's first columns",
                f"{stored.id} holds {_shown(stored)}",
            )
        )
    return tuple(faults)


def _moved(readings: Sequence[Reading], reading: Reading, stored: Stored) -> tuple[Fault, ...]:
    """Did the row take the place of another, or change the headers?"""
    before = _before(readings, reading)
    if reading.domain != "sheets" or before is None:
        return ()
    if before.header and reading.header and _key(before.header) != _key(reading.header):
        return (Fault("google.right_place", f"the headers {list(before.header)}", f"{list(reading.header)}"),)
    replaced = next((item for item in before.objects if item.row == stored.row), None)
    if replaced and _count(reading, replaced) < _count(before, replaced):
        return (Fault("google.right_place", "a new row", f"{stored.id} took the place of another row"),)
    return ()


def _place_in_row(cells: tuple[Any, ...], asked: tuple[Any, ...]) -> int | None:
    """Where the asked cells begin in a row: 0 where they belong, -1 when they are there in another order or in part."""
    if not asked or not cells:
        return None
    for shift in range(max(len(cells) - len(asked) + 1, 1)):
        part = cells[shift : shift + len(asked)]
        if len(part) == len(asked) and all(map(values.same_cell, asked, part)):
            return shift
    there = sum(any(values.same_cell(want, cell) for cell in cells) for want in asked)
    return -1 if there > 1 and there >= len(asked) - 1 and there > len(asked) / 2 else None


def _due_items(reading: Reading, asked: Asked) -> tuple[Stored, ...]:
    """What a whole answer would list."""
    if reading.domain == "calendar":
        return tuple(item for item in reading.objects if _in_window(item, asked))
    if reading.domain == "tasks":
        return tuple(item for item in reading.objects if item.open)
    return tuple(item for item in reading.objects if item.row > 1 or not reading.header)


def _in_window(item: Stored, asked: Asked) -> bool:
    if item.start is None:
        days = [moment.date() for moment in (asked.start, asked.end) if moment]
        return not days or item.due is None or days[0] <= item.due <= days[-1]
    late = asked.end is None or item.start < asked.end
    return late and (
        asked.start is None or (item.end or item.start) > asked.start or item.start == asked.start
    )


def _told(
    answered: tuple[Any, ...], domain: str, header: tuple[Any, ...], zone: tzinfo
) -> tuple[Stored, ...]:
    """The items of an answer in the judge's form."""
    if domain == "sheets":
        return tuple(Stored(id="", cells=row) for item in answered if (row := _row(item, header)))
    reader = readback.events if domain == "calendar" else readback.tasks
    return tuple(reader({"items": list(answered)}, zone))


def _row(item: Any, header: tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(item, Mapping):
        names = [str(name) for name in header]
        if names and any(name in item for name in names):
            return readback.trim([item.get(name, "") for name in names])
        return readback.trim([value for key, value in item.items() if key not in _NOT_A_CELL])
    return readback.trim(item) if isinstance(item, list) else (item,)


def _difference(reading: Reading, told: tuple[Stored, ...], asked: Asked, clock: datetime | None) -> str:
    """In words, what tells the answer from the place; empty when they are equal."""
    if reading.domain == "sheets":
        return _difference_of_rows(reading, told, asked)
    due = _due_items(reading, asked)
    extra = [item for item in told if not any(_same_item(item, other) for other in reading.objects)]
    if extra:
        return f'the answer lists "{extra[0].title}", which the read-back does not hold so'
    missing = [item for item in due if not any(_same_item(other, item) for other in told)]
    if asked.start is None and asked.end is None and reading.domain == "calendar":
        missing = [item for item in missing if not told and clock and item.start and item.start >= clock]
    cut = asked.limit is not None and len(told) >= asked.limit
    return f'the answer lacks "{missing[0].title}"' if missing and not cut else ""


def _difference_of_rows(reading: Reading, told: tuple[Stored, ...], asked: Asked) -> str:
    rows = [item.cells for item in reading.objects]
    bodies = [rows, rows[1:]] if reading.header else [rows]
    for body in bodies:
        wanted = [body] if asked.limit is None else [body[: asked.limit], body[-asked.limit :]]
        if any(_same_rows(part, [item.cells for item in told]) for part in wanted):
            return ""
    return f"the answer has {len(told)} rows, the read-back {len(bodies[-1])}, or their cells differ"


def _same_rows(one: Sequence[tuple[Any, ...]], other: Sequence[tuple[Any, ...]]) -> bool:
    return len(one) == len(other) and all(
        len(left) == len(right) and all(map(values.same_cell, left, right))
        for left, right in zip(one, other, strict=True)
    )


def _same_item(told: Stored, held: Stored) -> bool:
    if told.id and held.id and told.id != held.id:
        return False
    if told.title and told.title != held.title:
        return False
    times = told.start is None or told.all_day or told.start == held.start
    return times and (told.due is None or told.due == held.due or told.start is not None)


def _moment(moment: datetime | None, zone: tzinfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M} ({zone})" if moment else "none"


def _moment_of(stored: Stored, zone: tzinfo) -> str:
    return f"all day on {stored.due}" if stored.all_day else _moment(stored.start, zone)


def _shown(stored: Stored) -> str:
    return str([values.text(cell) for cell in stored.cells])[:120]


def _first(arguments: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((arguments[name] for name in names if arguments.get(name) is not None), None)


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()
