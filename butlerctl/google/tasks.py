"""Tasks as a system of record: the task lists that the inventory names for one person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.errors import UsageProblem
from butlerctl.google.client import Account
from butlerctl.google.guards import task_refusals
from butlerctl.google.interface import PATIENCE, Sighting
from butlerctl.google.listed import ListedRecord
from butlerctl.ledger import Asked, Window


class TasksRecord(ListedRecord):
    """`lists` maps the names of the inventory to ids; the first is the default list."""

    domain = "tasks"
    api = "tasks.tasks"
    place_key = "tasklist"
    id_key = "taskId"
    id_parameter = "task"
    texts = ("title", "notes")
    link_key = "webViewLink"
    page_size = 100

    def __init__(self, account: Account, lists: Mapping[str, str], *, patience: float = PATIENCE) -> None:
        places = list(lists.values())
        super().__init__(account, places[0], places, patience=patience)
        self._lists = dict(lists)

    def _resource(self) -> Any:
        return self._account.tasks()

    def _query(self, window: Window) -> dict[str, Any]:
        """Everything: a filter by date would hide a task that is a day off."""
        del window
        return {"showCompleted": True, "showHidden": True}

    def _is_gone(self, body: Mapping[str, Any]) -> bool:
        return bool(body.get("deleted"))

    def _refusals(self, body: Mapping[str, Any], asked: Asked, container: str) -> tuple[str, ...]:
        return task_refusals(body, asked, container, frozenset(self._places))

    def read(self, arguments: Mapping[str, Any], *, when: str) -> Sighting:
        """The open tasks of `list` (the default one without it), at most `limit` of them.

        Raises:
            UsageProblem: the inventory names no such list.
        """
        name = arguments.get("list", next(iter(self._lists)))
        if name not in self._lists:
            raise UsageProblem(f"{self.profile} has no task list {name}; known are {', '.join(self._lists)}")
        query = {"showCompleted": False, "showHidden": False}
        return self._read_list(self._lists[name], query, arguments.get("limit"), when)
