"""Which reads of Google decide: the last of each place, with all its pages, and the one before the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from butlerctl.judge import readback
from butlerctl.judge.asked import Asked
from butlerctl.judge.readback import Reading


def latest(readings: Sequence[Reading], when: str) -> list[Reading]:
    """The last readable read of each place: an earlier one that failed, or came too early, is overcome."""
    found: dict[tuple[str, str, str], Reading] = {}
    for reading in readings:
        if reading.when == when and reading.readable:
            key = reading.profile, reading.place, str(reading.document.get("eventId") or "")
            earlier = found.get(key)
            if earlier is not None and reading.continues:
                found[key] = replace(earlier, objects=earlier.objects + reading.objects, whole=reading.whole)
            else:
                found[key] = reading
    return list(found.values())


def own_places(readings: Sequence[Reading], profile: str, asked: Asked) -> list[Reading]:
    """The reads after the turn of the place that was asked for."""
    return [item for item in latest(readings, "after") if item.profile == profile and _is_asked(item, asked)]


def before(readings: Sequence[Reading], after: Reading) -> Reading | None:
    """The read of the same place before the turn."""
    same = [
        reading
        for reading in latest(readings, "before")
        if (reading.profile, reading.place) == (after.profile, after.place) and reading.whole
    ]
    return same[0] if same else None


def _is_asked(reading: Reading, asked: Asked) -> bool:
    """Whether this is the asked place; the readers mark another place of the same person as `misplaced`."""
    if reading.document.get("misplaced") is True:
        return False
    tab = readback.tab_of(reading)
    return reading.domain != "sheets" or not asked.tab or not tab or tab == asked.tab
