"""The effect of a read: is the answered list what the person's own place holds?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge import places, readback, values
from butlerctl.judge.asked import Asked
from butlerctl.judge.effect import Effect
from butlerctl.judge.readback import Reading, Stored

_NOT_A_CELL = frozenset({"row_number", "rowNumber", "__row", "_row"})


def effect_of_read(
    readings: Sequence[Reading],
    route: Route,
    asked: Asked,
    answered: tuple[Any, ...] | None,
    clock: datetime | None,
    zone: tzinfo,
) -> Effect:
    """The effect of a read: is the answered list what the own place holds?"""
    domain, profile = OPERATIONS[route.operation].domain, route.profile
    own = places.own_places(readings, profile, asked)
    others = [reading for reading in places.latest(readings, "after") if reading.profile != profile]
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
        earlier = [places.before(readings, reading) for reading in own]
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


def _due_items(reading: Reading, asked: Asked) -> tuple[Stored, ...]:
    """What a whole answer would list."""
    if reading.domain == "calendar":
        return tuple(item for item in reading.objects if _in_window(item, asked))
    if reading.domain == "tasks":
        return tuple(item for item in reading.objects if item.open)
    return tuple(item for item in reading.objects if item.row > 1 or not reading.header)


def _in_window(item: Stored, asked: Asked) -> bool:
    if item.start is None:
        ends = asked.end - timedelta(microseconds=1) if asked.end else None
        days = [moment.date() for moment in (asked.start, ends) if moment]
        last = item.until - timedelta(days=1) if item.until else item.due
        return not days or item.due is None or last is None or (item.due <= days[-1] and last >= days[0])
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
