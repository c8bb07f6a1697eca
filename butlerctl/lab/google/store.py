"""What the emulated Google holds: users, calendars, task lists, spreadsheets. In memory, under one lock."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from butlerctl.lab.google.grid import Spreadsheet

ROLES = ("none", "freeBusyReader", "reader", "writer", "owner")
_BASE32HEX = "0123456789abcdefghijklmnopqrstuv"


def rank(role: str) -> int:
    return ROLES.index(role)


@dataclass(slots=True)
class Item:
    """An event or a task: the document, and the moment (monotonic seconds) at which it came."""

    body: dict[str, Any]
    since: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class Calendar:
    id: str
    summary: str
    timezone: str
    acl: dict[str, str]
    """Role by user: none, freeBusyReader, reader, writer or owner."""
    events: dict[str, Item] = field(default_factory=dict)

    def role_of(self, user: str) -> str:
        return self.acl.get(user, "none")


@dataclass(slots=True)
class TaskList:
    """`tasks` are in the order of the list, the newest first. Only the owner sees it."""

    id: str
    title: str
    owner: str
    tasks: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Stored:
    """One object that holds a text anywhere. `live` is False for cancelled events and deleted tasks."""

    kind: str
    container: str
    id: str
    live: bool
    body: Any


class Store:
    """Everything there is. Hold `lock` while reading or writing."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now
        self.lock = threading.RLock()
        self.calendars: dict[str, Calendar] = {}
        self.task_lists: dict[str, TaskList] = {}
        self.spreadsheets: dict[str, Spreadsheet] = {}
        self._changes = 3_000_000_000

    def next_etag(self) -> str:
        self._changes += 1
        return f'"{self._changes}000"'

    def new_id(self, length: int = 26) -> str:
        return "".join(secrets.choice(_BASE32HEX) for _ in range(length))

    def objects_with(self, text: str) -> list[Stored]:
        """Every event, task and row that holds the text in any field, deleted ones included."""
        with self.lock:
            return [*self._events_with(text), *self._tasks_with(text), *self._rows_with(text)]

    def _events_with(self, text: str) -> Iterator[Stored]:
        for calendar in self.calendars.values():
            for key, item in calendar.events.items():
                if text in str(item.body):
                    live = item.body["status"] != "cancelled"
                    yield Stored("event", calendar.id, key, live, dict(item.body))

    def _tasks_with(self, text: str) -> Iterator[Stored]:
        for task_list in self.task_lists.values():
            for item in task_list.tasks:
                if text in str(item.body):
                    live = not item.body.get("deleted", False)
                    yield Stored("task", task_list.id, item.body["id"], live, dict(item.body))

    def _rows_with(self, text: str) -> Iterator[Stored]:
        for book in self.spreadsheets.values():
            for tab in book.tabs:
                for number, row in tab.formatted_rows():
                    if any(text in cell for cell in row):
                        yield Stored("row", book.id, f"{tab.title}!{number}", live=True, body=row)
