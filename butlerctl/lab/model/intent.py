"""What kind of request a sentence is: its domain, and whether it reads or writes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from butlerctl.lab.model import words
from butlerctl.lab.model.dates import When, read_when
from butlerctl.lab.model.household import Household
from butlerctl.lab.model.sentence import Sentence

COURTESY = re.compile(rf"^(?:[\s,!.]*(?<!\w)(?:{words.COURTESY})(?!\w)[\s,!.]*)+", re.IGNORECASE)
_STARTS_READ = re.compile(rf"^[¿\s]*(?:{words.READ_VERBS}|{words.QUESTION_WORDS})(?!\w)", re.IGNORECASE)
_STARTS_WRITE = re.compile(rf"^[¡\s]*(?:{words.WRITE_VERBS})(?!\w)", re.IGNORECASE)
_STARTS_OTHER = re.compile(rf"^\s*(?:{words.OTHER_VERBS})(?!\w)", re.IGNORECASE)
_READ_ANYWHERE = words.pattern(words.READ_ANYWHERE)
WRITES = words.pattern(words.WRITE_VERBS)
_NOUNS: tuple[tuple[str, re.Pattern[str], int], ...] = (
    ("calendar", words.pattern(words.CALENDAR), 2),
    ("tasks", words.pattern(words.TASKS), 3),
    ("tasks", words.pattern(words.TASKS_WEAK), 1),
    ("sheets", words.pattern(words.SHEETS), 3),
    ("sheets", words.pattern(words.SHEETS_WEAK), 1),
)
_VERBS: Mapping[str, tuple[str, str]] = {
    "calendar": ("calendar_add", "calendar_list"),
    "tasks": ("tasks_add", "tasks_list"),
    "sheets": ("sheets_append", "sheets_read"),
}


@dataclass(slots=True)
class Request:
    """One request on its way to being understood."""

    sentence: Sentence
    household: Household
    when: When
    profile: str = ""


def prepare(text: str, household: Household) -> Request:
    sentence = Sentence(text, household.profiles)
    month_first = household.zone_name.startswith("America/")
    return Request(sentence, household, read_when(sentence.masked, household.today, month_first=month_first))


def operation_of(request: Request) -> str | None:
    """The operation that is asked for, or None where it is none of the six."""
    spoken = _spoken(request)
    domain = _domain(spoken, request)
    if domain is None:
        return None
    write, read = _VERBS[domain]
    return read if _reads(spoken) else write


def is_beyond_the_tools(request: Request) -> bool:
    """Whether something is to be removed or changed, which no tool can do."""
    return _STARTS_OTHER.search(_spoken(request)) is not None


def _spoken(request: Request) -> str:
    return COURTESY.sub("", request.sentence.masked)


def _reads(spoken: str) -> bool:
    """A question or a reading verb first means reading, a writing verb anywhere writing; a bare note is written."""
    if _STARTS_READ.search(spoken):
        return True
    if WRITES.search(spoken):
        return False
    return spoken.rstrip().endswith("?") or _READ_ANYWHERE.search(spoken) is not None


def _domain(spoken: str, request: Request) -> str | None:
    """Calendar, tasks or sheets, by nouns and by the names of lists and tabs; by the times where there are none."""
    scores = {"calendar": 0, "tasks": 0, "sheets": 0}
    for domain, pattern, weight in _NOUNS:
        scores[domain] += weight if pattern.search(spoken) else 0
    scores["sheets"] += 3 if named(request, request.household.tabs) is not None else 0
    scores["tasks"] += 2 if named(request, request.household.task_lists) is not None else 0
    has_event = request.when.event(request.household.zone) is not None
    scores["calendar"] += 1 if has_event else 0
    best = max(scores, key=lambda domain: scores[domain])
    if scores[best]:
        return best
    if not request.when.days and request.when.period is None:
        return None
    if _STARTS_READ.search(spoken):
        return "calendar"
    return "tasks" if _STARTS_WRITE.search(spoken) and not request.when.times else None


def named(request: Request, names: Sequence[str]) -> str | None:
    """The longest of these names that the text mentions. A verb at the head of the text is no name ("Log 5 …")."""
    courtesy = COURTESY.match(request.sentence.masked)
    head = courtesy.end() if courtesy is not None else 0
    for name in sorted(names, key=len, reverse=True):
        place = request.sentence.place_of(name)
        if place is not None and (place[0] > head or WRITES.fullmatch(name) is None):
            return name
    return None
