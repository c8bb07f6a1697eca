"""The effect of a write: the objects that it left in Google, and what of them is not as asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any

from butlerctl.judge import places, readback, values
from butlerctl.judge.asked import Asked
from butlerctl.judge.effect import Effect, Fault
from butlerctl.judge.readback import Reading, Stored

# An object that was touched earlier than this before the turn is not the turn's.
_SLACK = timedelta(minutes=10)


def effect_of_write(
    readings: Sequence[Reading],
    profile: str,
    asked: Asked,
    ids: Iterable[str],
    clock: datetime | None,
    zone: tzinfo,
) -> Effect:
    """The effect of a write whose answers named `ids`. `readings` are those of the operation's domain."""
    after = places.latest(readings, "after")
    own = places.own_places(readings, profile, asked)
    own_ids = frozenset(ids)
    found: list[tuple[Reading, Stored]] = []
    elsewhere: list[tuple[str, Stored]] = []
    stale = False
    for reading in after:
        before = places.before(readings, reading)
        for stored in _candidates(reading, asked, own_ids):
            if not _is_fresh(stored, reading, before, asked, clock, zone):
                stale = stale or reading in own
            elif reading in own:
                found.append((reading, stored))
            else:
                elsewhere.append((reading.profile, stored))
    deciding = [reading for reading in own if readback.covers(reading, asked.start, zone)]
    known = bool(found) or any(not reading.by_id or reading.absent or reading.objects for reading in deciding)
    ambiguous = (
        len(found) > 1 and bool(asked.cells) and any(not places.before(readings, item[0]) for item in found)
    )
    faults = _faults(found[0][1], asked, zone) + _moved(readings, *found[0]) if len(found) == 1 else ()
    return Effect(
        known=known and not ambiguous,
        found=() if ambiguous else tuple(stored for _, stored in found),
        elsewhere=tuple(elsewhere),
        stale=stale,
        faults=faults,
        documents=tuple(reading.document for reading in (after if elsewhere else own)),
    )


def matches(stored: Stored, asked: Asked, ids: frozenset[str], domain: str) -> bool:
    """Is this an object that was asked for, by its title or cells, or by an id that an answer named?"""
    if domain == "sheets":
        return _place_in_row(stored.cells, asked.cells) is not None
    return (bool(asked.title) and stored.title == asked.title) or (bool(stored.id) and stored.id in ids)


def _candidates(reading: Reading, asked: Asked, ids: frozenset[str]) -> list[Stored]:
    """The objects of a place that may be the asked one; a row that only resembles it counts where no other is it."""
    like = [stored for stored in reading.objects if matches(stored, asked, ids, reading.domain)]
    exact = [stored for stored in like if asked.cells and _place_in_row(stored.cells, asked.cells) == 0]
    return exact or like


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
        return stored.row > _last_row(before) or stored.row in _added(reading, before, stored)
    if before is not None:
        return stored.id not in {item.id for item in before.objects}
    if stored.touched is not None and clock is not None:
        return stored.touched >= clock - _SLACK
    return reading.domain == "sheets" or not _faults(stored, asked, zone)


def _added(reading: Reading, before: Reading, stored: Stored) -> list[int]:
    """Of the rows with the same cells those that came in addition: the last ones."""
    same = [item.row for item in reading.objects if _key(item.cells) == _key(stored.cells)]
    return same[_count(before, stored) :]


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
                "its cells in the order of the sheet's columns, from the first on",
                f"{stored.id} with {_shown(stored)}",
            )
        )
    return tuple(faults)


def _moved(readings: Sequence[Reading], reading: Reading, stored: Stored) -> tuple[Fault, ...]:
    """Did the row take the place of another, or change the headers?"""
    before = places.before(readings, reading)
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


def _moment(moment: datetime | None, zone: tzinfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M} ({zone})" if moment else "none"


def _moment_of(stored: Stored, zone: tzinfo) -> str:
    return f"all day on {stored.due}" if stored.all_day else _moment(stored.start, zone)


def _shown(stored: Stored) -> str:
    return str([values.text(cell) for cell in stored.cells])[:120]
