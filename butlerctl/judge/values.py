"""When two values mean the same: instants, days, numbers, cells, text. Comparing text alone is never enough."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_MONEY = re.compile(r"[^\d-]{0,4}(-?\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+|-?\d+)([.,]\d{1,2})?[^\d]{0,4}")
# Google Sheets counts days from here.
_SHEETS_EPOCH = date(1899, 12, 30)
_SERIAL_DAYS = range(20_000, 80_000)


def instant(value: Any, zone: tzinfo) -> datetime | None:
    """The instant that a text names, or None. A time without an offset is read in `zone`; a bare day is none."""
    if not isinstance(value, str) or len(value) < 13:
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    if not 1900 < moment.year < 2200:  # no instant of a household, and some offsets would leave the calendar
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def has_no_offset(value: Any) -> bool:
    """Is this a time of day on a date, without the offset that would make it an instant?"""
    if not isinstance(value, str) or instant(value, UTC) is None:
        return False
    return datetime.fromisoformat(value.strip()).tzinfo is None


def day(value: Any) -> date | None:
    """The day as it is written at the beginning of a text; no zone moves it."""
    if not isinstance(value, str) or _DAY.match(value) is None:
        return None
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        return None


def number(value: Any) -> Decimal | None:
    """The number that a JSON number or a plain decimal text holds. True and False are no numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        plain = Decimal(str(value))
        return plain if plain.is_finite() else None
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return Decimal(value.strip())
    return None


def whole(value: Any) -> int | None:
    """A whole number, or its plain text. `5.0`, ` 5` and `05` are none, though a gateway takes them for five."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else None


def money(value: Any) -> Decimal | None:
    """As `number`, and also a text as a sheet shows it: `€ 64,30`, `1.200,50`, `1,200.50 kr`."""
    plain = number(value)
    if plain is not None or not isinstance(value, str):
        return plain
    match = _MONEY.fullmatch(value.strip())
    if match is None:
        return None
    whole = re.sub(r"[^\d-]", "", match[1])
    return Decimal(whole + (match[2] or "").replace(",", "."))


def text(value: Any) -> str:
    """A text without outer blanks, in one Unicode form."""
    return unicodedata.normalize("NFC", str(value)).strip()


def same(key: str, asked: Any, got: Any, zone: tzinfo) -> bool:
    """Does `got` mean what was `asked` under this name? `due` is a day as written; times are instants."""
    if asked is None or got is None:
        return asked is got
    if isinstance(asked, Mapping):
        return isinstance(got, Mapping) and all(
            same(inner, asked[inner], got.get(inner), zone) for inner in asked
        )
    if isinstance(asked, Sequence) and not isinstance(asked, str):
        return _same_list(asked, got, zone)
    return _same_scalar(key, asked, got, zone)


def differing(asked: Mapping[str, Any], given: Mapping[str, Any], zone: tzinfo) -> tuple[str, ...]:
    """The asked keys that are missing from what was given, or hold something else there."""
    return tuple(key for key in asked if not same(key, asked[key], given.get(key), zone))


def _same_scalar(key: str, asked: Any, got: Any, zone: tzinfo) -> bool:
    if key == "due" and day(asked):
        return day(asked) == day(got)
    if key == "limit":
        return whole(asked) is not None and whole(asked) == whole(got)
    for read in (lambda value: instant(value, zone), number):
        one, other = read(asked), read(got)
        if one is not None and other is not None:
            return bool(one == other)
    return type(asked) is type(got) and text(asked) == text(got)


def same_cell(asked: Any, stored: Any) -> bool:
    """Does a sheet's cell hold what was asked? 64.30 is 64.3 and `64,30`; a day may be stored as its serial."""
    if text(asked) == text(stored):
        return True
    numbers = number(asked), money(stored)
    if None not in numbers:
        return numbers[0] == numbers[1]
    serial = number(stored)
    if day(asked) and serial is not None and serial in _SERIAL_DAYS:
        return day(asked) == _SHEETS_EPOCH + timedelta(days=int(serial))
    return False


def texts_in(value: Any) -> list[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in texts_in(item)]
    return [text for item in value for text in texts_in(item)] if isinstance(value, list | tuple) else []


def _same_list(asked: Sequence[Any], got: Any, zone: tzinfo) -> bool:
    return (
        isinstance(got, Sequence)
        and not isinstance(got, str)
        and len(asked) == len(got)
        and all(same("", one, other, zone) for one, other in zip(asked, got, strict=True))
    )
