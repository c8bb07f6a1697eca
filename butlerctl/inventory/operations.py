"""The six operations of a butler, and the route that each makes with a profile."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Operation(NamedTuple):
    """One thing a butler can do. `tool` is its name for the model, `domain/verb` its place in the URL."""

    name: str
    tool: str
    domain: str
    verb: str
    writes: bool


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            Operation("calendar_list", "list_calendar_events", "calendar", "list", writes=False),
            Operation("calendar_add", "add_calendar_event", "calendar", "add", writes=True),
            Operation("tasks_list", "list_tasks", "tasks", "list", writes=False),
            Operation("tasks_add", "add_task", "tasks", "add", writes=True),
            Operation("sheets_read", "read_sheet", "sheets", "read", writes=False),
            Operation("sheets_append", "append_sheet_row", "sheets", "append", writes=True),
        )
    }
)

OPERATION_OF_TOOL: Mapping[str, Operation] = MappingProxyType(
    {operation.tool: operation for operation in OPERATIONS.values()}
)


class Route(NamedTuple):
    """Operation × profile: one tool call, one webhook path, one n8n workflow."""

    operation: str
    profile: str

    def __str__(self) -> str:
        return f"{self.operation}/{self.profile}"

    def webhook_path(self, prefix: str) -> str:
        """The path below `/webhook/`, as the Webhook node holds it: `L4CK3Y/calendar/add/wife`."""
        operation = OPERATIONS[self.operation]
        return "/".join(part for part in (prefix, operation.domain, operation.verb, self.profile) if part)

    @property
    def workflow_name(self) -> str:
        """How a report calls its workflow."""
        return f"{self.operation}_{self.profile}"

    @property
    def workflow_file(self) -> str:
        return f"{self.workflow_name}.json"


def route_of(text: str) -> Route:
    """The route that `operation/profile` names. Raises KeyError when there is no such operation, or no profile."""
    operation, _, profile = text.partition("/")
    if operation not in OPERATIONS or not profile:
        raise KeyError(text)
    return Route(operation, profile)
