"""What an operation asked for, in the judge's terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from butlerctl.judge import values

_TITLES = ("summary", "title", "name", "subject", "text")
_STARTS = ("start", "start_time", "startTime", "from", "timeMin", "time_min", "date")
_ENDS = ("end", "end_time", "endTime", "to", "until", "timeMax", "time_max")
_CELLS = ("values", "row", "cells")


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


def _first(arguments: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((arguments[name] for name in names if arguments.get(name) is not None), None)


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()
