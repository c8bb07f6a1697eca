"""Instants and dates as Google reads and writes them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})?")
SHEETS_EPOCH = date(1899, 12, 30)


def parse_instant(text: str) -> datetime | None:
    """An RFC 3339 time; naive when it carries no offset, None when it is none."""
    if not _INSTANT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


def parse_zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def render_instant(instant: datetime, zone: ZoneInfo) -> str:
    """With the offset of the zone at that instant, `Z` where it is zero: `2026-07-11T10:00:00+02:00`."""
    local = instant.astimezone(zone)
    text = local.isoformat(timespec="seconds")
    return text.removesuffix("+00:00") + "Z" if local.utcoffset() == timedelta(0) else text


def stamp(instant: datetime) -> str:
    """`created` and `updated`: UTC with milliseconds."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def serial_of(day: date) -> int:
    """The number that Sheets keeps for a date: 2026-12-04 is 46360."""
    return (day - SHEETS_EPOCH).days
