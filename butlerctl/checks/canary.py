"""The dated test object that a round trip makes and removes, and the plain words that ask for it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.evidence import Intent
from butlerctl.inventory.model import Profile
from butlerctl.inventory.operations import OPERATIONS

# No 0 1 I L O U: nothing that a person or a model mistakes for something else (facts: 30 symbols, 49 bits).
NONCE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
NONCE_PATTERN = r"BTLR-[2-9A-HJKMNP-TV-Z]{10}"

DAYS_AHEAD = 14
# A day that is this near to a change of the clocks is not taken: 01:30 may exist twice.
CLOCK_CHANGE_MARGIN = 2


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the agent: the words, and the call that they should lead to.

    `arguments` are those that matter; the agent may add others that the tool allows.
    """

    operation: str
    profile: str
    prompt: str
    arguments: Mapping[str, Any]

    def as_intent(self) -> Intent:
        """The `intent` of an evidence bundle."""
        return Intent(
            self.operation, self.profile, OPERATIONS[self.operation].tool, self.arguments, self.prompt
        )


@dataclass(frozen=True, slots=True)
class Canary:
    """A test object. `start` and `end` carry the household's zone; a task uses only the day of `start`."""

    nonce: str
    domain: str
    profile: str
    start: datetime
    end: datetime
    add: Request
    look: Request

    @property
    def title(self) -> str:
        return title_of(self.nonce)


def new_nonce() -> str:
    return "BTLR-" + "".join(secrets.choice(NONCE_ALPHABET) for _ in range(10))


def title_of(nonce: str) -> str:
    return f"butler check {nonce}"


def day_for_tests(today: date, zone: ZoneInfo) -> date:
    """A day some two weeks ahead, away from every change of the clocks."""
    day = today + timedelta(days=DAYS_AHEAD)
    while _clocks_change_near(day, zone):
        day += timedelta(days=1)
    return day


def new_canary(domain: str, profile: Profile, zone: ZoneInfo, today: date) -> Canary:
    """A canary for one person and domain, at an hour between 10:00 and 16:00 of the test day."""
    nonce = new_nonce()
    day = day_for_tests(today, zone)
    start = datetime.combine(day, time(10 + secrets.randbelow(5)), zone)
    end = start + timedelta(hours=1)
    add, look = _REQUESTS[domain](nonce, profile, start, end)
    return Canary(nonce, domain, profile.name, start, end, add, look)


def _clocks_change_near(day: date, zone: ZoneInfo) -> bool:
    noon = datetime.combine(day, time(12), zone)
    margin = timedelta(days=CLOCK_CHANGE_MARGIN)
    return len({(noon - margin).utcoffset(), noon.utcoffset(), (noon + margin).utcoffset()}) > 1


def _calendar(nonce: str, profile: Profile, start: datetime, end: datetime) -> tuple[Request, Request]:
    name, title = profile.name, title_of(nonce)
    day, hours = _day_in_words(start), f"from {start:%H:%M} to {end:%H:%M}"
    add = Request(
        "calendar_add",
        name,
        f'Please add "{title}" to the {name}\'s calendar on {day} {hours}.',
        {"profile": name, "summary": title, "start": start.isoformat(), "end": end.isoformat()},
    )
    early, late = start - timedelta(hours=1), end + timedelta(hours=1)
    look = Request(
        "calendar_list",
        name,
        f"What is in the {name}'s calendar on {day} between {early:%H:%M} and {late:%H:%M}?",
        {"profile": name, "start": early.isoformat(), "end": late.isoformat()},
    )
    return add, look


def _tasks(nonce: str, profile: Profile, start: datetime, end: datetime) -> tuple[Request, Request]:
    del end
    name, title = profile.name, title_of(nonce)
    add = Request(
        "tasks_add",
        name,
        f'Please add the task "{title}" to the {name}\'s task list, due on {_day_in_words(start)}.',
        {"profile": name, "title": title, "due": start.date().isoformat()},
    )
    look = Request("tasks_list", name, f"Which open tasks are on the {name}'s task list?", {"profile": name})
    return add, look


def _sheets(nonce: str, profile: Profile, start: datetime, end: datetime) -> tuple[Request, Request]:
    del start, end
    name, sheet = profile.name, profile.spreadsheet
    cells = [f"{nonce}-{chr(ord('a') + index)}" for index in range(len(sheet.columns))]
    row = ", ".join(f"{column} {cell}" for column, cell in zip(sheet.columns, cells, strict=True))
    add = Request(
        "sheets_append",
        name,
        f'Please append a row to the {name}\'s sheet "{sheet.verify_tab}": {row}.',
        {"profile": name, "sheet": sheet.verify_tab, "values": cells},
    )
    look = Request(
        "sheets_read",
        name,
        f'Please read the {name}\'s sheet "{sheet.verify_tab}" and tell me its rows.',
        {"profile": name, "sheet": sheet.verify_tab},
    )
    return add, look


_REQUESTS = {"calendar": _calendar, "tasks": _tasks, "sheets": _sheets}


def _day_in_words(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
