"""Days, times and durations in a sentence.

A grammar of its own rather than a date library: a request needs to know which time is the start and which the end,
and where in the text each stood (what is left is the title); general parsers drop ranges or misread them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple, TypeVar

from butlerctl.lab.model import time_patterns, words

_Day = TypeVar("_Day", bound=date)
_YEARS = range(1900, 3000)
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_MINUTES_PAST = {
    "half past": 30,
    "quarter past": 15,
    "quarter to": -15,
    "halb": -30,
    "viertel nach": 15,
    "viertel vor": -15,
    "y media": 30,
    "y cuarto": 15,
    "et demi": 30,
    "et demie": 30,
    "et quart": 15,
}
_ARTICLES = frozenset({"ein", "eine", "einen", "einer", "un", "una", "une"})
_MIDNIGHTS = frozenset({"midnight", "mitternacht", "medianoche", "minuit"})
# "à 10 heures" and "a las 10 horas" are clocks, unless a word says that something lasts so long.
_CLOCK_UNITS = ("heure", "hora", "h")


class Clock(NamedTuple):
    """A time of day as written. `certain` unless it is a bare number; `half` is am, pm or empty."""

    hour: int
    minute: int
    certain: bool
    half: str = ""

    @property
    def minutes(self) -> int:
        """Minutes since midnight."""
        hour = self.hour
        if self.half == "pm" and hour < 12:
            hour += 12
        elif self.half == "am" and hour == 12:
            hour = 0
        return hour * 60 + self.minute

    def time_of_day(self) -> time:
        return time(self.minutes // 60 % 24, self.minutes % 60)


@dataclass(slots=True)
class When:
    """What a text says about time, each kind in the order of mention. `spans` are the places in the text."""

    days: list[date] = field(default_factory=list)
    times: list[time] = field(default_factory=list)
    instants: list[datetime] = field(default_factory=list)
    duration: timedelta | None = None
    period: tuple[date, date] | None = None
    """First day of a named stretch such as "next week", and the day after its last."""
    spans: list[tuple[int, int]] = field(default_factory=list)

    def event(self, zone: tzinfo) -> tuple[datetime, datetime] | None:
        """Start and end of one event, or None where something is missing."""
        start = self.start(zone)
        if start is None:
            return None
        end = self.instants[1] if len(self.instants) > 1 else self._end(start, zone)
        return None if end is None else (start, end)

    def start(self, zone: tzinfo) -> datetime | None:
        if self.instants:
            return self.instants[0]
        if self.days and self.times:
            return datetime.combine(self.days[0], self.times[0], zone)
        return None

    def _end(self, start: datetime, zone: tzinfo) -> datetime | None:
        ends = self.times if self.instants else self.times[1:]
        if ends:
            last_day = self.days[1] if len(self.days) > 1 else start.date()
            end = datetime.combine(last_day, ends[0], zone)
            return end if end > start else end + _DAY
        if self.duration is not None:
            return (start.astimezone(UTC) + self.duration).astimezone(start.tzinfo)
        return None

    def window(self, zone: tzinfo) -> tuple[datetime, datetime] | None:
        """The stretch that a question is about: whole days unless times are named. None: it names none."""
        event = self.event(zone)
        if event is not None:
            return event
        first, after = self.period or (None, None)
        if self.days:
            first, after = min(self.days), max(self.days) + _DAY
        if first is None or after is None:
            return None
        return datetime.combine(first, time(), zone), datetime.combine(after, time(), zone)


def read_when(text: str, today: date, *, month_first: bool = False) -> When:
    """What `text` says about time, seen from `today`. `month_first`: 7/4/2026 is the fourth of July."""
    return _Reader(text, today, month_first=month_first).read()


class _Reader:
    """Reads one text, kind by kind; what was understood is blanked out, so that nothing is read twice."""

    def __init__(self, text: str, today: date, *, month_first: bool) -> None:
        self._rest = text
        self._today = today
        self._month_first = month_first
        self._when = When()
        self._days: list[tuple[int, date]] = []
        self._clocks: list[tuple[int, Clock]] = []

    def read(self) -> When:
        self._read_instants()
        self._read_written_days()
        self._read_relative_days()
        self._add_days(time_patterns.WEEKDAY_ALONE, self._next_weekday)
        self._read_durations()
        self._read_clocks()
        self._read_halves_of_the_day()
        self._when.days = [day for _, day in sorted(self._days)]
        self._when.times = [
            clock.time_of_day() for _, clock in sorted(self._clocks) if clock.minutes <= 24 * 60
        ]
        return self._when

    def _blank(self, match: re.Match[str]) -> None:
        start, end = match.span()
        self._when.spans.append((start, end))
        self._rest = self._rest[:start] + "\x00" * (end - start) + self._rest[end:]

    def _add_days(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], date | None]) -> None:
        for match in pattern.finditer(self._rest):
            day = read(match)
            if day is not None:
                self._days.append((match.start(), day))
                self._blank(match)

    def _read_instants(self) -> None:
        for match in time_patterns.INSTANT.finditer(self._rest):
            moment = _valid(lambda text=match[0]: datetime.fromisoformat(text.upper()))  # type: ignore[misc]
            if moment is None:
                continue
            if moment.tzinfo is not None:
                self._when.instants.append(moment)
            else:
                self._days.append((match.start(), moment.date()))
                self._clocks.append((match.start(), Clock(moment.hour, moment.minute, certain=True)))
            self._blank(match)

    def _read_written_days(self) -> None:
        for pattern in (time_patterns.DAYS_OF_MONTH, time_patterns.MONTH_AND_DAYS):
            for match in pattern.finditer(self._rest):
                ends = [self._dated(match[group], match["mon"], match["y"]) for group in ("d1", "d2")]
                self._days += [(match.start() + n, day) for n, day in enumerate(ends) if day is not None]
                self._blank(match)
        self._add_days(time_patterns.ISO_DAY, lambda m: _valid(lambda: date.fromisoformat(m["iso"])))
        for pattern in (time_patterns.DAY_MONTH, time_patterns.MONTH_DAY):
            self._add_days(pattern, lambda m: self._dated(m["d"], m["mon"], m["y"]))
        for pattern in (time_patterns.NUMERIC_DAY, time_patterns.SHORT_NUMERIC_DAY):
            self._add_days(pattern, self._numeric)
        self._add_days(time_patterns.DAY_OF_MONTH, self._day_of_month)

    def _dated(self, day: str, month: str, year: str | None) -> date | None:
        return self._next_date(int(day), words.MONTHS[month.rstrip(".").lower()], int(year) if year else None)

    def _next_date(self, day: int, month: int, year: int | None) -> date | None:
        """A day of a year; without a year the next one that is not past."""
        years = [year] if year is not None else range(self._today.year, self._today.year + 9)
        for candidate in years:
            found = _valid(lambda y=candidate: date(y, month, day))  # type: ignore[misc]
            if found is not None and (year is not None or found >= self._today):
                return found
        return None

    def _numeric(self, match: re.Match[str]) -> date | None:
        first, second = int(match["a"]), int(match["b"])
        american = second > 12 or (self._month_first and match["sep"] == "/" and first <= 12)
        day, month = (second, first) if american else (first, second)
        year = int(match["y"]) if match["y"] else None
        return self._next_date(day, month, year + 2000 if year is not None and year < 100 else year)

    def _day_of_month(self, match: re.Match[str]) -> date | None:
        number, weekday = int(match["d1"] or match["d2"] or match["d3"]), match["weekday"]
        for ahead in range(370):
            day = self._today + ahead * _DAY
            if day.day == number and (not weekday or day.weekday() == words.WEEKDAYS[weekday.lower()]):
                return day
        return None

    def _next_weekday(self, match: re.Match[str]) -> date | None:
        """The first such day after today. Beside a date it only decorates it."""
        if self._days or self._when.instants:
            return None
        ahead = (words.WEEKDAYS[match["weekday"].lower()] - self._today.weekday()) % 7
        return self._today + (ahead or 7) * _DAY

    def _read_relative_days(self) -> None:
        for match in time_patterns.PERIOD.finditer(self._rest):
            self._when.period = self._period(match)
            self._blank(match)
        self._add_days(
            time_patterns.IN_DAYS,
            lambda m: self._today + int(_number(m["n"])) * (_WEEK if m["week"] else _DAY),
        )
        self._add_days(
            time_patterns.RELATIVE_DAY, lambda m: self._today + words.RELATIVE_DAYS[m["day"].lower()] * _DAY
        )

    def _period(self, match: re.Match[str]) -> tuple[date, date]:
        monday = self._today - self._today.weekday() * _DAY
        if match["days"]:
            return self._today, self._today + int(match["days"]) * _DAY
        if match["this"]:
            return self._today, monday + _WEEK
        return monday + _WEEK, monday + 2 * _WEEK

    def _read_durations(self) -> None:
        for match in time_patterns.DURATION.finditer(self._rest):
            clock_like = match["unit"].lower().rstrip("s") in _CLOCK_UNITS and not match["half"]
            if match["intro"] or not clock_like:
                self._when.duration = _length(match)
                self._blank(match)

    def _read_clocks(self) -> None:
        for pattern in (time_patterns.BETWEEN, time_patterns.FROM_TO, time_patterns.AT):
            for match in pattern.finditer(self._rest):
                clocks = _clocks_of(match)
                if clocks and (match["intro"] or any(clock.certain for clock in clocks)):
                    self._clocks += [(match.start() + n, clock) for n, clock in enumerate(clocks)]
                    self._blank(match)

    def _read_halves_of_the_day(self) -> None:
        for pattern, half in ((time_patterns.AFTERNOON, "pm"), (time_patterns.MORNING, "am")):
            for match in pattern.finditer(self._rest):
                self._clocks = [
                    (at, clock if clock.half or clock.hour > 11 else clock._replace(half=half))
                    for at, clock in self._clocks
                ]
                self._blank(match)


def _clocks_of(match: re.Match[str]) -> list[Clock]:
    """The one or two clocks of a match, or none where one of them is no time of day."""
    tags = [tag for tag in ("1", "2") if f"h{tag}" in match.re.groupindex]
    clocks = [clock for clock in (_clock(match, tag) for tag in tags) if clock is not None]
    return _same_half(clocks) if len(clocks) == len(tags) else []


def _clock(match: re.Match[str], tag: str) -> Clock | None:
    name, hour_word = match[f"name{tag}"], match[f"h{tag}"]
    if name:
        return Clock(0 if name.lower() in _MIDNIGHTS else 12, 0, certain=True)
    shift = _MINUTES_PAST.get((match[f"past{tag}"] or match[f"y{tag}"] or "").lower(), 0)
    half = (match[f"half{tag}"] or "").replace(".", "").lower()
    minute = match[f"m{tag}"] or match[f"n{tag}"]
    certain = bool(minute or half or shift or match[f"mark{tag}"])
    hour = int(_number(hour_word))
    if (hour_word.lower() in _ARTICLES and not certain) or (half and not 1 <= hour <= 12):
        return None
    total = hour * 60 + int(minute or 0) + shift
    return Clock(total // 60, total % 60, certain, half)


def _same_half(clocks: list[Clock]) -> list[Clock]:
    """`10 to 11 am` and `2-3pm` say the half once; `11-1pm` goes over noon."""
    if len(clocks) < 2 or clocks[0].half or not clocks[1].half:
        return clocks
    start, end = clocks
    same = start._replace(half=end.half)
    return [same if same.minutes < end.minutes else start._replace(half="am"), end]


def _length(match: re.Match[str]) -> timedelta:
    unit = timedelta(minutes=1) if match["unit"].lower().startswith("min") else timedelta(hours=1)
    count = 0.5 if match["half"] else _number(match["n"])
    return unit * (count + (0.5 if match["more"] else 0)) + timedelta(minutes=int(match["minutes"] or 0))


def _number(text: str) -> float:
    word = text.lower()
    special = {"a": 1.0, "an": 1.0, "anderthalb": 1.5}
    return special.get(word) or float(words.NUMBERS.get(word) or word.replace(",", "."))


def _valid(make: Callable[[], _Day]) -> _Day | None:
    """The day or moment, or None where there is none such, or none that a household plans."""
    try:
        made = make()
    except ValueError:
        return None
    return made if made.year in _YEARS else None
