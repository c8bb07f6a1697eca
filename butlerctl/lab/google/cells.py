"""One cell: what entering a text makes of it, and how it is shown again (locale en_US)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from butlerctl.lab.google.times import SHEETS_EPOCH, serial_of

_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)?(\.\d+)?([eE][+-]?\d+)?")
_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_US_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")


@dataclass(frozen=True, slots=True)
class Cell:
    """A typed value. A date is its serial number with the `pattern` it is shown in; formulas are not computed."""

    value: str | float | bool
    pattern: str = ""
    formula: str = ""

    def formatted(self) -> str:
        """As a person sees it: FORMATTED_VALUE."""
        if self.pattern:
            return self._as_date()
        if isinstance(self.value, bool):
            return str(self.value).upper()
        return self.value if isinstance(self.value, str) else _plain(self.value)

    def render(self, value_option: str, date_option: str) -> Any:
        """As values.get shows it under the two render options."""
        if value_option == "FORMATTED_VALUE":
            return self.formatted()
        if value_option == "FORMULA" and self.formula:
            return self.formula
        if self.pattern and date_option == "FORMATTED_STRING":
            return self._as_date()
        if isinstance(self.value, float) and self.value.is_integer():
            return int(self.value)
        return self.value

    def _as_date(self) -> str:
        day = SHEETS_EPOCH + timedelta(days=int(self.value))
        return day.isoformat() if self.pattern == "yyyy-mm-dd" else f"{day.month}/{day.day}/{day.year}"


def enter(value: Any, option: str) -> Cell | None:
    """What a value of a request becomes: RAW keeps text, USER_ENTERED reads it as if typed. None: an empty cell."""
    if isinstance(value, bool):
        return Cell(value)
    if isinstance(value, int | float):
        return Cell(float(value))
    text = str(value)
    if not text:
        return None
    return _typed(text) if option == "USER_ENTERED" else Cell(text)


def _typed(text: str) -> Cell:
    if text.startswith("'"):
        return Cell(text[1:])
    if text.startswith("=") and len(text) > 1:
        return Cell("#ERROR!", formula=text)
    if text.upper() in {"TRUE", "FALSE"}:
        return Cell(text.upper() == "TRUE")
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped) and any(char.isdigit() for char in stripped):
        return Cell(float(stripped.replace(",", "")))
    return _typed_date(stripped) or Cell(text)


def _typed_date(text: str) -> Cell | None:
    iso, us = _ISO_DATE.fullmatch(text), _US_DATE.fullmatch(text)
    try:
        if iso:
            return Cell(float(serial_of(date(int(iso[1]), int(iso[2]), int(iso[3])))), "yyyy-mm-dd")
        if us:
            return Cell(float(serial_of(date(int(us[3]), int(us[1]), int(us[2])))), "m/d/yyyy")
    except ValueError:
        return None
    return None


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.10g}"
