"""What may be deleted: every guard that an object must pass on a fresh look. Pure functions.

Each returns the reasons against, in words for the operator; no reason means that the object is a test object
of this household's butlerctl and of nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from butlerctl.google.interface import SWEEP_MARGIN
from butlerctl.ledger import Asked

CLOCK_SLACK = timedelta(minutes=2)


def event_refusals(event: Mapping[str, Any], asked: Asked, calendar: str, allowed: str) -> tuple[str, ...]:
    """Reasons against deleting a calendar event."""
    return tuple(_event(event, asked, calendar, allowed))


def _event(event: Mapping[str, Any], asked: Asked, calendar: str, allowed: str) -> Iterator[str]:
    if calendar != allowed:
        yield f"calendar {calendar} is not the one of the inventory"
    if asked.nonce not in event.get("summary", ""):
        yield "the title no longer carries the nonce"
    if not _since(event.get("created"), asked):
        yield "it was created before the butler was asked"
    if event.get("attendees"):
        yield "it has attendees"
    if event.get("recurrence") or event.get("recurringEventId"):
        yield "it recurs"
    if event.get("organizer", {}).get("email", calendar) != calendar:
        yield "it was organised by someone else"
    if not _near(_moment(event.get("start", {})), asked):
        yield "its time is more than 370 days from the asked one"


def task_refusals(
    task: Mapping[str, Any], asked: Asked, task_list: str, allowed: frozenset[str]
) -> tuple[str, ...]:
    """Reasons against deleting a task. Tasks tell no creation time: the preflight stands in for it."""
    return tuple(_task(task, asked, task_list, allowed))


def _task(task: Mapping[str, Any], asked: Asked, task_list: str, allowed: frozenset[str]) -> Iterator[str]:
    if task_list not in allowed:
        yield f"task list {task_list} is not in the inventory"
    if asked.nonce not in task.get("title", ""):
        yield "the title no longer carries the nonce"
    if not asked.preflight:
        yield "no search before the ask showed that the nonce was new"
    if not _since(task.get("updated"), asked):
        yield "it was there before the butler was asked"
    if task.get("assignmentInfo"):
        yield "it was assigned from a document or a chat"
    if "due" in task and not _near(_moment({"dateTime": task["due"]}), asked):
        yield "its date is more than 370 days from the asked one"


def row_refusals(asked: Asked, tab: str, verify_tab: str) -> tuple[str, ...]:
    """Reasons against clearing a row; its cells are addressed by the nonce itself."""
    reasons = []
    if tab != verify_tab:
        reasons.append(f"it is in the tab {tab}, and butlerctl clears cells only in {verify_tab}")
    if not asked.preflight:
        reasons.append("no search before the ask showed that the nonce was new")
    return tuple(reasons)


def _since(text: str | None, asked: Asked) -> bool:
    moment = _instant(text)
    return moment is not None and moment >= asked.t0 - CLOCK_SLACK


def _near(moment: datetime | None, asked: Asked) -> bool:
    wide = asked.window.widened(SWEEP_MARGIN)
    return moment is not None and wide.start <= moment <= wide.end


def _moment(time: Mapping[str, Any]) -> datetime | None:
    if "date" in time:
        return datetime.combine(date.fromisoformat(time["date"]), datetime.min.time(), UTC)
    return _instant(time.get("dateTime"))


def _instant(text: str | None) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
