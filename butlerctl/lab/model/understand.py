"""From a household request in plain words to one tool call, a question, or nothing to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from butlerctl.inventory.operations import OPERATIONS
from butlerctl.lab.model import rows, words
from butlerctl.lab.model.household import Household
from butlerctl.lab.model.intent import (
    COURTESY,
    WRITES,
    Request,
    is_beyond_the_tools,
    named,
    operation_of,
    prepare,
)
from butlerctl.lab.model.people import find_profile
from butlerctl.lab.model.sentence import first_quote


@dataclass(frozen=True, slots=True)
class Wanted:
    """One call that is due."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unclear:
    """A call is due, but cannot be made. `missing` is the tool itself, or what was not said: profile, start, end,
    title, sheet or values.
    """

    tool: str
    missing: str


_CONTAINER = words.pattern(words.CONTAINERS)
_REPORTING = re.compile(words.REPORTING_CLAUSE, re.IGNORECASE)
_LIMIT = re.compile(words.LIMITS, re.IGNORECASE)
_TITLE_LABEL = words.pattern(words.TITLE_LABELS)
_ROW_WORDS = words.pattern(words.ROW_WORDS)
_CATEGORY = re.compile(words.CATEGORY, re.IGNORECASE)


def understand(text: str, household: Household) -> Wanted | Unclear | None:
    """What the person wants done, or None where no tool is called for."""
    request = prepare(text, household)
    operation = operation_of(request)
    if operation is None:
        return None
    tool = OPERATIONS[operation].tool
    if tool not in household.tools or is_beyond_the_tools(request):
        return Unclear(tool, "tool")
    mention = find_profile(request.sentence.masked, household.profiles)
    if mention is None and len(household.profiles) != 1:
        return Unclear(tool, "profile")
    request.profile = household.profiles[0] if mention is None else mention.profile
    if not household.offers(tool, request.profile):
        return Unclear(tool, "tool")
    if mention is not None:
        request.sentence.cross_out([(mention.start, mention.end)])
    arguments = _ARGUMENTS[operation](request)
    if isinstance(arguments, str):
        return Unclear(tool, arguments)
    return Wanted(tool, {"profile": request.profile, **arguments})


def _cross_out_name(request: Request, name: str | None) -> None:
    place = request.sentence.place_of(name) if name is not None else None
    request.sentence.cross_out([place] if place is not None else [])


def _cross_out_frame(request: Request) -> None:
    """Cross out what frames a request and never belongs to its content."""
    sentence = request.sentence
    for match in (COURTESY.match(sentence.masked), WRITES.search(sentence.masked)):
        sentence.cross_out([match.span()] if match is not None else [])
    for pattern in (_CONTAINER, _REPORTING, _LIMIT, _CATEGORY):
        sentence.cross_out_words(pattern)


def _title(request: Request) -> str | None:
    """The title: quoted, or behind a label such as "called", or what is left of the sentence."""
    household, sentence = request.household, request.sentence
    category = _category(request)
    quoted = first_quote(
        sentence, [*household.tabs, *household.task_lists, *household.profiles, *category.values()]
    )
    if quoted is not None:
        return quoted
    _cross_out_frame(request)
    sentence.cross_out(request.when.spans)
    return sentence.labelled(_TITLE_LABEL) or sentence.best_piece(WRITES)


def _category(request: Request) -> dict[str, str]:
    match = _CATEGORY.search(request.sentence.text)
    return {"category": match["name"]} if match is not None else {}


def _calendar_add(request: Request) -> dict[str, Any] | str:
    event = request.when.event(request.household.zone)
    if event is None:
        return "start" if request.when.start(request.household.zone) is None else "end"
    title = _title(request)
    if title is None:
        return "title"
    return {"summary": title, "start": _written(event[0]), "end": _written(event[1]), **_category(request)}


def _calendar_list(request: Request) -> dict[str, Any]:
    window = request.when.window(request.household.zone)
    times = {} if window is None else {"start": _written(window[0]), "end": _written(window[1])}
    return {**times, **_limit(request)}


def _tasks_add(request: Request) -> dict[str, Any] | str:
    chosen = _task_list(request)
    _cross_out_name(request, chosen.get("list"))
    title = _title(request)
    if title is None:
        return "title"
    days = request.when.days or [moment.date() for moment in request.when.instants]
    due = {"due": days[0].isoformat()} if days else {}
    return {"title": title, **due, **chosen}


def _tasks_list(request: Request) -> dict[str, Any]:
    return {**_task_list(request), **_limit(request)}


def _task_list(request: Request) -> dict[str, str]:
    name = named(request, request.household.task_lists)
    return {"list": name} if name is not None else {}


def _sheets_read(request: Request) -> dict[str, Any] | str:
    tab = _tab(request)
    return "sheet" if tab is None else {"sheet": tab, **_limit(request)}


def _sheets_append(request: Request) -> dict[str, Any] | str:
    tab = _tab(request)
    if tab is None:
        return "sheet"
    _cross_out_name(request, tab)
    _cross_out_frame(request)
    request.sentence.cross_out_words(_ROW_WORDS)
    cells = _listed_cells(request) or _told_cells(request)
    return "values" if cells is None else {"sheet": tab, "values": cells}


def _listed_cells(request: Request) -> list[str] | None:
    columns, width = request.household.columns(request.profile), request.household.width(request.profile)
    return rows.listed_cells(request.sentence.chunks(), columns, width, request.household.today)


def _told_cells(request: Request) -> list[str] | None:
    """Cells by their kind: a day, a number and the rest. Who logs something without a day means today."""
    columns, sentence = request.household.columns(request.profile), request.sentence
    day = request.when.days[0] if request.when.days else request.household.today
    amount = rows.amount_in(sentence.without(request.when.spans))
    sentence.cross_out([amount.span] if amount is not None else [])
    return rows.cells_by_kind(columns, day, amount, _title(request))


def _tab(request: Request) -> str | None:
    tabs = request.household.tabs
    return tabs[0] if len(tabs) == 1 else named(request, tabs)


def _limit(request: Request) -> dict[str, int]:
    match = _LIMIT.search(request.sentence.masked)
    return {"limit": int(match["n"])} if match is not None else {}


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


_ARGUMENTS: Mapping[str, Callable[[Request], dict[str, Any] | str]] = {
    "calendar_add": _calendar_add,
    "calendar_list": _calendar_list,
    "tasks_add": _tasks_add,
    "tasks_list": _tasks_list,
    "sheets_append": _sheets_append,
    "sheets_read": _sheets_read,
}
